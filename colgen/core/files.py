"""Files: paths are checked before reading, and writing replaces the old content only when complete (promise 9)."""

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
"""Maximum number of bytes of a text file that is read into memory: 256 MiB."""


# --- reading ---------------------------------------------------------------------------------------------------------


def check_readable(path: Path | str, limit: int | None = None) -> None:
    """Raise InputError unless a path is a file of at most ``limit`` bytes, or a stream that the shell opened.

    Streams are ``/dev/stdin``, ``/dev/fd/63`` and others. Named pipes are refused: opening one waits for a writer that
    may never come.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:  # ValueError: the name contains a NUL
        raise InputError(f"{path} cannot be read: {_reason(error)}") from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: expected a file, this is a directory")
    if not stat.S_ISREG(status.st_mode) and not str(path).startswith("/dev/"):
        raise InputError(f"{path}: expected a file, this is a {_kind(status.st_mode)}")
    if limit is not None and stat.S_ISREG(status.st_mode) and status.st_size > limit:
        raise InputError(f"{path}: expected a file of at most {limit:,} bytes, this one has {status.st_size:,}")


def read_bytes(path: Path | str, limit: int = TEXT_LIMIT) -> bytes:
    """Return the content of a file; raise InputError with its name if unreadable or larger than ``limit`` bytes."""
    check_readable(path, limit)
    try:
        with open(path, "rb") as file:
            content = file.read(min(limit, os.fstat(file.fileno()).st_size or limit) + 1)
    except (OSError, MemoryError) as error:
        raise InputError(f"{path} cannot be read: {_reason(error)}") from None
    if len(content) > limit:  # the size of a stream is not known before
        raise InputError(f"{path}: expected at most {limit:,} bytes")
    return content


def read_text(path: Path | str, limit: int = TEXT_LIMIT) -> str:
    r"""Return a UTF-8 text, or raise InputError; line ends become ``\n``, and a final Ctrl-Z of DOS is removed."""
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
    """Return the content of a JSON file; raise InputError for duplicate names, NaN, infinities and other errors."""
    return parse_json(read_text(path, limit), str(path))


def parse_json(text: str, name: str, line: int | None = None) -> Any:
    """Parse JSON like :func:`read_json`; errors name ``name``, and ``line`` if the text is one line of a file."""
    where = name if line is None else f"{name}, line {line}"
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        at = (line or 1) + error.lineno - 1
        raise InputError(f"{name}, line {at}: expected JSON, {error.msg}") from None
    except _UnwantedError as error:
        raise InputError(f"{where}: expected {error}") from None
    except ValueError:  # Python limits the digits of an integer
        raise InputError(f"{where}: expected JSON with numbers of fewer digits") from None
    except RecursionError:
        raise InputError(f"{where}: expected JSON, this is nested too deeply") from None
    except MemoryError:
        raise InputError(f"{where}: expected JSON that fits into memory") from None


class _UnwantedError(Exception):
    """JSON that Python accepts and colgen refuses."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise _UnwantedError(f"each name once in an object, got {twice!r} twice")
    return members


def _no_number(text: str) -> float:
    raise _UnwantedError(f"finite numbers, not {text}")


# --- checks of paths -------------------------------------------------------------------------------------------------

Named = tuple[str, Path | str]
"""A description of a file for messages, and its path."""


def check_destination(path: Any, name: str) -> None:
    """Raise InputError with ``name``, the option's name, unless a path names a file in an existing folder."""
    if not isinstance(path, (str, Path)) or not str(path):
        raise InputError(f"{name}: expected the name of a file, not {describe(path)}")
    place = Path(path)
    if place.is_dir() or not place.absolute().parent.is_dir():
        raise InputError(f"{name}: expected the name of a file in an existing folder, not {str(place)!r}")


def check_distinct(written: Sequence[Named], read: Sequence[Named] = ()) -> None:
    """Raise InputError if a file is written twice, or both read and written, also through links.

    Devices and pipes (``/dev/null``, ``/dev/stdout``) may be shared.
    """
    for k, (what, path) in enumerate(written):
        for other, place in (*read, *written[:k]):
            if _is_same(path, place):
                raise InputError(f"{what} {path}: expected a file of its own, but it is also {other} {place}")


def _is_same(one: Path | str, other: Path | str) -> bool:
    try:
        status = os.stat(one), os.stat(other)
    except OSError:  # one of them does not exist yet
        return os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # a NUL in a name, which no file has
        return False
    return stat.S_ISREG(status[0].st_mode) and os.path.samestat(*status)


# --- writing ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def writing(path: Path | str, mode: str = "w", *, durable: bool = False, keep: bool = False) -> Iterator[IO[Any]]:
    """Yield a file to write to, which replaces the file of this name when the block ends.

    The content goes to a temporary file in the same folder, which is then renamed, so readers see the old or the new
    content and never a part. If anything fails, the old content stays, and OSError has the file's name. A path that is
    not a regular file (``/dev/stdout``, ``/dev/null``, a pipe) is written to directly.

    Parameters
    ----------
    mode
        ``"w"`` for text in UTF-8, ``"wb"`` for bytes.
    durable
        Flush to disk before renaming, so that a power cut leaves the old content or the new.
    keep
        Keep the old content under the name with ``~`` appended.
    """
    how: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        place = Path(os.path.realpath(path))  # a link stays a link
        partial = _partial(place)
        if partial is None:
            with open(path, mode, **how) as file:
                yield file
            return
        try:
            with open(partial, mode.replace("w", "x"), **how) as file:
                if place.exists():
                    os.chmod(partial, stat.S_IMODE(place.stat().st_mode))
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            if keep and place.exists():
                os.replace(place, place.with_name(place.name + "~"))
            os.replace(partial, place)
            if durable:
                _flush_folder(place.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) and "\0" not in str(path):
            raise
        raise OSError(getattr(error, "errno", None) or 22, _reason(error), str(path)) from error


def write_text(path: Path | str, text: str) -> None:
    """Write a text to a file; errors as for :func:`writing`."""
    with writing(path) as file:
        file.write(text)


def write_figure(figure: Any, path: Path | str) -> None:
    """Write a matplotlib figure in the format of the name's suffix; errors as for :func:`writing`."""
    with writing(path, "wb") as file:
        figure.savefig(file, dpi=150, format=Path(path).suffix.lower().lstrip(".") or None)


def _flush_folder(folder: Path) -> None:
    """Flush a folder's names to disk, if the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _partial(place: Path) -> Path | None:
    """Return the temporary file for a destination; None if the destination must be written directly."""
    if place.exists() and not place.is_file():
        return None
    folder = place.parent
    if place.exists() and os.access(place, os.W_OK) and not os.access(folder, os.W_OK):
        return None  # a writable file in a read-only folder
    return folder / f".colgen-{secrets.token_hex(8)}.part"


# --- words -----------------------------------------------------------------------------------------------------------


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    return getattr(error, "strerror", None) or str(error)
