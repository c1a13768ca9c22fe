"""The log of a run as a file that grows, and what another process reads of it meanwhile."""

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
_WHOLE = {f.name for f in WRITTEN if f.type in (int, "int")}

_EVERY = 0.2
"""Seconds after which lines that wait are written."""


class LogFile:
    """What ``solve(..., progress=LogFile("run.csv"))`` is told: each round becomes a line of the file, at once or soon.

    The file is what :meth:`Result.to_csv` writes, and ``colgen watch`` shows it while it grows.

    Parameters
    ----------
    show
        Show rounds as ``progress=True`` does, too.
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
        """Write what waits; the next round begins the file anew."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_rounds(path: Path | str) -> list[Iteration]:
    """The rounds that a log has so far; a line that is being written is left for the next time.

    Raises
    ------
    InputError
        With file and line, where it is no log.
    """
    text = read_text(path)
    lines = text[: text.rfind("\n") + 1]
    rounds: list[Iteration] = []
    table = csv.DictReader(io.StringIO(lines))
    if table.fieldnames is not None and not set(_NAMES) <= set(table.fieldnames):
        raise InputError(f"{path}: expected the log of a run, as --log writes it: a table with {', '.join(_NAMES[:4])}")
    for row in table:
        try:
            values = {name: int(row[name]) if name in _WHOLE else float(row[name]) for name in _NAMES}
        except (TypeError, ValueError):
            raise InputError(f"{path}, line {table.line_num}: expected the numbers of a round") from None
        rounds.append(Iteration(**values))  # type: ignore[arg-type]
    return rounds


def sense_of(rounds: list[Iteration]) -> Sense:
    """The direction that the bounds of a log tell: an answer is never better than the bound."""
    worse = any(i.incumbent < i.global_bound for i in rounds if i.phase == 2)
    return Sense.MAXIMIZE if worse else Sense.MINIMIZE
