"""The first result of a demo, while kernels are compiled: one instance by another process, which interprets them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from colgen.solvers import compiling

_INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}

_SOON = 10.0
"""Seconds of compiling: the first template that takes less is shown."""


def nothing_is_compiled() -> bool:
    """Whether this is the first time: numba keeps what it compiles beside the modules, or where it is told to."""
    kept = os.environ.get("NUMBA_CACHE_DIR") or str(Path(compiling.__file__).parent)
    return next(Path(kept).rglob("*.nbi"), None) is None


@contextmanager
def interpreting() -> Iterator[threading.Thread]:
    """Another process that solves one instance without compiling; the thread shows what it says and ends with it."""
    command = [sys.executable, "-W", "ignore", "-m", __name__]
    environment = {**os.environ, **_INTERPRETED}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as other:
        thread = threading.Thread(target=lambda: _pass_on(other), daemon=True)
        thread.start()
        try:
            yield thread
        finally:
            other.terminate()
            thread.join()


def _pass_on(other: subprocess.Popen[str]) -> None:
    """Show all that it has said, if it came to its end; what goes wrong here is seen soon enough."""
    said = other.communicate()[0]
    if other.returncode == 0 and said:
        print(f"\nWhile kernels are compiled, one instance without them:\n{said}", end="", flush=True)


def main() -> None:
    """Solve the first instance of a template that is soon at hand, and show it."""
    from colgen.cli.demonstration import rows
    from colgen.cli.template import load_template, template_names

    for name in template_names():
        template = load_template(name)
        if template.demo and template.compiling < _SOON:
            print("\n".join(rows(template.name, template.demo[0]())))
            return


if __name__ == "__main__":
    main()
