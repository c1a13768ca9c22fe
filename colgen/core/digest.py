"""What tells one instance from another: a digest of all its data."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from colgen.core.errors import InputError


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
    try:
        return digest_of([kind.__module__, kind.__qualname__, data], kind.__name__)
    except InputError as error:
        raise InputError(
            f"{error}; define {kind.__name__}.digest(), a text that tells one instance from another"
        ) from None


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
