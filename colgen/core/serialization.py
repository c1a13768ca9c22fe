"""Plain data as JSON, digests of data, and files of arrays with a checksum over every byte."""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import InputError
from colgen.core.files import read_bytes, writing
from colgen.core.terms import Box, Count, Linear, Term

_TERMS: dict[str, type[Term]] = {kind.__name__: kind for kind in (Linear, Count, Box)}

_LISTED = 64
"""Arrays with at most this many entries are written as readable lists."""


def as_plain(value: Any, what: str) -> Any:
    """Convert a value to JSON data; ``what`` is its name in an error message.

    The value may contain numbers, strings, bytes, None, tuples, lists, sets, dictionaries, arrays, and terms of cuts.
    InputError is raised for anything else.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return _of_array(value)
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [as_plain(part, what) for part in value]
    if isinstance(value, dict):
        return {"dict": [[as_plain(key, what), as_plain(part, what)] for key, part in value.items()]}
    for kind, name in ((tuple, "tuple"), (frozenset, "frozenset"), (set, "set")):
        if type(value) is kind:
            parts = [as_plain(part, what) for part in value]
            # The order of a set depends on its history: sort, so that equal sets are written equally.
            return {name: parts if kind is tuple else sorted(parts, key=repr)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        raise InputError(f"{what}, {value!r}, is a {type(value).__name__}: expected a plain tuple")
    if type(value) in _TERMS.values():
        fields = [getattr(value, entry.name) for entry in dataclasses.fields(value)]
        return {"term": [type(value).__name__, *(as_plain(part, what) for part in fields)]}
    raise InputError(
        f"{what}, {value!r}, is a {type(value).__name__}: expected numbers, strings, None, tuples, lists, sets, "
        "dictionaries or arrays of these"
    )


def of_plain(value: Any) -> Any:
    """Return the value that :func:`as_plain` converted; for other data raise one of IMPOSSIBLE or ColgenError."""
    if isinstance(value, list):
        return [of_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        return _to_array(value)
    ((name, parts),) = value.items()
    if name == "bytes":
        return base64.b64decode(parts, validate=True)
    if name == "term":
        kind, *fields = parts
        return _TERMS[kind](*map(of_plain, fields))
    kind = {"tuple": tuple, "frozenset": frozenset, "set": set, "dict": dict}[name]
    return kind(of_plain(part) for part in parts)


def _of_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    kind = array.dtype.str
    if array.size <= _LISTED:
        return {"array": array.tolist(), "dtype": kind}
    packed = np.packbits(array.reshape(-1)) if array.dtype.kind == "b" else np.ascontiguousarray(array)
    return {"base64": base64.b64encode(packed.tobytes()).decode(), "shape": list(array.shape), "dtype": kind}


def _to_array(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    kind = np.dtype(value["dtype"])
    if kind.kind not in "biuf":
        raise ValueError(f"an array of {kind}")
    if "array" in value:
        return np.array(value["array"], dtype=kind)
    raw = np.frombuffer(base64.b64decode(value["base64"], validate=True), dtype=np.uint8)
    shape = tuple(int(side) for side in value["shape"])
    if kind.kind == "b":
        count = int(np.prod(shape))
        return np.unpackbits(raw, count=count).astype(np.bool_).reshape(shape)
    decoded: np.ndarray[Any, Any] = raw.view(kind).reshape(shape).copy()
    return decoded


def digest_of(value: Any, name: str = "the instance") -> str:
    """Return the SHA-256 of data in hexadecimal, the same for equal data in every process.

    The value may be a number, a string, None, an array, or a tuple, list, set, dictionary or dataclass of these;
    anything else raises InputError with ``name``. A dataclass's field ``name`` is ignored: names of instances change
    nothing.
    """
    digest = hashlib.sha256()
    _feed(digest.update, value, name)
    return digest.hexdigest()


def digest_of_object(thing: Any) -> str:
    """Return the digest of an object: its class, and its ``instance``, else its fields, else all attributes.

    Values of a ``cached_property`` are ignored. An attribute that is not plain data raises InputError.
    """
    kind = type(thing)
    attributes = vars(thing)
    cached = {
        name
        for base in kind.__mro__
        for name, member in vars(base).items()
        if isinstance(member, functools.cached_property)
    }
    if "instance" in attributes:
        data = {"instance": attributes["instance"]}
    elif dataclasses.is_dataclass(thing):
        data = {entry.name: attributes[entry.name] for entry in dataclasses.fields(thing) if entry.init}
    else:
        data = {name: value for name, value in attributes.items() if name not in cached}
    return digest_of([kind.__module__, kind.__qualname__, data], kind.__name__)


def _feed(update: Any, value: Any, name: str) -> None:
    """Update a digest; each value begins with its kind and size, so that different values have different encodings."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, Fraction, np.generic)):
        plain = value.item() if isinstance(value, np.generic) else value
        text = repr(plain).encode()
        update(b"v%d:" % len(text) + text)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufSU":
        head = f"{value.dtype.str}{value.shape}".encode()
        update(b"a%d:" % len(head) + head)
        update(np.ascontiguousarray(value).tobytes())
    elif sparse.issparse(value):
        matrix = sparse.csc_array(value)
        matrix.sort_indices()
        _feed(update, [list(matrix.shape), matrix.indptr, matrix.indices, matrix.data], name)
    elif isinstance(value, (list, tuple)):
        update(b"l%d:" % len(value))
        for part in value:
            _feed(update, part, name)
    elif isinstance(value, (set, frozenset)):
        _feed(update, sorted(digest_of(part, name) for part in value), name)
    elif isinstance(value, Mapping):
        update(b"d%d:" % len(value))
        for key, digest in sorted((digest_of(key, name), digest_of(part, name)) for key, part in value.items()):
            update((key + digest).encode())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _feed(update, [type(value).__qualname__], name)
        for entry in dataclasses.fields(value):
            if entry.init and entry.name != "name":
                _feed(update, getattr(value, entry.name), f"{name}.{entry.name}")
    else:
        raise InputError(
            f"{name} contains a {type(value).__name__}: expected numbers, strings, arrays, tuples of these, ..."
        )


_MAGIC = b"colgen sealed 1\n"
_DIGEST = hashlib.sha256().digest_size
_LENGTH = 8
"""Bytes of the number that states the length of the text."""

LIMIT = 2**36
"""Maximum number of bytes of a file that is read: 64 GiB."""


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
"""What reading raises if a file's checksum is right but its contents are of another form."""


class Sealed(NamedTuple):
    """The content of a file: plain data, and arrays by name."""

    said: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_sealed(
    path: Path | str, kind: str, said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, keep: bool = False
) -> int:
    """Write a file atomically, also in case of a power cut, and return its number of bytes.

    ``kind`` is the kind of file with the version of the format, ``said`` data for JSON. With ``keep`` the old content
    is kept under the name with ``~`` appended.
    """
    return write_parts(path, parts_of(kind, said, arrays), keep=keep)


def parts_of(kind: str, said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> list[bytes | memoryview[int]]:
    """Return the content that :func:`write_sealed` writes, without the checksum; arrays are not copied."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()]
    text = json.dumps({"kind": kind, "arrays": listed, "said": said}, separators=(",", ":")).encode()
    return [_MAGIC, len(text).to_bytes(_LENGTH, "little"), text, *map(_bytes, plain.values())]


def write_parts(path: Path | str, parts: Sequence[bytes | memoryview[int]], *, keep: bool = False) -> int:
    """Write the parts of a file and its checksum like :func:`write_sealed`."""
    digest = hashlib.sha256()
    with writing(path, "wb", durable=True, keep=keep) as file:
        for part in parts:
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
    return sum(map(len, parts)) + _DIGEST


def read_sealed(path: Path | str, kind: str, limit: int = LIMIT) -> Sealed:
    """Read a file of a kind; raise InputError if unreadable, of another kind, or changed by a single bit."""
    content = memoryview(read_bytes(path, limit))
    begin = len(_MAGIC) + _LENGTH
    if bytes(content[: len(_MAGIC)]) != _MAGIC and not _nearly(bytes(content[: len(_MAGIC)])):
        raise InputError(f"{path}: expected a file of {kind!r} that colgen wrote")
    body = content[: max(len(content) - _DIGEST, 0)]
    if len(body) < begin or hashlib.sha256(body).digest() != bytes(content[len(body) :]):
        raise InputError(f"{path} is damaged or incomplete: its checksum does not match its content")
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


def backup_of(path: Path | str) -> Path:
    """Return where :func:`write_sealed` keeps the old content of a file."""
    place = Path(os.path.realpath(path))
    return place.with_name(place.name + "~")


def _bytes(array: NDArray[Any]) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8).data) if array.size else memoryview(b"")


def _nearly(start: bytes) -> bool:
    """Whether the start of a file is a damaged start of one of ours: more than half of its bytes agree."""
    same = sum(a == b for a, b in zip(start, _MAGIC, strict=False))
    return 2 * same > len(_MAGIC)
