"""``colgen bench first_answers``: time from the command to the first answer of each template, cold and warm.

Each template solves its example in a new process, first with an empty folder of compiled kernels (cold), then with the
filled folder (warm).  Seconds are processor time, imports included, so other processes and the disk do not matter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.harness import BenchOptions
from colgen.cli.template import Figure, load_template, template_names
from colgen.core.errors import ColgenError

_WARM = 3
"""Warm starts; the shortest counts."""

_SOON = 10.0
"""Quick runs skip templates whose ``compiling`` seconds are not below this."""


def bench_first_answers(options: BenchOptions) -> Sequence[Figure]:
    """Measure the seconds to the first answer, cold and warm, of every template with an example."""
    figures: list[Figure] = []
    for name in template_names():
        template = load_template(name)
        if template.example is None or (options.quick and template.compiling >= _SOON):
            continue
        with tempfile.TemporaryDirectory() as folder:
            instance = Path(folder) / f"example{template.suffix}"
            template.example(instance)
            cold, *warm = time_starts(name, instance, Path(folder) / "kernels", 2 if options.quick else 1 + _WARM)
        options.say(f"{name}: {cold:.1f} s to the first answer, {min(warm):.2f} s with compiled kernels")
        figures += [
            Figure(f"first_answer_seconds_{name}_cold", cold, "s", 1, "nothing compiled; imports included"),
            Figure(f"first_answer_seconds_{name}_warm", min(warm), "s", len(warm), "compiled kernels; shortest"),
        ]
    return figures


def time_starts(name: str, instance: Path, kernels: Path, count: int) -> list[float]:
    """Return processor seconds of ``colgen solve`` in successive processes that share a folder of kernels."""
    kernels.mkdir()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "colgen", "solve", name, str(instance), "--quiet"]
    return [_seconds(command, environment) for _ in range(count)]


def _seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ColgenError(f"`{' '.join(command[1:])}` failed with exit code {process.returncode}")
    return used.ru_utime + used.ru_stime
