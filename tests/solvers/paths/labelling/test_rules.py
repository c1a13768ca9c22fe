"""Rules of paths, against the enumeration of all walks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling import (
    Alternatives,
    BoxDuals,
    Exclude,
    Labelling,
    Network,
    Pairs,
    RankOneDuals,
    Resource,
    attempts,
)
from tests.solvers.paths.labelling.enumerated import Drawn, cost, walks
from tests.solvers.paths.labelling.test_boxes import charge

pytestmark = pytest.mark.timeout(240)

Mask = NDArray[np.bool_]


class Ruled(NamedTuple):
    """A random problem with rules."""

    drawn: Drawn
    alternatives: list[list[int]]
    sets: list[list[int]]
    pickups: list[int]
    deliveries: list[int]
    boxes: BoxDuals

    @property
    def rules(self) -> list[Any]:
        return [Alternatives(self.alternatives), Exclude(self.sets), Pairs(self.pickups, self.deliveries)]


def draw(seed: int) -> Ruled:
    """Up to three requests and alternatives among seven vertices; times satisfy the triangle inequality or not."""
    rng = np.random.default_rng(seed)
    inner = int(rng.integers(4, 7))
    complete = Network.complete(inner)
    kept = rng.random(complete.num_arcs) < rng.choice([0.7, 0.95, 1.0])
    tails, heads = complete.tails[kept], complete.heads[kept]
    if rng.random() < 0.2:
        again = rng.random(len(tails)) < 0.2
        tails, heads = np.append(tails, tails[again]), np.append(heads, heads[again])
    n = inner + 2
    network = Network(n, tails, heads, 0, n - 1)
    order = (rng.permutation(inner) + 1).tolist()
    requests = int(rng.integers(0, inner // 2 + 1))
    pickups, deliveries, others = order[:requests], order[requests : 2 * requests], order[2 * requests :]
    alternatives = [others] if len(others) > 1 and rng.random() < 0.5 else []
    sets = [rng.permutation(order)[: rng.integers(2, 4)].tolist() for _ in range(rng.integers(0, 3))]
    points = rng.integers(0, 6, (n, 2))
    points[-1] = points[0]
    distance = np.abs(points[:, None] - points[None]).sum(axis=2).astype(float)
    metric = bool(rng.random() < 0.7)
    times = distance[tails, heads] + 1.0 if metric else rng.integers(1, 6, len(tails)).astype(float)
    lower = rng.integers(0, 12, n).astype(float)
    upper = lower + rng.integers(5, 25, n)
    lower[[0, -1]], upper[[0, -1]] = 0.0, 45.0
    resources = [Resource(times, upper, lower, name="time")]
    size = rng.integers(1, 5, n).astype(float)
    size[[0, -1]] = 0.0
    if rng.random() < 0.8:
        size[others] *= rng.random() < 0.3
    size[deliveries] = -size[pickups]
    if rng.random() < 0.8:
        resources.append(Resource.on_vertices(network, size, float(rng.integers(4, 9)), name="load"))
    prize = np.zeros(n)
    prize[rng.permutation(order)[: rng.integers(1, inner + 1)]] = 12
    costs = distance[tails, heads] - prize[heads] if metric else rng.integers(-9, 8, len(tails)).astype(float)
    if rng.random() < 0.3:
        costs = costs + rng.integers(0, 3, len(tails))
    count = int(rng.integers(1, 4))
    divisors = rng.choice([2, 2, 3], count)
    numerators = np.where(rng.random((count, n)) < 0.6, 1, 0)
    numerators[:, [0, n - 1]] = 0
    memory = rng.random((count, n)) < 0.7
    if rng.random() < 0.5:
        memory[:, deliveries] = True
    duals = RankOneDuals(numerators, divisors, memory, rng.integers(0, 9, count).astype(float))
    parted = rng.random((2, 2)) < 0.5
    some = rng.permutation(order)[:4].reshape(2, 2)
    ins, outs = (np.array([np.isin(np.arange(n), s[p == side]) for s, p in zip(some, parted, strict=True)])
                 for side in (True, False))  # fmt: skip
    boxes = BoxDuals(ins, outs, np.array([float(rng.integers(-6, 7)), [3.0, math.inf][seed % 2]]))
    return Ruled(Drawn(network, resources, costs, rng.random((n, n)) < 0.5, duals), alternatives, sets, pickups,
                 deliveries, boxes)  # fmt: skip


def classes_of(ruled: Ruled) -> NDArray[np.int64]:
    """Return a vertex of the class of each vertex."""
    found = np.arange(ruled.drawn.network.num_vertices)
    for one in (*ruled.alternatives, *zip(ruled.pickups, ruled.deliveries, strict=True)):
        found[list(one)] = one[0]
    return found


def allowed(ruled: Ruled, remembered: Mask, most: int = 10**9) -> list[list[int]]:
    """Return the walks that satisfy the rules, with ng-memory of classes."""
    network, classes = ruled.drawn.network, classes_of(ruled)
    memory = remembered.copy()
    if memory.any():
        np.fill_diagonal(memory, True)
        memory[ruled.deliveries] = True
    requests = {p: k for k, p in enumerate(ruled.pickups)}
    ends = {d: k for k, d in enumerate(ruled.deliveries)}

    def own(state: Any, _arc: int, head: int) -> Any:
        kept, opened, used, length = state
        if length == most:
            return None
        if head == network.sink:
            return None if opened else state
        if head in ends:
            if ends[head] not in opened:
                return None
            opened = opened - {ends[head]}
        elif classes[head] in kept or requests.get(head) in opened:
            return None
        if head in requests:
            opened = opened | {requests[head]}
        sets = {k for k, one in enumerate(ruled.sets) if head in one}
        if sets & used:
            return None
        kept = {c for c in {*kept, classes[head]} if memory[head, classes == c].any()}
        return frozenset(kept), opened, used | sets, length + 1

    nothing = np.zeros_like(remembered)
    begin = (frozenset(), frozenset(), frozenset(), 0)
    return list(walks(network, ruled.drawn.resources, nothing, own=own, begin=begin))


def solver_of(ruled: Ruled, memory: str, direction: str) -> tuple[Labelling, list[list[int]]]:
    """Return a solver and the walks that it allows."""
    drawn = ruled.drawn
    everything = np.ones_like(drawn.neighbourhoods)
    how, remembered = {
        "elementary": ("elementary", everything),
        "ng": (drawn.neighbourhoods, drawn.neighbourhoods),
        "nothing": (None, np.zeros_like(everything)),
    }[memory]
    mine = Labelling(drawn.network, drawn.resources, neighbourhoods=how, rules=ruled.rules, direction=direction)
    return mine, allowed(ruled, remembered)


def check(seed: int, memory: str, direction: str, charges: str) -> None:
    """Compare prices, completions and listed routes with the walks that the rules allow."""
    ruled = draw(seed)
    drawn, classes = ruled.drawn, classes_of(ruled)
    cuts, boxes = charges in ("cuts", "both"), ruled.boxes if charges in ("boxes", "both") else None
    given = {"rank_one": drawn.duals if cuts else None, "boxes": boxes}
    mine, every = solver_of(ruled, memory, direction)

    def total(arcs: list[int]) -> float:
        return cost(drawn, arcs, cuts=cuts) + (charge(drawn, boxes, arcs) if boxes is not None else 0.0)

    paid = {tuple(arcs): total(arcs) for arcs in every}
    expected = min(paid.values(), default=math.inf)
    for wanted, cutoff in ((1, math.inf), (4, math.inf), (3, 0.0)):
        found = mine.price(drawn.costs, routes=wanted, cutoff=cutoff, **given)
        assert found.bound == pytest.approx(min(expected, cutoff)), seed
        for k in range(len(found)):
            assert found.costs[k] == pytest.approx(paid[tuple(found.arcs_of(k).tolist())]), seed
        if expected < min(cutoff, 1e300) - 1e-7:
            assert found.costs[0] == pytest.approx(expected), seed
    for mode in ("relaxed", "sparse", "tabu"):
        found = mine.price(drawn.costs, routes=3, mode=mode, **given)
        assert found.bound is None
        for k in range(len(found)):
            assert found.costs[k] == pytest.approx(paid[tuple(found.arcs_of(k).tolist())]), seed
    through = np.full(drawn.network.num_arcs, math.inf)
    for arcs, one in paid.items():
        through[list(arcs)] = np.minimum(through[list(arcs)], one)
    if direction == "both":
        assert mine.completion(drawn.costs, **given).arcs == pytest.approx(through), seed
    gap = (expected if expected < math.inf else 0.0) + 2.5
    best: dict[bytes, float] = {}
    for arcs in allowed(ruled, np.ones_like(drawn.neighbourhoods)):
        if total(arcs) < gap:
            visited = np.sort(classes[drawn.network.heads[arcs]]).tobytes()
            best[visited] = min(best.get(visited, math.inf), drawn.costs[arcs].sum())
    listed = mine.enumerate(drawn.costs, gap, **given)
    assert listed.finished
    assert {
        np.sort(classes[listed.route(k)[1:]]).tobytes(): drawn.costs[listed.arcs_of(k)].sum()
        for k in range(len(listed))
    } == pytest.approx(best), seed


@pytest.mark.parametrize("charges", ["none", "cuts", "boxes", "both"])
@pytest.mark.parametrize(
    ("memory", "direction"),
    [("elementary", "both"), ("elementary", "forward"), ("ng", "both"), ("ng", "forward"), ("nothing", "both")],
)
def test_routes_equal_enumeration(memory: str, direction: str, charges: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(15):
        monkeypatch.setattr(attempts, "_SMALL", [0, 30_000][seed % 2])
        check(seed, memory, direction, charges)


def test_bounds_of_vertices_keep_paths_to_their_own_pickup() -> None:
    """A backward path without a request must not replace one that begins at the request's pickup."""
    check(1193, "elementary", "both", "none")


def test_a_delivery_between_two_visits_of_a_vertex_is_not_left_out() -> None:
    check(2075, "nothing", "both", "none")


def test_forbidden_arcs_weaken_dominance() -> None:
    """Without the arc around a delivery a path with it need not be dominated by one without."""
    for seed in range(60):
        ruled = draw(seed)
        drawn = ruled.drawn
        rng = np.random.default_rng(seed)
        forbidden = rng.random(drawn.network.num_arcs) < 0.2
        mine, every = solver_of(ruled, ["elementary", "ng"][seed % 2], "both")
        costs = [drawn.costs[arcs].sum() for arcs in every if not forbidden[arcs].any()]
        assert mine.price(drawn.costs, forbidden=forbidden).bound == min(costs, default=math.inf), seed


def test_more_requests_than_bits_of_a_word() -> None:
    rng = np.random.default_rng(4)
    count = 70
    places = rng.integers(0, 40, (2 * count + 2, 2))
    places[-1] = places[0]
    far = np.abs(places[:, None] - places[None]).sum(axis=2)
    network = Network.complete(2 * count)
    ready = rng.integers(0, 300, 2 * count + 2).astype(float)
    ready[[0, -1]] = 0.0
    due = ready + 30.0
    due[-1] = 400.0
    prize = np.zeros(2 * count + 2)
    prize[1 : count + 1] = rng.integers(10, 60, count)
    size = np.zeros(2 * count + 2)
    size[1 : count + 1] = rng.integers(3, 9, count)
    size[count + 1 : -1] = -size[1 : count + 1]
    resources = [
        Resource(far[network.tails, network.heads] + 1.0, due, ready),
        Resource.on_vertices(network, size, 15.0),
    ]
    costs = far[network.tails, network.heads] - prize[network.heads]
    requests = Pairs(np.arange(1, count + 1), np.arange(count + 1, 2 * count + 1))
    both, forward = (Labelling(network, resources, rules=[requests], direction=how) for how in ("both", "forward"))  # type: ignore[arg-type]
    found = both.price(costs)
    assert found.bound == pytest.approx(forward.price(costs).bound)
    route = found.route(0).tolist()
    assert len(route) > 4
    assert all(route.index(vertex) < route.index(vertex + count) for vertex in route[1:-1] if vertex <= count)


def test_cycles_of_alternatives_are_forbidden_by_larger_neighbourhoods() -> None:
    for seed in range(40):
        ruled = draw(seed)
        drawn, classes = ruled.drawn, classes_of(ruled)
        mine = Labelling(
            drawn.network, drawn.resources, neighbourhoods=np.eye(len(classes), dtype=bool), rules=ruled.rules
        )
        exact = Labelling(drawn.network, drawn.resources, rules=ruled.rules).price(drawn.costs).bound
        for _ in range(30):
            found = mine.price(drawn.costs)
            larger = mine.enlarge_neighbourhoods(found)
            if (larger == mine.neighbourhoods).all():
                break
            mine = mine.with_neighbourhoods(larger)
        assert found.bound == pytest.approx(exact), seed


def test_rules_that_do_not_fit_the_network_raise() -> None:
    network = Network.complete(4)
    for rules, message in (
        ([Pairs([1], [2, 3])], "one per pickup"),
        ([Pairs([1], [1])], "different vertices"),
        ([Pairs([0], [2])], "other than source and sink"),
        ([Pairs([1], [2]), Pairs([2], [3])], "vertex 2 twice"),
        ([Alternatives([[1, 2], [2, 3]])], "vertex 2 twice"),
        ([Alternatives([[1, 2]]), Pairs([2], [3])], "vertex 2 twice"),
        ([Exclude([[1, 9]])], "exclude"),
        (["pairs"], "expected Alternatives, Exclude or Pairs"),
    ):
        with pytest.raises(ArrayError, match=message):
            Labelling(network, [], rules=rules)  # type: ignore[arg-type]
    load = Resource(np.ones(network.num_arcs), 4.0)
    with pytest.raises(ArrayError, match="use neighbourhoods"):
        Labelling(network, [load], neighbourhoods=None, cycle=2, rules=[Pairs([1], [2])])
