"""Time limits of long computations on clusters: they are checked often, and partial results are valid."""

import time

import numpy as np
import pytest

from colgen.solvers.clusters import dual_proof, persistency, subset, triangle_dual
from colgen.solvers.clusters.clustering import local_search
from colgen.solvers.clusters.contraction import contract
from colgen.solvers.clusters.dual_proof import settle
from colgen.solvers.clusters.persistency import contract_only, find_persistent
from colgen.solvers.clusters.star_dual import star_bound
from colgen.solvers.clusters.subset import ascend, search
from colgen.solvers.clusters.triangle_dual import triangle_bound
from colgen.solvers.stopping import Pace, after
from tests.solvers.clusters.test_dual_proof import partitions, score
from tests.twins.coreference import symmetric


class After:
    """A time limit that expires at the n-th check, and records the longest time between two checks."""

    def __init__(self, questions=10**9):
        self.left = questions
        self.asked, self.longest = time.perf_counter(), 0.0

    def __call__(self):
        now = time.perf_counter()
        self.longest, self.asked = max(self.longest, now - self.asked), now
        self.left -= 1
        return self.left < 0


def signs(n, seed=0):
    return symmetric(n, np.random.default_rng(seed).choice([-1.0, 1.0], n * (n - 1) // 2))


CALLS = {
    "local search": lambda scores, expired: local_search(scores, np.arange(len(scores)), kicks=50, expired=expired),
    "settle": lambda scores, expired: settle(scores, np.arange(len(scores)), largest=200, expired=expired),
    "contract": lambda scores, expired: contract(scores, np.zeros(len(scores), dtype=int), expired=expired),
    "triangles": lambda scores, expired: triangle_bound(scores, np.arange(len(scores)), expired=expired),
    "stars": lambda scores, expired: star_bound(scores, np.arange(len(scores)), expired=expired),
    "find_persistent": lambda scores, expired: find_persistent(scores, expired=expired),
    "contract_only": lambda scores, expired: contract_only(scores, expired=expired),
    "ascend": lambda scores, expired: ascend(scores, np.full(len(scores), -1.0), np.arange(60), expired=expired),
    "search": lambda scores, expired: search(scores, np.full(len(scores), -4.0), expired=after(1.0, expired)),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_limit_is_checked_often(name):
    CALLS[name](signs(60), After())  # compiles
    patience = After(3)
    CALLS[name](signs(300), patience)
    patience()
    assert patience.longest < 0.4  # 0.1 s on an idle machine


@pytest.mark.parametrize("questions", range(12))
@pytest.mark.parametrize("seed", range(6))
def test_partial_decisions_are_correct(seed, questions, monkeypatch):
    """The optimum stays, and the bound holds, wherever time runs out."""
    monkeypatch.setattr(persistency, "_SMALLEST_BOUNDED", 3)
    monkeypatch.setattr(dual_proof, "_SMALL", 2)
    monkeypatch.setattr(triangle_dual, "_LOOK", 1)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 8))
    scores = symmetric(n, rng.integers(-3, 4, n * (n - 1) // 2) if seed % 2 else rng.normal(size=n * (n - 1) // 2))
    best = max(score(scores, labels) for labels in partitions(n))
    for left in (find_persistent(scores, expired=After(questions)), contract_only(scores, expired=After(questions))):
        items = sorted(int(i) for part in [*left.settled, *left.groups] for i in part)
        assert items == list(range(n))
        known = sum(score(scores[np.ix_(c, c)], np.zeros(len(c))) for c in [*left.settled, *left.groups])
        found = known + max(score(left.scores, labels) for labels in partitions(len(left.groups)))
        assert found == pytest.approx(best, abs=1e-9)
        assert left.bound >= best - 1e-9
        assert known + score(left.scores, left.start) <= best + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_an_interrupted_search_has_the_same_result(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    scores, profits = symmetric(14, rng.normal(size=91)), rng.normal(size=14) - 1.0
    whole = search(scores, profits)
    monkeypatch.setattr(subset, "_FIRST_LOOK", 5)
    sliced = search(scores, profits)
    assert sliced.complete
    assert (sliced.members == whole.members).all()
    assert sliced.values.tolist() == whole.values.tolist()
    assert (sliced.total, sliced.nodes) == (whole.total, whole.nodes)


@pytest.mark.parametrize("questions", range(6))
@pytest.mark.parametrize("seed", range(10))
def test_a_search_that_is_stopped_bounds_all_packings(seed, questions, monkeypatch):
    monkeypatch.setattr(subset, "_FIRST_LOOK", 30)
    rng = np.random.default_rng(seed)
    n = 6
    scores, profits = symmetric(n, rng.normal(size=15)), 0.5 * rng.normal(size=n)
    found = search(scores, profits, expired=After(questions))
    for labels in partitions(n):
        labels = np.asarray(labels)
        worths = [
            score(scores[np.ix_(c, c)], np.zeros(len(c))) + profits[c].sum()
            for c in (np.flatnonzero(labels == k) for k in range(max(labels) + 1))
        ]
        assert sum(max(worth, 0.0) for worth in worths) <= found.total + 1e-9


@pytest.mark.parametrize("exponent", [-30, -20, -1, 1, 20, 30])
@pytest.mark.parametrize("seed", range(6))
def test_a_power_of_two_changes_numbers_and_nothing_else(seed, exponent):
    rng = np.random.default_rng(seed)
    n, factor = 36, 2.0**exponent
    scores = symmetric(n, rng.normal(size=n * (n - 1) // 2) if seed % 2 else rng.choice([-1.0, 1.0], n * (n - 1) // 2))
    profits = rng.normal(size=n) - 2.0
    labels, value = local_search(scores, np.arange(n), kicks=20)
    again = local_search(factor * scores, np.arange(n), kicks=20)
    assert (again[0] == labels).all()
    assert again[1] == factor * value
    assert (contract(factor * scores, labels) == contract(scores, labels)).all()
    for kernel in (find_persistent, contract_only):
        one, other = kernel(scores), kernel(factor * scores)
        assert [g.tolist() for g in other.groups] == [g.tolist() for g in one.groups]
        assert [g.tolist() for g in other.settled] == [g.tolist() for g in one.settled]
        assert other.bound == factor * one.bound
        assert (other.scores == factor * one.scores).all()
    for found, scaled in (
        (search(scores, profits, most=3000), search(factor * scores, factor * profits, most=3000)),
        (ascend(scores, profits, np.arange(n)), ascend(factor * scores, factor * profits, np.arange(n))),
    ):
        assert (scaled.members == found.members).all()
        assert (scaled.values == factor * found.values).all()
        assert (scaled.total, scaled.nodes) == (factor * found.total, found.nodes)


def test_time_is_up_after_some_seconds_or_at_the_callers_request(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    expired, stopped = after(2.0), after(2.0, lambda: now[0] > 101.0)
    assert not expired()
    assert not stopped()
    now[0] = 101.5
    assert not expired()
    assert stopped()
    now[0] = 102.0
    assert expired()


def test_the_work_of_a_call_matches_its_target_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    pace = Pace(1000, 0.1, growth=4.0, least=50.0)

    def call(seconds, done=None):
        pace.start()
        now[0] += seconds
        pace.stop(done)
        return pace.work

    assert call(0.2) == pytest.approx(500.0)
    assert call(0.0) == pytest.approx(2000.0)  # at most four times as much
    assert call(0.1, done=300) == pytest.approx(300.0)  # by what it has done
    assert call(60.0) == 50.0
