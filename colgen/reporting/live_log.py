"""The log of a run in growing files, and its reader in other processes.

The rounds are in a CSV file. The nodes and the end of the run are in a file of JSON lines next to it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from colgen.core.decision import ROOT, DecisionPath
from colgen.core.errors import InputError
from colgen.core.files import read_text
from colgen.core.result import WRITTEN, Iteration, NodeRecord, NodeVisit, Result, RunListener
from colgen.core.sense import Sense
from colgen.core.text import number, percent, plural

_NAMES = [f.name for f in WRITTEN]
_INTEGERS = {f.name for f in WRITTEN if f.type in (int, "int")}

_EVERY = 0.2
"""Seconds between two flushes."""


class LogFile(RunListener):
    """A progress listener that writes each round to a CSV file: ``solve(..., progress=LogFile("run.csv"))``.

    The file is as written by :meth:`Result.to_csv`, and ``colgen watch`` shows it while it grows. The nodes and the end
    of the run are in a second file, whose name ends in ``.tree``. With ``show``, rounds are also shown as by
    ``progress=True``.
    """

    def __init__(self, path: Path | str, *, show: bool = False) -> None:
        self.path, self.show = Path(path), show
        self._file: TextIO | None = None
        self._flushed = 0.0
        self._tree = tree_of(self.path)
        self._has_begun = False

    def __call__(self, iteration: Iteration) -> None:
        """Write a round."""
        if self._file is None:
            self._file = self.path.open("w", encoding="utf-8", newline="")
            csv.writer(self._file).writerow(_NAMES)
            self._write_line("")
        csv.writer(self._file).writerow([getattr(iteration, name) for name in _NAMES])
        now = time.monotonic()
        if now - self._flushed >= _EVERY:
            self._file.flush()
            self._flushed = now

    def on_node(self, visit: NodeVisit) -> None:
        """Write a node."""
        node = visit.node
        own = [str(decision) for decision in node.path.own]
        bound = node.bound if math.isfinite(node.bound) else None
        self._write_line(json.dumps([node.number, node.parent, node.depth, bound, node.outcome, own]) + "\n")

    def finish(self, result: Result) -> None:
        """Write how the run ended."""
        sentence, figures, *_ = str(result).splitlines()
        answer = math.inf if result.answer is None else result.objective
        numbers = {"incumbent": answer, "global_bound": result.dual_bound, "gap": result.gap}
        finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        end = {"ended": sentence, "figures": figures, "seconds": result.seconds.get("total", 0.0), **finite}
        self._write_line(json.dumps(end) + "\n")
        self._has_begun = False

    def _write_line(self, line: str) -> None:
        """Append a line to the second file, which the first line of a run empties."""
        with self._tree.open("a" if self._has_begun else "w", encoding="utf-8") as file:
            file.write(line)
        self._has_begun = True

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


def tree_of(path: Path | str) -> Path:
    """Return the file of the nodes of a log."""
    return Path(f"{path}.tree")


def read_tree(path: Path | str) -> tuple[list[NodeRecord], dict[str, Any]]:
    """Return the nodes of a log and how its run ended; empty while it continues and for logs without this file."""
    try:
        text = tree_of(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return [], {}
    nodes: list[NodeRecord] = []
    paths: dict[int | None, DecisionPath] = {}
    end: dict[str, Any] = {}
    for line in text[: text.rfind("\n") + 1].splitlines():
        try:
            content: Any = json.loads(line)
            if isinstance(content, dict):
                end = content
                continue
            key, parent, depth, bound, outcome, own = content
            paths[key] = paths.get(parent, ROOT).below(tuple(own))  # words, not decisions
            nodes.append(NodeRecord(key, parent, depth, math.inf if bound is None else bound, outcome, paths[key]))
        except (ValueError, TypeError):
            raise InputError(f"{tree_of(path)}: expected the nodes of a log written by --log") from None
    return nodes, end


def describe_state(rounds: Sequence[Iteration], end: Mapping[str, Any]) -> list[str]:
    """Return the state of a run in two lines: how it ended, or its size and seconds; then answer, bound and gap."""
    if end:
        ended = str(end.get("ended", ""))
        bounds = str(end.get("figures", "")).partition(";")[0]
        return [f"finished: {ended[:1].lower()}{ended[1:].removesuffix('.')}", bounds]
    if not rounds:
        return ["no round yet"]
    last, nodes = rounds[-1], len({i.node for i in rounds})
    return [
        f"round {last.number:,}, {plural(nodes, 'node')}, {last.seconds:.1f} s; {plural(last.columns, 'column')}, "
        f"{plural(last.rows, 'row')}",
        f"best answer {number(last.incumbent, 8)}, bound {number(last.global_bound, 8)}, "
        f"gap {percent(last.gap(sense_of(list(rounds))))}",
    ]


def sense_of(rounds: list[Iteration]) -> Sense:
    """Return the sense of a log from its bounds: an incumbent is never better than the bound."""
    worse = any(i.incumbent < i.global_bound for i in rounds if i.phase == 2)
    return Sense.MAXIMIZE if worse else Sense.MINIMIZE
