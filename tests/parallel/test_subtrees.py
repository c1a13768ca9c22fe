"""Subtrees on a cluster: one tree, and the optimum, whoever works and whatever becomes of them."""

import pytest

from colgen import DepthLimit, InputError, NodeLimit, Parallel, Record, Termination, solve
from colgen.core.result import NodeVisit
from colgen.parallel import subtrees
from colgen.parallel.clusters import Processes
from colgen.problems.assignment import Assignment, random
from tests.assignment import assignment
from tests.parallel.scripted import Travelling
from tests.parallel.test_same_run import told
from tests.sweeps import seeds


def column_generation():
    """One oracle a machine."""
    return assignment(4, 10, 5)


def ascents():
    """Nodes that a kernel bounds, and strong branching."""
    return Assignment(random(5, 20, 2))


def cuts():
    """Rows that each worker separates for itself."""
    return Assignment(random(5, 15, 1), cuts=True)


DRAWN = [column_generation, ascents, cuts]


@pytest.mark.parametrize("drawn", DRAWN)
def test_a_tree_in_batches_is_one_tree_whoever_is_lost(drawn):
    plain = solve(drawn())
    results = []
    for count, losses in ((1, {}), (5, {0: 1, 1: 1, 3: 2})):
        cluster = Lossy(count, losses)
        results.append(solve(drawn(), parallel=Parallel(cluster=cluster, node_batch=3)))
    assert results[0].is_optimal
    assert results[0].objective == pytest.approx(plain.objective)
    assert cluster.number, "no subtree was sent"
    for result in results[1:]:
        assert told(result) == told(results[0])


class Lossy(Travelling):
    """Loses the worker of the tasks of such numbers, so often."""

    def __init__(self, count, losses):
        super().__init__(count, count, True)
        self.losses, self.number = dict(losses), {}

    def submit(self, work, piece):
        future = super().submit(work, piece)
        known = self.number.setdefault(future.piece, len(self.number))
        if self.losses.get(known, 0) > 0:
            self.losses[known] -= 1
            self.deaths[future.piece] = 1
        return future


@pytest.mark.parametrize("seed", seeds(8, fast=3))
@pytest.mark.parametrize("drawn", DRAWN)
def test_whoever_is_not_waited_for_finds_the_optimum_too(drawn, seed, monkeypatch):
    """Subtrees, each of a node, come back in any order; no bound on the way is better than the optimum."""
    monkeypatch.setattr(subtrees, "_ENOUGH", 0.0)
    optimum = solve(drawn()).objective
    visits: list[NodeVisit] = []
    result = solve(
        drawn(),
        parallel=Parallel(cluster=Travelling(seed, 1 + seed % 4), free_running=True),
        record=Record(on_node=visits.append),
    )
    assert result.is_optimal
    assert result.objective == pytest.approx(optimum)
    assert all(visit.dual_bound <= optimum + 1e-9 * abs(optimum) for visit in visits)
    numbers = [node.number for node in result.nodes]
    assert len(set(numbers)) == len(numbers) == len(visits)
    assert all(node.parent in numbers for node in result.nodes if node.parent is not None)


def test_a_limit_of_nodes_is_kept_and_a_checkpoint_goes_on_alone(tmp_path):
    optimum = solve(ascents()).objective
    for free in (False, True):
        path = tmp_path / f"run{free}"
        client = Travelling(3, 2)
        stopped = solve(
            ascents(), parallel=Parallel(cluster=client, free_running=free), stop=NodeLimit(12), checkpoint=path
        )
        assert stopped.termination is Termination.NODE_LIMIT
        assert len(stopped.nodes) <= 12
        assert stopped.dual_bound <= optimum
        resumed = solve(ascents(), checkpoint=path)
        assert resumed.is_optimal
        assert resumed.objective == pytest.approx(optimum)


def test_a_checkpoint_of_one_process_goes_on_on_a_cluster(tmp_path):
    path = tmp_path / "run"
    optimum = solve(ascents()).objective
    assert not solve(ascents(), stop=NodeLimit(4), checkpoint=path).is_optimal
    resumed = solve(ascents(), parallel=Parallel(cluster=Travelling(3, 2)), checkpoint=path)
    assert resumed.is_optimal
    assert resumed.objective == pytest.approx(optimum)


def test_a_subtree_that_ends_every_worker_stops_the_run_and_is_named(tmp_path):
    cluster = Lossy(2, {2: 9})
    path = tmp_path / "run"
    result = solve(ascents(), parallel=Parallel(cluster=cluster), checkpoint=path)
    assert result.termination is Termination.FAULT
    assert any("cannot be searched on the cluster: its worker was lost 3 times" in note for note in result.notes)
    optimum = solve(ascents()).objective
    assert result.dual_bound <= optimum
    assert solve(ascents(), checkpoint=path).objective == pytest.approx(optimum)


def test_processes_search_a_tree():
    plain, processes = solve(ascents()), Processes(2)
    try:
        for free in (False, True):
            result = solve(ascents(), parallel=Parallel(cluster=processes, free_running=free))
            assert result.is_optimal
            assert result.objective == pytest.approx(plain.objective)
    finally:
        processes.close()


def test_a_problem_that_cannot_travel_is_refused_before_any_work():
    problem = column_generation()
    problem.held = open(__file__)  # noqa: SIM115
    with problem.held, pytest.raises(InputError, match="expected a problem that pickle writes"):
        solve(problem, parallel=Parallel(cluster="processes"))


LOCAL = Parallel(cluster="processes")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (lambda: {"parallel": Parallel(cluster=3)}, "expected a client of Dask, an address or a Cluster"),
        (lambda: {"parallel": LOCAL, "record": Record(certificate="proof")}, "not available with certificate"),
        (lambda: {"parallel": LOCAL, "stop": DepthLimit(3)}, "not available with a DepthLimit"),
        (lambda: {"parallel": LOCAL, "relaxation": True}, "not available with relaxation"),
        (lambda: {"parallel": Parallel(free_running=True)}, "needs a cluster"),
        (lambda: {"parallel": Parallel(free_running=2, cluster="processes")}, "free_running: expected True or False"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, said):
    with pytest.raises(InputError, match=said):
        solve(column_generation(), **settings())
