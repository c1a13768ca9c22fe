"""What may fail, and what may not."""

import pytest

from colgen import AnyOf, Sense
from colgen.bounds.run import Run
from colgen.core.errors import InvalidBoundError, SolverError
from colgen.tree.node import Node
from colgen.tree.sparing import sparing


@pytest.mark.parametrize(
    "error", [SolverError("kSolveError"), MemoryError("too long a list"), ZeroDivisionError("0/0")]
)
def test_what_a_run_can_do_without_is_skipped_and_said(error):
    run = Run(Sense.MINIMIZE, AnyOf())
    with sparing(run, "RestrictedMIP", Node()):
        raise error
    (note,) = run.notes
    assert note.startswith("RestrictedMIP failed at node 0 and was skipped: ")


@pytest.mark.parametrize("error", [InvalidBoundError("a bound"), AssertionError("a mistake"), KeyboardInterrupt()])
def test_what_speaks_against_the_problem_is_not(error):
    run = Run(Sense.MINIMIZE, AnyOf())
    with pytest.raises(type(error)), sparing(run, "RestrictedMIP", Node()):
        raise error
    assert run.notes == []
