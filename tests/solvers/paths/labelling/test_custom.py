"""User-defined resources, against the enumeration of all walks."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling import CustomResource, Labelling, Network, attempts
from tests.solvers.paths.labelling import enumerated
from tests.solvers.paths.labelling.enumerated import Drawn, cost, draw

pytestmark = pytest.mark.timeout(240)

Floats = NDArray[np.float64]

SEEDS = 12


# --- resources -------------------------------------------------------------------------------------------------------


def _sum(before: Any, arc: Any, vertex: Any, after: Any) -> bool:
    after[0] = before[0] + arc[0]
    return bool(after[0] <= vertex[1])


def _less(one: Any, other: Any) -> bool:
    return bool(one[0] <= other[0])


def _time(before: Any, arc: Any, vertex: Any, after: Any) -> bool:
    after[0] = max(before[0] + arc[0], vertex[0])
    return bool(after[0] <= vertex[1])


def _time_back(before: Any, arc: Any, vertex: Any, after: Any) -> bool:
    after[0] = max(before[0] + arc[0], -vertex[1])
    return bool(after[0] <= -vertex[0])


def _time_joins(forward: Any, backward: Any, arc: Any, vertex: Any) -> bool:
    return bool(max(forward[0] + arc[0], vertex[0]) + backward[0] <= 0.0)


def _parity(before: Any, arc: Any, vertex: Any, after: Any) -> bool:
    after[0] = (before[0] + arc[0]) % 2.0
    return bool(vertex[0] < 6.0 or after[0] == vertex[1] % 2.0)


def _same(one: Any, other: Any) -> bool:
    return bool(one[0] == other[0])


def _peak(before: Any, arc: Any, vertex: Any, after: Any) -> bool:
    """Goods on board and their maximum; goods carried from the depot must return."""
    after[0] = before[0] + arc[0] - 2.0
    after[1] = max(before[1], after[0])
    return bool(after[1] - min(after[0], 0.0) <= vertex[1])


def _peak_less(one: Any, other: Any) -> bool:
    # Goods must return, so only equal loads are compared: a lower peak permits more.
    return bool(one[0] == other[0] and one[1] <= other[1])


class Kind(NamedTuple):
    """A user-defined resource with its start and order."""

    extend: Callable[..., bool]
    dominates: Callable[..., bool]
    start: tuple[float, ...]
    order: tuple[int, float, float] | None = None
    backward: Callable[..., bool] | None = None
    joins: Callable[..., bool] | None = None


KINDS = {
    "sum": Kind(_sum, _less, (0.0,)),
    "sum from two": Kind(_sum, _less, (2.0,)),
    "time": Kind(_time, _less, (3.0,)),
    "time that orders": Kind(_time, _less, (0.0,), order=(0, 0.0, 60.0)),
    "time in both directions": Kind(_time, _less, (0.0,), backward=_time_back, joins=_time_joins),
    "time in both directions that orders": Kind(
        _time, _less, (0.0,), order=(0, 0.0, 60.0), backward=_time_back, joins=_time_joins
    ),
    "parity": Kind(_parity, _same, (1.0,)),
    "peak": Kind(_peak, _peak_less, (0.0, 0.0)),
}


@functools.cache
def _written(name: str) -> CustomResource:
    """Return a resource without data, compiled once."""
    kind = KINDS[name]
    start_back = None if kind.backward is None else [0.0] * len(kind.start)
    return CustomResource(
        kind.extend, kind.dominates, kind.start, order=kind.order, backward=kind.backward, start_backward=start_back,
        joins=kind.joins,
    )  # fmt: skip


def custom(name: str, arcs: Floats, vertices: Floats, sink: int) -> CustomResource:
    """Return a resource with data."""
    found = copy.copy(_written(name))
    found.arc_data, found.vertex_data = arcs, vertices
    if found.both:
        found.start_backward = np.array([-vertices[sink, 1]])
    return found


def data(seed: int, drawn: Drawn, name: str) -> tuple[Floats, Floats]:
    """Return consumption of arcs and limits of vertices, some of them tight."""
    rng, n = np.random.default_rng([seed, 7]), drawn.network.num_vertices
    lower = rng.integers(0, 9, n).astype(float)
    upper = lower + rng.integers(0, 14, n)
    if rng.random() < 0.5:
        upper[drawn.network.sink] += 15.0
    if "orders" in name:
        arcs = rng.integers(1, 7, drawn.network.num_arcs)
    else:
        arcs = rng.integers(0, 7, drawn.network.num_arcs)
    return arcs.astype(float)[:, None], np.column_stack([lower, upper])


# --- enumeration -----------------------------------------------------------------------------------------------------


def walks(
    drawn: Drawn, kind: Kind, arcs: Floats, vertices: Floats, memory: NDArray[np.bool_] | None
) -> Iterator[list[int]]:
    """Yield the arcs of every walk within the limits that ``extend`` permits; without memory: elementary ones."""

    def own(mine: list[float], arc: int, head: int) -> list[float] | None:
        after = [math.nan] * len(mine)
        return after if kind.extend(mine, arcs[arc], vertices[head], after) else None

    return enumerated.walks(drawn.network, drawn.resources, memory, own=own, begin=list(kind.start))


@pytest.fixture(params=[False, True], ids=["small", "with bounds"])
def bounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Choose whether bounds over smaller neighbourhoods are computed in small networks."""
    if request.param:
        monkeypatch.setattr(attempts, "_SMALL", 1)
        monkeypatch.setattr(attempts, "_SIZES", (1, 2))
        monkeypatch.setattr(attempts, "_WORTH", (1, 1, 1))
        monkeypatch.setattr(attempts, "_DEARER", 1e9)
    return bool(request.param)


@pytest.mark.parametrize("direction", ["both", "forward"])
@pytest.mark.parametrize("name", KINDS)
def test_all_searches_agree_with_enumeration(name: str, direction: Any, bounds: bool) -> None:
    kind = KINDS[name]
    for seed in range(SEEDS):
        drawn = draw(seed, windows=seed % 3 != 0)
        sink = drawn.network.sink
        arcs, vertices = data(seed, drawn, name)
        mine = custom(name, arcs, vertices, sink)
        elementary, cuts = seed % 2 == 0, seed % 5 < 3
        duals = drawn.duals if cuts else None
        solver = Labelling(
            drawn.network,
            [*drawn.resources, mine],
            neighbourhoods="elementary" if elementary else drawn.neighbourhoods,
            direction=direction,
        )
        if not elementary:
            allowed = {
                tuple(w): cost(drawn, w, cuts=cuts) for w in walks(drawn, kind, arcs, vertices, drawn.neighbourhoods)
            }
        simple = {tuple(w): cost(drawn, w, cuts=cuts) for w in walks(drawn, kind, arcs, vertices, None)}
        if elementary:
            allowed = simple
        best = min(allowed.values(), default=math.inf)

        found = solver.price(drawn.costs, rank_one=duals, routes=1 + seed % 4)
        assert found.finished
        assert found.bound == best, seed
        assert best == math.inf or found.costs[0] == best, seed
        for mode in ("exact", "relaxed", "sparse", "tabu"):
            found = solver.price(drawn.costs, rank_one=duals, mode=mode, routes=5)
            for k in range(len(found)):
                assert allowed[tuple(found.arcs_of(k))] == found.costs[k], (seed, mode)

        gap = min(simple.values(), default=0.0) + 8.0
        listed = solver.enumerate(drawn.costs, gap, rank_one=duals)
        least: dict[frozenset[int], float] = {}
        for walk, paid in simple.items():
            if paid < gap:
                visited = frozenset(drawn.network.heads[list(walk)].tolist())
                least[visited] = min(least.get(visited, math.inf), float(drawn.costs[list(walk)].sum()))
        assert listed.finished
        assert {
            frozenset(listed.route(k)[1:].tolist()): float(drawn.costs[listed.arcs_of(k)].sum())
            for k in range(len(listed))
        } == least, seed
        if mine.both:
            through = solver.completion(drawn.costs, rank_one=duals)
            for arc in range(drawn.network.num_arcs):
                assert through.arcs[arc] == min((c for w, c in allowed.items() if arc in w), default=math.inf), seed


def test_the_arc_into_the_sink_is_extended_too() -> None:
    network = Network(4, [0, 1, 0, 2], [1, 3, 2, 3], 0, 3)
    costs, hours = np.array([0.5, 0.5, 2.5, 2.5]), np.array([[4.0], [5.0], [2.0], [2.0]])
    mine = custom("sum", hours, np.column_stack([np.zeros(4), np.full(4, 8.0)]), 3)
    for direction in ("both", "forward"):
        found = Labelling(network, [mine], direction=direction).price(costs)  # type: ignore[arg-type]
        assert (found.bound, found.route(0).tolist()) == (5.0, [0, 2, 3])


def test_data_that_do_not_fit_the_network_raise() -> None:
    network = Network.complete(3)
    for arcs, vertices, message in (
        (np.zeros((3, 1)), np.zeros((5, 2)), "arc_data: expected 12 rows, one per arc, got 3"),
        (np.zeros((12, 1)), np.zeros((4, 2)), "vertex_data: expected 5 rows, one per vertex, got 4"),
    ):
        with pytest.raises(ArrayError, match=message):
            Labelling(network, [custom("sum", arcs, vertices, 4)])
    with pytest.raises(ArrayError, match="at most one CustomResource, got 2"):
        Labelling(network, [custom("sum", np.zeros((12, 1)), np.zeros((5, 2)), 4)] * 2)


def test_invalid_user_functions_raise() -> None:
    def forgetful(before: Any, arc: Any, vertex: Any, after: Any) -> None:
        after[0] = before[0] + arc[0]

    for extend in (forgetful, _less):
        with pytest.raises(ArrayError, match=r"expected a function of 4 vectors .* `return`"):
            CustomResource(extend, _less, [0.0])
    with pytest.raises(ArrayError, match="dominates_backward: expected backward"):
        CustomResource(_sum, _less, [0.0], dominates_backward=_less)
