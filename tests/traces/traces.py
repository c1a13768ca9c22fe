"""Traces of runs: rounds, columns, bounds and tree, without times.

``python -m tests.traces.traces`` records all runs anew in ``tests/traces/recorded.json``; ``--compare FILE`` holds them
against another recording to the last bit.
"""

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from colgen.core.result import Result, Termination
from tests.traces.runs import runs

RECORDED = Path(__file__).with_name("recorded.json")

LIMITS = (Termination.TIME_LIMIT, Termination.MEMORY_LIMIT, Termination.INTERRUPTED, Termination.FAULT)

_SLOWER = 1000.0


def trace(result: Result[Any]) -> dict[str, Any]:
    """Return counts and values of a run as plain data; infinities as strings."""
    return {
        "termination": result.termination.name,
        "objective": _plain(result.objective),
        "dual_bound": _plain(result.dual_bound),
        "root_bound": _plain(result.root_bound),
        "columns_generated": result.columns_generated,
        "rows_generated": result.rows_generated,
        "rounds": [
            [i.node, i.phase, i.columns, i.rows, i.new_columns, i.new_rows, i.misprices] for i in result.iterations
        ],
        "objectives": [_plain(i.objective) for i in result.iterations],
        "bounds": [_plain(i.dual_bound) for i in result.iterations],
        "nodes": [[n.number, n.parent, n.depth, n.outcome] for n in result.nodes],
        "node_bounds": [_plain(n.bound) for n in result.nodes],
    }


def _plain(value: float) -> float | str:
    return float(value) if math.isfinite(value) else repr(float(value))


@contextlib.contextmanager
def slow_clock() -> Iterator[None]:
    """Let the process's clocks run a thousand times slower, so that no deadline of a part of a run is reached."""
    clocks = {name: (getattr(time, name), getattr(time, name)()) for name in ("monotonic", "perf_counter")}
    with contextlib.ExitStack() as stack:
        for name, (clock, start) in clocks.items():
            slow = mock.Mock(side_effect=lambda clock=clock, start=start: start + (clock() - start) / _SLOWER)
            stack.enter_context(mock.patch.object(time, name, slow))
        yield


def record(run: Any) -> dict[str, Any]:
    """Return the trace of a run under a slow clock."""
    with slow_clock():
        result = run()
    assert result.termination not in LIMITS, result.termination
    return trace(result)


def main(argv: list[str] | None = None) -> int:
    """Record all runs, or compare them with a recording; 1 where a run depends on the clock or differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.traces.traces", description=__doc__)
    parser.add_argument("--compare", type=Path, metavar="FILE", help="another recording, to compare with bit by bit")
    parser.add_argument("--out", type=Path, default=RECORDED, metavar="FILE", help="where the recording is written")
    arguments = parser.parse_args(argv)
    recorded, bad = {}, []
    for name, run in runs().items():
        began = time.process_time()
        recorded[name] = record(run)
        seconds = time.process_time() - began
        if arguments.compare is None and trace(run()) != recorded[name]:
            bad.append(f"{name}: the run depends on the clock")
        print(
            f"{seconds:7.2f} s  {len(recorded[name]['rounds']):5} rounds  {len(recorded[name]['nodes']):5} nodes {name}"
        )
    if arguments.compare is not None:
        other = json.loads(arguments.compare.read_text(encoding="utf-8"))
        bad += [
            f"{name}: differs"
            for name in sorted(recorded.keys() | other.keys())
            if recorded.get(name) != other.get(name)
        ]
    else:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in recorded.items())
        arguments.out.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print("\n".join(bad) or f"{len(recorded)} runs, none differs")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
