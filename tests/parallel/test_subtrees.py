"""Subtrees on a cluster: the same tree, and the optimum, for any workers and losses."""

import time

import pytest

from colgen import DepthLimit, InputError, NodeLimit, Parallel, Record, Termination, solve
from colgen.core.result import NodeVisit
from colgen.parallel import subtrees
from colgen.parallel.clusters import Processes
from colgen.problems.assignment import Assignment, random
from tests.assignment import assignment
from tests.parallel.scripted import Travelling
from tests.parallel.test_same_run import summary
from tests.sweeps import seeds


def column_generation():
    """One oracle per machine."""
    return assignment(4, 10, 5)


def ascents():
    """Nodes bounded by a kernel, and strong branching."""
    return Assignment(random(5, 20, 2))


def cuts():
    """Rows that each worker separates itself."""
    return Assignment(random(5, 15, 1), cuts=True)


DRAWN = [column_generation, ascents, cuts]


@pytest.mark.parametrize("drawn", DRAWN)
def test_losses_do_not_change_a_tree_in_batches(drawn):
    plain = solve(drawn())
    results = []
    for count, losses in ((1, {}), (5, {0: 1, 1: 1, 3: 2})):
        cluster = Lossy(count, losses)
        results.append(solve(drawn(), parallel=Parallel(cluster=cluster, node_batch=3)))
    assert results[0].is_optimal
    assert results[0].objective == pytest.approx(plain.objective)
    assert cluster.number, "no subtree was sent"
    for result in results[1:]:
        assert summary(result) == summary(results[0])


class Lossy(Travelling):
    """Loses the worker of task ``k`` ``losses[k]`` times."""

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
def test_free_running_finds_the_optimum(drawn, seed, monkeypatch):
    """Subtrees of one node each return in any order; no intermediate bound is better than the optimum."""
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


def test_the_node_limit_holds_and_one_process_resumes_the_checkpoint(tmp_path):
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


def test_a_cluster_resumes_a_checkpoint_of_one_process(tmp_path):
    path = tmp_path / "run"
    optimum = solve(ascents()).objective
    assert not solve(ascents(), stop=NodeLimit(4), checkpoint=path).is_optimal
    began = time.process_time()
    resumed = solve(ascents(), parallel=Parallel(cluster=Travelling(3, 2)), checkpoint=path)
    assert resumed.is_optimal
    assert resumed.processor_seconds <= time.process_time() - began  # its workers are this process
    assert resumed.objective == pytest.approx(optimum)


def test_a_subtree_that_ends_every_worker_stops_the_run_and_is_reported(tmp_path):
    cluster = Lossy(2, {2: 9})
    path = tmp_path / "run"
    result = solve(ascents(), parallel=Parallel(cluster=cluster), checkpoint=path)
    assert result.termination is Termination.FAULT
    assert any("lost 3 times" in note for note in result.notes)
    optimum = solve(ascents()).objective
    assert result.dual_bound <= optimum
    assert solve(ascents(), checkpoint=path).objective == pytest.approx(optimum)


def test_processes_search_a_tree():
    plain, processes = solve(ascents()), Processes(2)
    try:
        for free in (False, True):
            began = time.process_time()
            result = solve(ascents(), parallel=Parallel(cluster=processes, free_running=free))
            assert result.is_optimal
            assert result.objective == pytest.approx(plain.objective)
            assert result.processor_seconds > time.process_time() - began  # those of the workers are added
    finally:
        processes.close()


def test_a_problem_that_cannot_be_pickled_is_refused_before_any_work():
    problem = column_generation()
    problem.held = open(__file__)  # noqa: SIM115
    with problem.held, pytest.raises(InputError, match=r"cluster.*pickle"):
        solve(problem, parallel=Parallel(cluster="processes"))


LOCAL = Parallel(cluster="processes")


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        (lambda: {"parallel": Parallel(cluster=3)}, "expected a client of Dask, an address or a Cluster"),
        (lambda: {"parallel": LOCAL, "record": Record(certificate="proof")}, "not available with certificate"),
        (lambda: {"parallel": LOCAL, "stop": DepthLimit(3)}, "not available with a DepthLimit"),
        (lambda: {"parallel": LOCAL, "relaxation": True}, "not available with relaxation"),
        (lambda: {"parallel": Parallel(free_running=True)}, "needs a cluster"),
        (lambda: {"parallel": Parallel(free_running=2, cluster="processes")}, "free_running: expected True or False"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, match):
    with pytest.raises(InputError, match=match):
        solve(column_generation(), **settings())
