"""Runs that are killed at random moments and go on from their checkpoints, to the same proved value."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from colgen import Checkpoint, Problem, solve
from colgen.core.files import write_text
from colgen.problems.assignment.instance import random as random_assignment
from colgen.problems.assignment.template import Assignment
from colgen.problems.cutting_stock.generators import triplets
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.problems.vehicle_routing.instance import random as random_routing
from colgen.problems.vehicle_routing.template import VehicleRouting

_EVERY = 0.02
"""Seconds from one checkpoint to the next: the runs are short."""

_PATIENCE = 60.0
"""A run that lasts so many times as long as one that nobody kills is stuck."""


def _assignment(seed: int) -> Problem:
    return Assignment(random_assignment(4, 14, seed), cuts=True)


def _routing(seed: int) -> Problem:
    return VehicleRouting(random_routing(seed, customers=16))


def _rolls(seed: int) -> Problem:
    return CuttingStock(triplets(12, seed))


TEMPLATES: Mapping[str, Callable[[int], Problem]] = {
    "assignment": _assignment,
    "vehicle_routing": _routing,
    "cutting_stock": _rolls,
}
"""Small instances by seed, whose runs last some tenths of a second."""


class Killed(NamedTuple):
    """What became of runs that were killed.

    Attributes
    ----------
    kills
        How many there were.
    same
        How many of them were followed, in the end, by the same proved value.
    written
        How many found a checkpoint there to go on from.
    """

    kills: int
    same: int
    written: int


def kill_runs(make: Callable[[], Problem], kills: int, seed: int, until: float = float("inf")) -> Killed:
    """Kill runs of a problem at random moments, again and again, and let the last one of each chain end.

    Parameters
    ----------
    kills
        So many in all.
    until
        Value of ``time.monotonic()`` from which on no chain begins.
    """
    begun = time.monotonic()
    whole = solve(make())  # kernels are compiled, and the children have them
    begun_again = time.monotonic()
    whole = solve(make())
    lasts = min(time.monotonic() - begun_again, begun_again - begun)
    wanted = [whole.termination.name, whole.objective]
    draw, done, same, written = random.Random(seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in itertools.count():
            if done >= kills or time.monotonic() >= until:
                break
            path = Path(folder) / f"run{number}"  # a new one, though nobody was killed in the last chain
            chain = 0
            while True:
                last = done + chain >= kills
                ended = _child(make, path, _PATIENCE * lasts + 30.0 if last else draw.uniform(0.0, 1.2 * lasts))
                if ended is not None:
                    break
                chain += 1
                written += path.exists()
            done += chain
            same += chain * (ended == wanted)
    return Killed(done, same, written)


def _child(make: Callable[[], Problem], path: Path, seconds: float) -> Any:
    """What a child process that solves the problem has found; None if it was killed first, after so many seconds."""
    told = path.with_name(path.name + ".json")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            result = solve(make(), checkpoint=Checkpoint(path, every=_EVERY))
            write_text(told, json.dumps([result.termination.name, result.objective]))  # whole, or killed before it
            code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, _ = os.waitpid(child, os.WNOHANG)
        if ended:
            return json.loads(told.read_text(encoding="utf-8")) if told.exists() else "failed"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(told.read_text(encoding="utf-8")) if told.exists() else None
