"""``colgen bench demo``: the first impression, as seconds to the demo's first row and rows where brute force is faster.

The first row is printed by ``colgen demo`` in a new process with an empty folder of compiled kernels.  Its seconds are
processor time, imports included, so other processes and the disk do not matter.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from benchmarks.harness import BenchOptions
from colgen.cli.demonstration import speedup
from colgen.cli.template import Figure, load_template, template_names
from colgen.core.errors import ColgenError


def bench_demo(options: BenchOptions) -> Sequence[Figure]:
    """Measure the cold start of the demo, and compare the times of all its rows."""
    seconds = first_row_seconds()
    options.say(f"{seconds:.1f} s to the first row")
    ratios: list[float] = []
    for name in template_names():
        for make in load_template(name).demo[: 1 if options.quick else None]:
            line = make()
            ratios.append(speedup(line) or math.inf)  # brute force without a time has not ended
            options.say(f"{name}, {line.instance}: {ratios[-1]:.3g} times the speed of {line.brute_force}")
    slower = sum(ratio < 1.0 for ratio in ratios)
    return [
        Figure("demo_first_row_seconds", seconds, "s", 1, "nothing compiled; imports included"),
        Figure("demo_slower", slower, "rows", len(ratios), "brute force is faster than column generation"),
    ]


def first_row_seconds() -> float:
    """Return the processor seconds of ``colgen demo`` until its first row, with nothing compiled."""
    with tempfile.TemporaryDirectory() as kernels:
        environment = {**os.environ, "NUMBA_CACHE_DIR": kernels, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "colgen", "demo"]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
        )
        assert process.stdout is not None
        with process.stdout as output:
            shown = any(is_row(line) for line in output)
            process.kill()
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
    if not shown:
        raise ColgenError("`colgen demo` ended without a row")
    return used.ru_utime + used.ru_stime


def is_row(line: str) -> bool:
    """Whether a line of the demo compares the times of an instance."""
    return line.rstrip().endswith(("x faster", "x slower"))
