"""Files of arrays and plain data with a checksum over every byte: what is damaged is found, and nothing in it runs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.core.files import read_bytes, writing

_MAGIC = b"colgen sealed 1\n"
_DIGEST = hashlib.sha256().digest_size
_LENGTH = 8
"""Bytes of the number that says how long the text is."""

LIMIT = 2**36
"""Bytes of a file that is read: 64 gigabytes."""


IMPOSSIBLE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
    AssertionError,
)
"""What reading raises where a file's checksum is right and its contents are none of ours."""


class Sealed(NamedTuple):
    """What a file holds: plain data, and arrays by name."""

    said: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_sealed(
    path: Path | str, kind: str, said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, keep: bool = False
) -> int:
    """Write a file which is there whole, or not at all, after a power cut too; returns its number of bytes.

    Parameters
    ----------
    kind
        What it is a file of, with the number of the format.
    said
        For JSON.
    keep
        Keep what the file held before under its name with a ``~``.
    """
    return write_parts(path, parts_of(kind, said, arrays), keep=keep)


def parts_of(kind: str, said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> list[bytes | memoryview[int]]:
    """What such a file holds, but for its checksum; arrays are not copied."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()]
    text = json.dumps({"kind": kind, "arrays": listed, "said": said}, separators=(",", ":")).encode()
    return [_MAGIC, len(text).to_bytes(_LENGTH, "little"), text, *map(_bytes, plain.values())]


def write_parts(path: Path | str, parts: Sequence[bytes | memoryview[int]], *, keep: bool = False) -> int:
    """Write the parts of a file and its checksum, as :func:`write_sealed` does."""
    digest = hashlib.sha256()
    with writing(path, "wb", durable=True, keep=keep) as file:
        for part in parts:
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
    return sum(map(len, parts)) + _DIGEST


def read_sealed(path: Path | str, kind: str, limit: int = LIMIT) -> Sealed:
    """Read a file of a kind.

    Raises
    ------
    InputError
        If it cannot be read, if it is no such file, or if a single bit of it is not what was written.
    """
    content = memoryview(read_bytes(path, limit))
    begin = len(_MAGIC) + _LENGTH
    if bytes(content[: len(_MAGIC)]) != _MAGIC and not _nearly(bytes(content[: len(_MAGIC)])):
        raise InputError(f"{path}: expected a file that colgen has written as {kind!r}")
    body = content[: max(len(content) - _DIGEST, 0)]
    if len(body) < begin or hashlib.sha256(body).digest() != bytes(content[len(body) :]):
        raise InputError(f"{path} is damaged or half-written: its checksum is not that of its content")
    try:
        end = begin + int.from_bytes(body[len(_MAGIC) : begin], "little")
        read = json.loads(bytes(body[begin:end]))
        if read["kind"] != kind:
            raise InputError(f"{path}: expected a file of {kind!r}, this one holds {read['kind']!r}")
        arrays = {}
        for name, dtype, shape in read["arrays"]:
            of = np.dtype(dtype)
            if of.kind not in "biuf":
                raise ValueError(f"an array of {of}")
            size = of.itemsize * int(np.prod(shape, dtype=np.int64))
            arrays[name] = np.frombuffer(body[end : end + size], dtype=of).reshape(shape)
            end += size
        if end != len(body) or not isinstance(read["said"], dict):
            raise ValueError("another length")
        return Sealed(read["said"], arrays)
    except InputError:
        raise
    except IMPOSSIBLE as error:
        raise InputError(f"{path}: expected a file of {kind!r} ({error})") from None


def before(path: Path | str) -> Path:
    """Where :func:`write_sealed` keeps what a file held before."""
    place = Path(os.path.realpath(path))
    return place.with_name(place.name + "~")


def _bytes(array: NDArray[Any]) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8).data) if array.size else memoryview(b"")


def _nearly(start: bytes) -> bool:
    """Whether a beginning is a damaged one of ours: most of its bytes are right."""
    same = sum(a == b for a, b in zip(start, _MAGIC, strict=False))
    return 2 * same > len(_MAGIC)


def remove_sealed(path: Path | str) -> None:
    """Remove a file, and what it held before."""
    for place in (Path(path), before(path)):
        with contextlib.suppress(FileNotFoundError):
            place.unlink()
