"""Kill runs at random moments, resume them from checkpoints, and compare the proved values."""

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
"""Seconds between checkpoints; the runs are short."""

_PATIENCE = 60.0
"""Limit of the last run of a chain, in multiples of the time of an undisturbed run."""


TEMPLATES: Mapping[str, Callable[[int], Problem]] = {
    "assignment": lambda seed: Assignment(random_assignment(4, 14, seed), cuts=True),
    "vehicle_routing": lambda seed: VehicleRouting(random_routing(seed, customers=16)),
    "cutting_stock": lambda seed: CuttingStock(triplets(12, seed)),
}
"""Small instances by seed; a run takes a few tenths of a second."""


class Killed(NamedTuple):
    """Counts of killed runs.

    ``same`` is the number whose chain ended with the same proved value as an undisturbed run, ``written`` the number
    that left a checkpoint.
    """

    kills: int
    same: int
    written: int


def kill_runs(make: Callable[[], Problem], kills: int, seed: int, until: float = float("inf")) -> Killed:
    """Kill runs of a problem at random moments in chains: each run resumes the one before, and the last one finishes.

    There are ``kills`` in total; no chain starts after the value ``until`` of ``time.monotonic()``.
    """
    begun = time.monotonic()
    undisturbed = solve(make())  # compiles the kernels, which forked children inherit
    begun_again = time.monotonic()
    undisturbed = solve(make())
    lasts = min(time.monotonic() - begun_again, begun_again - begun)
    expected = [undisturbed.termination.name, undisturbed.objective]
    draw, done, same, written = random.Random(seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in itertools.count():
            if done >= kills or time.monotonic() >= until:
                break
            path = Path(folder) / f"run{number}"  # new even if the last chain had no kill
            chain = 0
            while True:
                last = done + chain >= kills
                ended = _run_child(make, path, _PATIENCE * lasts + 30.0 if last else draw.uniform(0.0, 1.2 * lasts))
                if ended is not None:
                    break
                chain += 1
                written += path.exists()
            done += chain
            same += chain * (ended == expected)
    return Killed(done, same, written)


def _run_child(make: Callable[[], Problem], path: Path, seconds: float) -> Any:
    """Solve the problem in a child process; return its result, or None if it was killed after ``seconds``."""
    output = path.with_name(path.name + ".json")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            result = solve(make(), checkpoint=Checkpoint(path, every=_EVERY))
            write_text(output, json.dumps([result.termination.name, result.objective]))  # atomic
            code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, _ = os.waitpid(child, os.WNOHANG)
        if ended:
            return json.loads(output.read_text(encoding="utf-8")) if output.exists() else "failed"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(output.read_text(encoding="utf-8")) if output.exists() else None
