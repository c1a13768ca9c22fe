"""Going on where something fails that a run can do without."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from colgen.bounds.run import Run
from colgen.core.errors import SolverError
from colgen.tree.node import Node
from solvers.linear import lp as programs


@contextlib.contextmanager
def sparing(run: Run, name: str, node: Node) -> Iterator[None]:
    """Let the run go on where something fails that it can do without, and say so."""
    try:
        yield
    except (SolverError, programs.SolverError, ArithmeticError, MemoryError) as error:
        run.notes.append(f"{name} failed at node {node.number} and was skipped: {error}.")


def as_diagnostic(error: Exception) -> Exception:
    """An error of a linear program's solver as one of colgen's; others as they are."""
    return SolverError(str(error)) if isinstance(error, programs.SolverError) else error
