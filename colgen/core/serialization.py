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
"""Arrays of so many entries, or fewer, are written as lists that people can read."""


def as_plain(value: Any, what: str) -> Any:
    """A value as JSON has it.

    Parameters
    ----------
    what
        The value's name in an error message.

    Raises
    ------
    InputError
        If it is made of anything but numbers, strings, bytes, None, tuples, lists, sets, dictionaries, arrays, and the
        terms of cuts.
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
            # The order of a set depends on how it was filled: equal sets are written alike.
            return {name: parts if kind is tuple else sorted(parts, key=repr)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        raise InputError(f"{what}, {value!r}, is a {type(value).__name__}: expected plain tuples")
    if type(value) in _TERMS.values():
        fields = [getattr(value, entry.name) for entry in dataclasses.fields(value)]
        return {"term": [type(value).__name__, *(as_plain(part, what) for part in fields)]}
    raise InputError(
        f"{what}, {value!r}, is a {type(value).__name__}: expected numbers, strings, None, tuples, lists, sets, "
        "dictionaries or arrays of these"
    )


def of_plain(value: Any) -> Any:
    """The value that :func:`as_plain` has written.

    Raises
    ------
    ValueError, KeyError, TypeError, ColgenError
        If it has not.
    """
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
    made = {"tuple": tuple, "frozenset": frozenset, "set": set, "dict": dict}[name]
    return made(of_plain(part) for part in parts)


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
    whole: np.ndarray[Any, Any] = raw.view(kind).reshape(shape).copy()
    return whole


def digest_of(value: Any, name: str = "the instance") -> str:
    """SHA-256 of data, as hexadecimal digits: the same for equal data, in this process or another.

    Parameters
    ----------
    value
        Numbers, strings, None, arrays, and tuples, lists, sets, dictionaries and dataclasses of these.  A dataclass's
        field called ``name`` is passed over: what an instance is called changes nothing.
    name
        What an error message calls it.

    Raises
    ------
    InputError
        If something in it is none of these.
    """
    digest = hashlib.sha256()
    _feed(digest.update, value, name)
    return digest.hexdigest()


def digest_of_object(thing: Any) -> str:
    """Of an object: its class and its ``instance``, or else its fields, or all its attributes.

    What a ``cached_property`` remembers counts for nothing.

    Raises
    ------
    InputError
        If an attribute is no data.
    """
    kind = type(thing)
    held = vars(thing)
    remembered = {
        name
        for base in kind.__mro__
        for name, found in vars(base).items()
        if isinstance(found, functools.cached_property)
    }
    if "instance" in held:
        data = {"instance": held["instance"]}
    elif dataclasses.is_dataclass(thing):
        data = {entry.name: held[entry.name] for entry in dataclasses.fields(thing) if entry.init}
    else:
        data = {name: value for name, value in held.items() if name not in remembered}
    return digest_of([kind.__module__, kind.__qualname__, data], kind.__name__)


def _feed(update: Any, value: Any, name: str) -> None:
    """Each value begins with its kind and its size, so that no two are written alike."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, Fraction, np.generic)):
        plain = value.item() if isinstance(value, np.generic) else value
        said = repr(plain).encode()
        update(b"v%d:" % len(said) + said)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufSU":
        head = f"{value.dtype.str}{value.shape}".encode()
        update(b"a%d:" % len(head) + head)
        update(np.ascontiguousarray(value).tobytes())
    elif sparse.issparse(value):
        whole = sparse.csc_array(value)
        whole.sort_indices()
        _feed(update, [list(whole.shape), whole.indptr, whole.indices, whole.data], name)
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
            f"{name} holds a {type(value).__name__}: expected numbers, strings, arrays, tuples of these, ..."
        )


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
