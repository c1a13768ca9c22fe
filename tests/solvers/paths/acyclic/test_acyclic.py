"""Paths in acyclic networks and in networks with an integer time, against the enumeration of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.acyclic import Acyclic, States, task
from colgen.solvers.paths.labelling import Network
from tests.solvers.paths.labelling.enumerated import Drawn, cost, draw, walks
from tests.solvers.paths.labelling.test_boxes import boxes_of, charge

pytestmark = pytest.mark.timeout(120)

Floats = NDArray[np.float64]


class Timed(NamedTuple):
    """A random network with durations, times and costs of times."""

    drawn: Drawn
    durations: NDArray[np.int64]
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    table: Floats
    allowed: NDArray[np.bool_]
    waiting: bool

    def states(self, *, every: bool = False) -> States:
        """Return the states; ``every``: also at times that are not allowed."""
        return States.timed(
            self.drawn.network, self.durations, self.upper, self.lower, costs=self.table,
            allowed=None if every else self.allowed, waiting=self.waiting,
        )  # fmt: skip

    def forbidden(self, states: States) -> NDArray[np.bool_]:
        """Return the mask of arcs between states at times that are not allowed."""
        n, (_, times) = self.drawn.network.num_vertices, self.table.shape
        time = (states.states[states.tails] % (n * times + 1)) // n
        return np.asarray((states.arcs >= 0) & ~self.allowed[states.arcs, time])

    def costs_of_times(self, arcs: list[int], *, weight: float = 1.0) -> float:
        """Return the least cost of times along a walk; infinity if it is infeasible."""
        costs = {0: 0.0}
        for arc in arcs:
            head, after = int(self.drawn.network.heads[arc]), dict[int, float]()
            for time, paid in costs.items():
                last = int(self.upper[self.drawn.network.tails[arc]]) if self.waiting else time
                for leaving in range(time, last + 1):
                    arrival = leaving + int(self.durations[arc])
                    if self.waiting:
                        arrival = max(arrival, int(self.lower[head]))
                    if self.allowed[arc, leaving] and self.lower[head] <= arrival <= self.upper[head]:
                        total = paid + weight * self.table[head, arrival]
                        after[arrival] = min(after.get(arrival, math.inf), total)
            costs = after
        return min(costs.values(), default=math.inf)

    def walks(self, memory: Any, *, cycle: bool = False) -> Iterator[tuple[list[int], float]]:
        """Yield feasible walks and their costs of times."""
        network = self.drawn.network

        def later(time: int, arc: int, head: int) -> int | None:
            time = max(time + int(self.durations[arc]), int(self.lower[head]) if self.waiting else 0)
            return time if time <= self.upper[head] else None

        for arcs in walks(network, [], memory, own=later, begin=0):
            paid = self.costs_of_times(arcs)
            vertices = network.heads[arcs]
            if paid < math.inf and not (cycle and (vertices[2:] == vertices[:-2]).any()):
                yield arcs, paid


def draw_timed(seed: int) -> Timed:
    drawn = draw(seed, windows=False)
    rng = np.random.default_rng(seed)
    n, arcs = drawn.network.num_vertices, drawn.network.num_arcs
    upper = rng.integers(3, 8, n)
    lower = np.where(rng.random(n) < 0.3, rng.integers(0, 4, n), 0)
    lower[drawn.network.source] = 0
    most = int(upper.max())
    table = rng.integers(-5, 6, (n, most + 1)).astype(float)
    allowed = rng.random((arcs, most + 1)) < rng.choice([0.7, 1.0])
    return Timed(drawn, rng.integers(1, 4, arcs), upper, lower, table, allowed, bool(rng.random() < 0.4))


def option(name: str, drawn: Drawn) -> tuple[dict[str, Any], Any]:
    """Return the options of the solver and the neighbourhoods of the enumeration."""
    none = np.zeros_like(drawn.neighbourhoods)
    return {
        "none": ({}, none),
        "cycle": ({"cycle": 2}, none),
        "ng": ({"neighbourhoods": drawn.neighbourhoods}, drawn.neighbourhoods),
        "elementary": ({"neighbourhoods": "elementary"}, None),
    }[name]


@pytest.mark.parametrize("name", ["none", "cycle", "ng", "elementary"])
@pytest.mark.parametrize("extra", ["", "cuts", "boxes", "cuts and boxes"])
def test_routes_completions_and_lists_agree_with_enumeration(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = limited = 0
    for seed in range(30):
        timed = draw_timed(seed)
        drawn, network = timed.drawn, timed.drawn.network
        options, memory = option(name, drawn)
        none = np.zeros_like(drawn.neighbourhoods)
        if name == "cycle" and timed.waiting:
            timed = timed._replace(waiting=False)
        every_time = seed % 3 == 0
        if next(timed.walks(none), None) is None:
            with pytest.raises(ArrayError, match="path from the source"):
                timed.states()
            continue
        mine = Acyclic(timed.states(every=every_time), **options)
        tried += 1
        monkeypatch.setattr(task, "_SMALL", [0, 20_000_000][seed % 2])
        boxes = boxes_of(seed, drawn, 1.0) if "boxes" in extra else None
        given: dict[str, Any] = {"rank_one": drawn.duals if "cuts" in extra else None, "boxes": boxes}
        if every_time:
            given["forbidden_states"] = timed.forbidden(mine.states)
        if seed % 5 == 0:
            closed = np.random.default_rng(seed).random(network.num_arcs) < 0.1
            given["forbidden"] = closed
            timed.allowed[closed] = False

        def paid(arcs: list[int], times: float) -> float:
            total = cost(drawn, arcs, cuts="cuts" in extra) + times  # noqa: B023
            return total if boxes is None else total + charge(drawn, boxes, arcs)  # noqa: B023

        every = [(paid(arcs, times), arcs) for arcs, times in timed.walks(memory, cycle=name == "cycle")]
        least = min((total for total, _ in every), default=math.inf)
        found = mine.price(drawn.costs, **given)
        assert found.finished
        assert found.bound == pytest.approx(least)
        assert (found.costs[:1].tolist() or [math.inf]) == pytest.approx([least])
        some = mine.price(drawn.costs, routes=5, cutoff=1.0, **given)
        assert some.bound == pytest.approx(min(least, 1.0))
        assert (some.costs < 1.0).all()
        rough = mine.price(drawn.costs, routes=5, mode="relaxed", **given)
        for routes in (found, some, rough):
            for k in range(len(routes)):
                arcs = routes.arcs_of(k).tolist()
                assert any(arcs == other for _, other in every)
                assert routes.costs[k] == pytest.approx(paid(arcs, float(routes.state_costs[k])))
                assert routes.state_costs[k] >= timed.costs_of_times(arcs) - 1e-9

        expected = np.full(network.num_arcs, math.inf)
        for total, arcs in every:
            expected[arcs] = np.minimum(expected[arcs], total)
        through = mine.completion(drawn.costs, **given)
        assert through.arcs == pytest.approx(expected)
        assert through.bound == pytest.approx(least)
        assert min(through.states) == pytest.approx(least)
        cut = mine.completion(drawn.costs, cutoff=2.0, **given)
        assert np.where(cut.arcs < 2.0, cut.arcs, 2.0) == pytest.approx(np.minimum(expected, 2.0))
        short = mine.completion(drawn.costs, effort=1.0, **given)
        limited += not short.finished
        if not short.finished:
            assert (short.arcs == -math.inf).all()
            assert short.bound is None

        own = np.random.default_rng(seed).integers(0, 9, network.num_arcs).astype(float)
        gap = float(np.random.default_rng(seed).integers(-8, 9))
        listed = mine.enumerate(drawn.costs, gap, costs=own, **given)
        sets: dict[tuple[int, ...], float] = {}
        for arcs, times in timed.walks(None):
            if paid(arcs, times) < gap:
                visited = tuple(sorted(network.heads[arcs]))
                sets[visited] = min(sets.get(visited, math.inf), own[arcs].sum() + times)
        assert listed.finished
        costs = {
            tuple(sorted(listed.route(k)[1:])): own[listed.arcs_of(k)].sum() + listed.state_costs[k]
            for k in range(len(listed))
        }
        if not timed.waiting:  # with waiting one route has several costs of times
            assert costs == pytest.approx(sets)
        else:
            assert costs.keys() == sets.keys()
        if len(sets) > 1:
            assert not mine.enumerate(drawn.costs, gap, limit=1, **given).finished
    assert tried > 15
    assert bool(limited) == (name != "none" or bool(extra))  # a search without labels has no effort


def draw_acyclic(seed: int) -> Drawn:
    """Return a random network without cycles, its vertices in any order."""
    drawn = draw(seed, windows=False)
    network = drawn.network
    rank = np.random.default_rng(seed).permutation(network.num_vertices)
    rank[[network.source, network.sink]] = -1, network.num_vertices
    kept = rank[network.tails] < rank[network.heads]
    fewer = Network(
        network.num_vertices, network.tails[kept], network.heads[kept], network.source, network.sink
    )  # fmt: skip
    return drawn._replace(network=fewer, costs=drawn.costs[kept])


@pytest.mark.parametrize("extra", ["", "cuts", "boxes"])
def test_acyclic_networks_need_no_memory(extra: str) -> None:
    tried = 0
    for seed in range(40):
        drawn = draw_acyclic(seed)
        every = list(walks(drawn.network, [], None))
        if not every:
            continue
        tried += 1
        mine = Acyclic(States.of_network(drawn.network))
        boxes = boxes_of(seed, drawn, 1.0) if extra == "boxes" else None
        given: dict[str, Any] = {"rank_one": drawn.duals if extra == "cuts" else None, "boxes": boxes}
        paid = [
            cost(drawn, arcs, cuts=extra == "cuts") + (0.0 if boxes is None else charge(drawn, boxes, arcs))
            for arcs in every
        ]
        found = mine.price(drawn.costs, routes=4, **given)
        assert found.bound == pytest.approx(min(paid))
        if found.bound < math.inf:
            assert found.costs[0] == pytest.approx(min(paid))
        through = mine.completion(drawn.costs, **given)
        for arc in range(drawn.network.num_arcs):
            expected = min((p for p, arcs in zip(paid, every, strict=True) if arc in arcs), default=math.inf)
            assert through.arcs[arc] == pytest.approx(expected)
        closed = np.random.default_rng(seed).random(drawn.network.num_arcs) < 0.2
        fewer = mine.price(drawn.costs, forbidden=closed, **given)
        left = [p for p, arcs in zip(paid, every, strict=True) if not closed[arcs].any()]
        assert fewer.bound == pytest.approx(min(left, default=math.inf))
        gap = float(np.median(paid)) if max(paid) < math.inf else 0.0
        listed = mine.enumerate(drawn.costs, gap, **given)
        sets = {tuple(sorted(drawn.network.heads[a])) for p, a in zip(paid, every, strict=True) if p < gap}
        assert {tuple(sorted(listed.route(k)[1:])) for k in range(len(listed))} == sets
    assert tried > 20
