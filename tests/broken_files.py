"""Files of arrays that are broken in many ways."""

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np


def npy(array: Any) -> bytes:
    """Return an array as the bytes of a file."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=True)
    return file.getvalue()


def npz(arrays: Mapping[str, Any]) -> bytes:
    """Return arrays as the bytes of a file; bytes stay unchanged."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        for name, array in arrays.items():
            members.writestr(f"{name}.npy", array if isinstance(array, bytes) else npy(array))
    return file.getvalue()


def npy_with_header(shape: str, descr: str = "'<f8'", data: bytes = b"") -> bytes:
    """Return an array file with any header."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def broken_arrays(array: Any) -> dict[str, bytes]:
    """Return broken files of one array."""
    content = npy(array)
    return {
        "no bytes": b"",
        "no header": content[10:],
        "header alone": content[:64],
        "half": content[: len(content) - np.asarray(array).nbytes // 2 - 1],
        "too long": content + b"\0" * 64,
        "version 9": content[:6] + b"\x09" + content[7:],
        "claims 8 TB": npy_with_header("(1000000, 1000000)"),
        "claims more than there are integers": npy_with_header("(4294967296, 4294967296, 4294967296)"),
        "negative length": npy_with_header("(-1, -8)", data=b"\0" * 64),
        "objects": npy(np.array([{1: 2}, None], dtype=object)),
        "records": npy(np.zeros(3, dtype=[("a", float), ("b", int)])),
        "complex": npy(np.asarray(array) * (1 + 0j)) if np.asarray(array).dtype.kind in "fiu" else npy([1j]),
        "dates": npy(np.zeros(3, dtype="M8[s]")),
        "bytes": npy(np.array([b"a", b"bc"])),
        "a deep type": npy_with_header("(1,)", "[" * 500 + "]" * 500),
        "an unknown type": npy_with_header("(1,)", "'<q99'"),
        "text": b"this is no array\n" * 20,
    }


def broken_zips(arrays: Mapping[str, Any]) -> dict[str, bytes]:
    """Return broken files of several arrays."""
    content = npz(arrays)
    first = next(iter(arrays))
    flipped = bytearray(content)
    flipped[len(content) // 3] ^= 0xFF
    directory = content.rindex(b"PK\x01\x02")
    twice = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(twice, "w") as members:
        for _ in range(2):
            members.writestr(zipfile.ZipInfo(f"{first}.npy"), npy(arrays[first]))
    return {
        "empty": b"",
        "truncated": content[: len(content) // 2],
        "end cut off": content[:-10],
        "headless": content[30:],
        "one byte changed": bytes(flipped),
        "binary junk": np.random.default_rng(0).bytes(500),
        "zip without members": npz({}),
        "the same member twice": twice.getvalue(),
        "a bomb": bomb(first),
        "a member of unknown compression": content[: directory + 10] + b"\x63\x00" + content[directory + 12 :],
        "a text": b"3\n10\n4\n",
        "zlib alone": zlib.compress(content),
    }


def bomb(name: str) -> bytes:
    """Return a small file whose header claims 16 terabytes."""
    content = bytearray(npz({name: npy_with_header("(2000000000000,)")}))
    # uncompressed size in the directory at the end of the file; this value refers to a 64-bit extension
    place = content.rindex(b"PK\x01\x02")
    content[place + 24 : place + 28] = struct.pack("<I", 0xFFFFFFFE)
    return bytes(content)
