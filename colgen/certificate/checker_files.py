"""Certificate files: a stream of lines, each a JSON object of bounded size."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from colgen.certificate.checker_pricing import DIGIT_LIMIT, UnreadableError

LINE_LIMIT = 2**27
"""Maximum bytes of an uncompressed line: 128 MiB, at most a gigabyte of objects."""

PART_LIMIT = 2**22
"""Maximum number of lists and objects in a line. The smallest take 20 times the memory of their text."""

TEXT_LIMIT = 2**28
"""Maximum bytes of an instance file: 0.25 GB."""


class UnreadError(Exception):
    """The checker does not read this file of an instance. The message gives the reason."""


def lines_of(path: str) -> Iterator[str]:
    """Yield the lines of a file, which may be compressed. Only one line is in memory.

    A damaged file, bytes that are not UTF-8, or a line of more than ``LINE_LIMIT`` bytes is an ``UnreadableError``.
    """
    number = 0
    with contextlib.ExitStack() as stack:
        raw: io.BufferedReader = stack.enter_context(open(path, "rb"))
        if raw.peek(2)[:2] == b"\x1f\x8b":
            raw = io.BufferedReader(stack.enter_context(gzip.GzipFile(fileobj=raw)))
        try:
            while line := raw.readline(LINE_LIMIT + 1):
                number += 1
                if len(line) > LINE_LIMIT:
                    raise _unreadable(number, f"expected lines of at most {LINE_LIMIT:,} bytes")
                yield line.decode()
        except (zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise _unreadable(number + 1, f"the compressed file is damaged ({error})") from None
        except UnicodeDecodeError as error:
            raise _unreadable(number, f"expected UTF-8 text: byte {error.start} is invalid") from None


def _unreadable(line: int, message: str) -> UnreadableError:
    error = UnreadableError(message)
    error.line = line
    return error


def text_of(path: str) -> str:
    """Return the text of an instance file, which may be compressed.

    Bytes that are not UTF-8 are replaced, so that no reader accepts them.
    """
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        try:
            content = (gzip.GzipFile(fileobj=file) if packed else file).read(TEXT_LIMIT + 1)
        except (zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise UnreadableError(f"the compressed instance is damaged ({error})") from None
    if len(content) > TEXT_LIMIT:
        raise UnreadableError(f"expected an instance of at most {TEXT_LIMIT:,} bytes")
    return content.decode("utf-8-sig", errors="replace")


def record_of(line: str, decimal: Callable[[str], Any] | None = None) -> dict[str, Any]:
    """Return the JSON object of a line. Numbers are integers, or results of ``decimal`` for their text.

    Other JSON, or a name that occurs twice, is an ``UnreadableError``.
    """
    if line.count("[") + line.count("{") > PART_LIMIT:
        raise UnreadableError(f"expected at most {PART_LIMIT:,} lists and objects in a line")
    if re.search(rf"(?<!\d)\d{{{DIGIT_LIMIT + 1}}}", line):
        raise UnreadableError(f"expected numbers of at most {DIGIT_LIMIT:,} digits")
    try:
        record = json.loads(line, object_pairs_hook=_object, parse_float=decimal or _no_float, parse_constant=_no_float)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"expected a JSON object: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise UnreadableError("expected a JSON object that is less deeply nested") from None
    if not isinstance(record, dict):
        raise UnreadableError("expected a JSON object")
    return record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise UnreadableError(f"expected each name once in a JSON object, but {twice[:30]!r} occurs twice")
    return found


def _no_float(text: str) -> Any:
    raise UnreadableError(f"expected integers and fractions as texts, not {text[:30]}")
