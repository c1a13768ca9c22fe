"""Files of arrays, broken in every way that we know."""

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np


def npy(array: Any) -> bytes:
    """An array as a file."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=True)
    return file.getvalue()


def npz(arrays: Mapping[str, Any]) -> bytes:
    """Arrays as a file; bytes are taken as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        for name, array in arrays.items():
            members.writestr(f"{name}.npy", array if isinstance(array, bytes) else npy(array))
    return file.getvalue()


def claiming(shape: str, descr: str = "'<f8'", data: bytes = b"") -> bytes:
    """A file whose header says what it likes."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def broken_arrays(array: Any) -> dict[str, bytes]:
    """Files in place of one array's."""
    whole = npy(array)
    return {
        "no bytes": b"",
        "no header": whole[10:],
        "header alone": whole[:64],
        "half": whole[: len(whole) - np.asarray(array).nbytes // 2 - 1],
        "too long": whole + b"\0" * 64,
        "version 9": whole[:6] + b"\x09" + whole[7:],
        "claims 8 TB": claiming("(1000000, 1000000)"),
        "claims more than there are integers": claiming("(4294967296, 4294967296, 4294967296)"),
        "negative length": claiming("(-1, -8)", data=b"\0" * 64),
        "objects": npy(np.array([{1: 2}, None], dtype=object)),
        "records": npy(np.zeros(3, dtype=[("a", float), ("b", int)])),
        "complex": npy(np.asarray(array) * (1 + 0j)) if np.asarray(array).dtype.kind in "fiu" else npy([1j]),
        "dates": npy(np.zeros(3, dtype="M8[s]")),
        "bytes": npy(np.array([b"a", b"bc"])),
        "a deep type": claiming("(1,)", "[" * 500 + "]" * 500),
        "a type that is none": claiming("(1,)", "'<q99'"),
        "text": b"this is no array\n" * 20,
    }


def broken_zips(arrays: Mapping[str, Any]) -> dict[str, bytes]:
    """Files in place of a file of arrays."""
    whole = npz(arrays)
    first = next(iter(arrays))
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 0xFF
    directory = whole.rindex(b"PK\x01\x02")
    twice = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(twice, "w") as members:
        for _ in range(2):
            members.writestr(zipfile.ZipInfo(f"{first}.npy"), npy(arrays[first]))
    return {
        "empty": b"",
        "truncated": whole[: len(whole) // 2],
        "end cut off": whole[:-10],
        "headless": whole[30:],
        "one byte changed": bytes(flipped),
        "binary junk": np.random.default_rng(0).bytes(500),
        "zip without members": npz({}),
        "the same member twice": twice.getvalue(),
        "a bomb": bomb(first),
        "a member of unknown compression": whole[: directory + 10] + b"\x63\x00" + whole[directory + 12 :],
        "a text": b"3\n10\n4\n",
        "zlib alone": zlib.compress(whole),
    }


def bomb(name: str) -> bytes:
    """A small file that claims 16 terabytes."""
    whole = bytearray(npz({name: claiming("(2000000000000,)")}))
    # the size before compression, in the directory at the end of the file, and in its 64-bit extension where it is full
    where = whole.rindex(b"PK\x01\x02")
    whole[where + 24 : where + 28] = struct.pack("<I", 0xFFFFFFFE)
    return bytes(whole)
