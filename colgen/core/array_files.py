"""Arrays in files, numpy's ``.npz`` and ``.npy``; every fault of a file raises one `InputError`.

The size that a file declares is compared with its length before memory is allocated. Objects and records are refused.
Callers check the meaning of arrays with :mod:`colgen.solvers.arrays`:

    with reading(path, "a chain with scores and transitions") as arrays:
        scores = as_floats(arrays["scores"], "scores", shape=("tokens", "labels"))
"""

from __future__ import annotations

import contextlib
import lzma
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.core.files import check_readable
from colgen.solvers.arrays import ArrayError

ARRAYS_LIMIT = 2**32
"""Maximum number of bytes of all arrays of a file; half of the machine's memory if that is less."""

MEMBERS_LIMIT = 1000
"""Maximum number of arrays of a file."""

_CHUNK = 2**20

_MISTAKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)
"""What using arrays of an unexpected form raises."""

_BROKEN = (
    *_MISTAKEN,
    EOFError,
    NotImplementedError,  # a compression that zipfile does not support
    RuntimeError,  # an encrypted member
    SyntaxError,
    tokenize.TokenError,  # of a header, from Python 3.12 on
    OSError,
    struct.error,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""What numpy and zipfile raise for a broken file."""


@contextlib.contextmanager
def reading(path: Path | str, expected: str, required: Iterable[str] = ()) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the arrays of a file; errors of its data, also in the block, become InputError with the file's name.

    ``expected`` describes the file in messages; ``required`` lists arrays that must exist.
    """
    try:
        arrays = read_arrays(path, required, expected)
        yield arrays
    except (ArrayError, InputError) as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from None
    except MemoryError:
        raise InputError(f"{path}: expected {expected} that fits into memory") from None
    except _MISTAKEN as error:
        raise InputError(f"{path}: expected {expected} ({_words(error)})") from None


def read_arrays(
    path: Path | str, required: Iterable[str] = (), expected: str = "arrays in numpy's .npz"
) -> dict[str, NDArray[Any]]:
    """Return all arrays of an ``.npz`` file: numbers, truth values and strings.

    ``expected`` describes the file in messages. InputError is raised if the file has another format, is too large, or
    lacks an array of ``required``.
    """
    check_readable(path)
    arrays: dict[str, NDArray[Any]] = {}
    with _input_errors(path, expected), zipfile.ZipFile(path) as file:
        members = file.infolist()
        if len(members) > MEMBERS_LIMIT:
            raise _RefusedError(f"expected at most {MEMBERS_LIMIT:,} arrays, got {len(members):,}")
        _check_size(sum(member.file_size for member in members))
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise _RefusedError(f"expected each array once, got {name!r} twice")
            with file.open(member) as opened:
                arrays[name] = _read(opened, member.file_size, f"array {name!r}")
    for name in required:
        if name not in arrays:
            raise InputError(f"{path}: expected an array {name!r}, got {', '.join(arrays) or 'no arrays'}")
    return arrays


def read_array(path: Path | str, expected: str = "an array in numpy's .npy") -> NDArray[Any]:
    """Return the array of an ``.npy`` file; errors as for :func:`read_arrays`."""
    check_readable(path)
    with _input_errors(path, expected), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _check_size(size)
        return _read(file, size, "array")


def is_archive(path: Path | str) -> bool:
    """Whether the content of a file looks like an ``.npz``; raise InputError if it cannot be read."""
    check_readable(path)
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"PK"
    except OSError as error:
        raise InputError(f"{path} cannot be read: {_words(error)}") from None


def arrays_in(path: Path | str) -> frozenset[str]:
    """Return the names of the arrays in an ``.npz`` file without reading them; empty for any other file."""
    try:
        check_readable(path)
        with zipfile.ZipFile(path) as file:
            return frozenset(name.removesuffix(".npy") for name in file.namelist())
    except (InputError, MemoryError, *_BROKEN):
        return frozenset()


# --- helpers ---------------------------------------------------------------------------------------------------------


class _RefusedError(Exception):
    """The reason why a file is refused."""


@contextlib.contextmanager
def _input_errors(path: Path | str, expected: str) -> Iterator[None]:
    """Convert errors of reading a file to InputError with its name."""
    try:
        yield
    except _RefusedError as error:
        raise InputError(f"{path}: {error}") from None
    except MemoryError:
        raise InputError(f"{path}: expected arrays that fit into memory") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {_words(error)}") from None
    except _BROKEN as error:
        raise InputError(f"{path}: expected {expected} ({_words(error)})") from None


def _read(file: IO[bytes], size: int, what: str) -> NDArray[Any]:
    """Read an array from a stream of ``size`` bytes, allocating no more memory than that."""
    counted = _Counted(file)
    major, _ = npy.read_magic(counted)
    read_header = {1: npy.read_array_header_1_0, 2: npy.read_array_header_2_0}.get(major)
    if read_header is None:
        raise _RefusedError(f"{what}: expected numpy's format of version 1 or 2, got version {major}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, about headers of Python 2 and names of types
        shape, fortran, dtype = read_header(counted)
    if dtype.hasobject or dtype.kind not in "biufU":
        kinds = {"c": "complex numbers", "O": "objects", "S": "bytes", "V": "records"}
        raise _RefusedError(f"{what}: expected numbers or strings, got {kinds.get(dtype.kind, str(dtype))}")
    if any(length < 0 for length in shape):
        raise _RefusedError(f"{what}: expected a shape of lengths, got {shape}")
    count = 1
    for length in shape:
        count *= length
    if counted.read_so_far + count * dtype.itemsize != size:
        raise _RefusedError(f"{what}: expected {count * dtype.itemsize:,} bytes, got {size - counted.read_so_far:,}")
    array = np.zeros(count, dtype=dtype)
    if array.nbytes:
        target = array.view(np.uint8).data
        done = 0
        while done < len(target):
            chunk = file.read(min(_CHUNK, len(target) - done))
            if not chunk:
                raise _RefusedError(f"{what}: expected {len(target):,} bytes, got {done:,}")
            target[done : done + len(chunk)] = chunk
            done += len(chunk)
    return array.reshape(shape, order="F" if fortran else "C")


class _Counted:
    """A stream that counts the bytes read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.read_so_far = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.read_so_far += len(data)
        return data


def _check_size(size: int) -> None:
    limit = min(ARRAYS_LIMIT, _memory() // 2)
    if size > limit:
        raise _RefusedError(f"expected arrays of at most {limit:,} bytes in total, got {size:,}")


def _memory() -> int:
    """Return the bytes of the machine's memory, or a value without effect if the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2 * ARRAYS_LIMIT


def _words(error: BaseException) -> str:
    """Return the first line of an error's message."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing" if error.args else "something is missing"
    text = str(error).partition("\n")[0] or type(error).__name__
    return text if len(text) <= 120 else f"{text[:117]}..."
