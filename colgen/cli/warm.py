"""``colgen warm``: compile the kernels of templates before they are needed."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.output import say
from colgen.cli.template import Template
from colgen.core.text import plural
from colgen.reporting.progress import showing


def warm(arguments: argparse.Namespace) -> int:
    """Solve the example of each template in a process of its own, and print the time of each."""
    loaded = [templates.load_template(name) for name in arguments.templates or templates.template_names()]
    chosen = [template for template in loaded if template.example is not None]
    began, failed = time.monotonic(), 0
    running: list[str] = []

    def solve(template: Template) -> tuple[float, str]:
        running.append(template.name)
        try:
            return _solve_example(template, Path(folder))
        finally:
            running.remove(template.name)

    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(os.cpu_count()) as pool,
        showing(lambda: f"compiling kernels: {', '.join(running) or 'done'}"),
    ):
        for template, (seconds, error) in zip(chosen, pool.map(solve, chosen), strict=True):
            failed += error != ""
            say(f"{template.name}: {error or f'{seconds:.1f} s'}")
    done = plural(len(chosen) - failed, "template")
    print(f"Compiled the kernels of {done} in {time.monotonic() - began:.0f} s.")
    return DIAGNOSTIC if failed else PROVED


def _solve_example(template: Template, folder: Path) -> tuple[float, str]:
    """Return the seconds of a new process, and the last line of its errors if it fails."""
    assert template.example is not None
    instance = folder / f"{template.name}{template.suffix}"
    template.example(instance)
    began = time.monotonic()
    command = [sys.executable, "-m", "colgen", "solve", template.name, str(instance), "--quiet"]
    process = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    errors = process.stderr.splitlines() or [f"exit code {process.returncode}"]
    return time.monotonic() - began, errors[-1] if process.returncode else ""
