"""Nodes in batches: the same tree, and the optimum, for any number of workers."""

import pytest

from colgen import InputError, NodeLimit, Parallel, Record, Termination, solve
from colgen.core.result import NodeVisit
from colgen.problems.assignment import Assignment, random
from tests.assignment import assignment
from tests.parallel.test_same_run import summary


def column_generation():
    """One oracle per machine."""
    return assignment(4, 10, 5)


def ascents():
    """Nodes bounded by a kernel, and strong branching."""
    return Assignment(random(4, 20, 3))


@pytest.mark.parametrize("drawn", [column_generation, ascents])
def test_workers_do_not_change_a_tree_in_batches(drawn):
    plain = solve(drawn())
    assert len(plain.nodes) > 4
    results = [solve(drawn(), parallel=Parallel(workers=workers, node_batch=3)) for workers in (1, 2, 4)]
    assert results[0].is_optimal
    assert results[0].objective == pytest.approx(plain.objective)
    for result in results[1:]:
        assert summary(result) == summary(results[0])


def test_the_node_limit_holds_and_the_bound_covers_all_open_nodes():
    """Nodes under evaluation count as open, so the bound is never better than the optimum."""
    optimum = solve(column_generation()).objective
    bounds: list[NodeVisit] = []
    for limit in (1, 2, 4, 6):
        result = solve(
            column_generation(),
            parallel=Parallel(node_batch=3, workers=2),
            stop=NodeLimit(limit),
            record=Record(on_node=bounds.append),
        )
        assert result.is_optimal or len(result.nodes) == limit
        assert result.is_optimal or result.termination is Termination.NODE_LIMIT
        assert result.dual_bound <= optimum + 1e-9 * abs(optimum)
    assert all(visit.dual_bound <= optimum + 1e-9 * abs(optimum) for visit in bounds)


def test_a_problem_that_cannot_be_copied_is_refused_before_any_work():
    problem = column_generation()
    problem.held = open(__file__)  # noqa: SIM115
    with problem.held, pytest.raises(InputError, match=r"node_batch: .*copy.deepcopy"):
        solve(problem, parallel=Parallel(node_batch=2))
