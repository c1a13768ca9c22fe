"""Files as the outside world has them: what is read is looked at first, what is written replaces the old at the end."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from colgen.core.errors import InputError
from colgen.core.text import describe

TEXT_LIMIT = 2**28
"""Bytes of a text that is read as a whole: a quarter of a gigabyte."""


# --- reading ---------------------------------------------------------------------------------------------------------


def check_readable(path: Path | str, limit: int | None = None) -> None:
    """That a path is a file, or a stream that the shell has opened (``/dev/stdin``, ``/dev/fd/63``).

    A pipe with a name is refused, since opening one waits for a writer that may never come.

    Parameters
    ----------
    limit
        How many bytes it may have.

    Raises
    ------
    InputError
        With the file's name.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:  # a ValueError: the name holds a NUL
        raise InputError(f"{path} cannot be read: {_reason(error)}") from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path}: expected a file, this is a directory")
    if not stat.S_ISREG(found.st_mode) and not str(path).startswith("/dev/"):
        raise InputError(f"{path}: expected a file, this is a {_kind(found.st_mode)}")
    if limit is not None and stat.S_ISREG(found.st_mode) and found.st_size > limit:
        raise InputError(f"{path}: expected a file of at most {limit:,} bytes, this one has {found.st_size:,}")


def read_bytes(path: Path | str, limit: int = TEXT_LIMIT) -> bytes:
    """All of a file.

    Raises
    ------
    InputError
        With the file's name, if it cannot be read or is larger than ``limit`` bytes.
    """
    check_readable(path, limit)
    try:
        with open(path, "rb") as file:
            content = file.read(min(limit, os.fstat(file.fileno()).st_size or limit) + 1)
    except (OSError, MemoryError) as error:
        raise InputError(f"{path} cannot be read: {_reason(error)}") from None
    if len(content) > limit:  # of a stream nobody knows before
        raise InputError(f"{path}: expected at most {limit:,} bytes")
    return content


def read_text(path: Path | str, limit: int = TEXT_LIMIT) -> str:
    r"""All of a text in UTF-8; every kind of line end becomes ``\n``, and the Ctrl-Z with which DOS ends a text is cut.

    Raises
    ------
    InputError
        As of :func:`read_bytes`, or if it is no such text.
    """
    try:
        text = read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8 (byte {error.start})") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\x1a")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{path}, line {line}: expected text, found a NUL")
    return text


def read_json(path: Path | str, limit: int = TEXT_LIMIT) -> Any:
    """What a file says in JSON: no name twice in an object, no number that is none, nesting as deep as Python's stack.

    Raises
    ------
    InputError
        As of :func:`read_text`, or if it is no such JSON.
    """
    return parse_json(read_text(path, limit), str(path))


def parse_json(text: str, name: str, line: int | None = None) -> Any:
    """As :func:`read_json`, of a text; errors call it ``name``, where it is a file's line with its number."""
    where = name if line is None else f"{name}, line {line}"
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        at = (line or 1) + error.lineno - 1
        raise InputError(f"{name}, line {at}: expected JSON, {error.msg}") from None
    except _UnwantedError as error:
        raise InputError(f"{where}: expected {error}") from None
    except ValueError:  # Python's own limit of the digits of an integer
        raise InputError(f"{where}: expected JSON with numbers of fewer digits") from None
    except RecursionError:
        raise InputError(f"{where}: expected JSON, this is nested too deeply") from None
    except MemoryError:
        raise InputError(f"{where}: expected JSON that fits into the memory") from None


class _UnwantedError(Exception):
    """Legal for Python's parser, and not for us."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise _UnwantedError(f"each name once in an object, {twice!r} is there twice")
    return found


def _no_number(text: str) -> float:
    raise _UnwantedError(f"finite numbers, not {text}")


# --- what is read and what is written ---------------------------------------------------------------------------------

Named = tuple[str, Path | str]
"""What a file is to the user, and its name."""


def check_destination(path: Any, name: str) -> None:
    """Refuse what is no name of a file in an existing folder.

    Raises
    ------
    InputError
        With ``name``, which is that of the option.
    """
    if not isinstance(path, (str, Path)) or not str(path):
        raise InputError(f"{name}: expected the name of a file, not {describe(path)}")
    place = Path(path)
    if place.is_dir() or not place.absolute().parent.is_dir():
        raise InputError(f"{name}: expected the name of a file in an existing folder, not {str(place)!r}")


def check_distinct(written: Sequence[Named], read: Sequence[Named] = ()) -> None:
    """That nothing is written over a file that is read, nor two things into one file, through links either.

    Devices and pipes (``/dev/null``, ``/dev/stdout``) may be written to by several.

    Raises
    ------
    InputError
        That names both.
    """
    for k, (what, path) in enumerate(written):
        for other, place in (*read, *written[:k]):
            if _is_same(path, place):
                raise InputError(f"{what} {path}: expected a file of its own, this is {other} {place} as well")


def _is_same(one: Path | str, other: Path | str) -> bool:
    try:
        found = os.stat(one), os.stat(other)
    except OSError:  # one of them is not there yet
        return os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # a NUL in a name, which no file has
        return False
    return stat.S_ISREG(found[0].st_mode) and os.path.samestat(*found)


# --- writing ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def writing(path: Path | str, mode: str = "w", *, durable: bool = False, keep: bool = False) -> Iterator[IO[Any]]:
    """A file to write to, which appears under its name once all of it is written.

    It is written beside, and then renamed, so that whoever looks finds the old content or the new and never a half;
    if anything fails, the old stays.  What is no regular file (``/dev/stdout``, ``/dev/null``, a pipe) is written to as
    it is.

    Parameters
    ----------
    mode
        ``"w"`` for text in UTF-8, ``"wb"`` for bytes.
    durable
        Wait until the disk has it before it gets its name: a power cut leaves the old content or the new.
    keep
        Give the old content the file's name with a ``~``.

    Raises
    ------
    OSError
        With the file's name, whatever it was that failed.
    """
    how: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        place = Path(os.path.realpath(path))  # a link stays a link
        beside = _beside(place)
        if beside is None:
            with open(path, mode, **how) as file:
                yield file
            return
        try:
            with open(beside, mode.replace("w", "x"), **how) as file:
                if place.exists():
                    os.chmod(beside, stat.S_IMODE(place.stat().st_mode))
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            if keep and place.exists():
                os.replace(place, place.with_name(place.name + "~"))
            os.replace(beside, place)
            if durable:
                _settle(place.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) and "\0" not in str(path):
            raise
        raise OSError(getattr(error, "errno", None) or 22, _reason(error), str(path)) from error


def write_text(path: Path | str, text: str) -> None:
    """Write all of a text; errors as of :func:`writing`."""
    with writing(path) as file:
        file.write(text)


def write_figure(figure: Any, path: Path | str) -> None:
    """Write a matplotlib figure in the format that the name ends in; errors as of :func:`writing`."""
    with writing(path, "wb") as file:
        figure.savefig(file, dpi=150, format=Path(path).suffix.lower().lstrip(".") or None)


def _settle(folder: Path) -> None:
    """Wait until the disk has a folder's names, where the system knows how to."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _beside(place: Path) -> Path | None:
    """Where to write what becomes a file at its end; None where it has to be written in place."""
    if place.exists() and not place.is_file():
        return None
    folder = place.parent
    if place.exists() and os.access(place, os.W_OK) and not os.access(folder, os.W_OK):
        return None  # a file that may be changed in a folder that may not
    return folder / f".colgen-{secrets.token_hex(8)}.part"


# --- words -----------------------------------------------------------------------------------------------------------


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it does not fit into the memory"
    return getattr(error, "strerror", None) or str(error)
