"""The log of a run in a growing file, and its reader in other processes."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import TextIO

from colgen.core.errors import InputError
from colgen.core.files import read_text
from colgen.core.result import WRITTEN, Iteration
from colgen.core.sense import Sense

_NAMES = [f.name for f in WRITTEN]
_INTEGERS = {f.name for f in WRITTEN if f.type in (int, "int")}

_EVERY = 0.2
"""Seconds between two flushes."""


class LogFile:
    """A progress listener that writes each round to a CSV file: ``solve(..., progress=LogFile("run.csv"))``.

    The file is as written by :meth:`Result.to_csv`, and ``colgen watch`` shows it while it grows. With ``show``, rounds
    are also shown as by ``progress=True``.
    """

    def __init__(self, path: Path | str, *, show: bool = False) -> None:
        self.path, self.show = Path(path), show
        self._file: TextIO | None = None
        self._flushed = 0.0

    def __call__(self, iteration: Iteration) -> None:
        """Write a round."""
        if self._file is None:
            self._file = self.path.open("w", encoding="utf-8", newline="")
            csv.writer(self._file).writerow(_NAMES)
        csv.writer(self._file).writerow([getattr(iteration, name) for name in _NAMES])
        now = time.monotonic()
        if now - self._flushed >= _EVERY:
            self._file.flush()
            self._flushed = now

    def close(self) -> None:
        """Flush and close the file. The next round starts a new one."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_rounds(path: Path | str) -> list[Iteration]:
    """Return the rounds in a log, without an incomplete last line. Raise an ``InputError`` if it is no log."""
    text = read_text(path)
    lines = text[: text.rfind("\n") + 1]
    rounds: list[Iteration] = []
    table = csv.DictReader(io.StringIO(lines))
    if table.fieldnames is not None and not set(_NAMES) <= set(table.fieldnames):
        raise InputError(f"{path}: expected a log written by --log, a table with {', '.join(_NAMES[:4])}, ...")
    for row in table:
        try:
            values = {name: int(row[name]) if name in _INTEGERS else float(row[name]) for name in _NAMES}
        except (TypeError, ValueError):
            raise InputError(f"{path}, line {table.line_num}: expected numbers of a round") from None
        rounds.append(Iteration(**values))  # type: ignore[arg-type]
    return rounds


def sense_of(rounds: list[Iteration]) -> Sense:
    """Return the sense of a log from its bounds: an incumbent is never better than the bound."""
    worse = any(i.incumbent < i.global_bound for i in rounds if i.phase == 2)
    return Sense.MAXIMIZE if worse else Sense.MINIMIZE
