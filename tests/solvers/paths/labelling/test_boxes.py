"""Charges for visited and avoided vertices, against the enumeration of all walks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling import BoxDuals, Labelling, Network, Resource, attempts
from tests.solvers.paths.labelling.enumerated import Drawn, cost, draw, walks
from tests.solvers.paths.labelling.test_labelling import symmetric

pytestmark = pytest.mark.timeout(120)


def boxes_of(seed: int, drawn: Drawn, scale: float) -> BoxDuals:
    """Return boxes for pairs together, pairs apart, and random boxes with charges of both signs."""
    rng = np.random.default_rng(seed)
    n = drawn.network.num_vertices
    visited, unvisited, charges = [], [], []

    def box(ins: list[int], outs: list[int], charge: float) -> None:
        visited.append(np.isin(np.arange(n), ins))
        unvisited.append(np.isin(np.arange(n), outs))
        charges.append(charge)

    for kind in rng.integers(0, 4, int(rng.integers(1, 4))):
        one, other, *more = rng.permutation(np.arange(1, n - 1))[:4].tolist()
        if kind == 0:
            box([one], [other], math.inf)
            box([other], [one], math.inf)
        elif kind == 1:
            box([one, other], [], math.inf)
        else:
            parted = rng.random(2 + len(more)) < 0.5
            some = np.array([one, other, *more])
            box(some[parted].tolist(), some[~parted].tolist(), float(rng.integers(-6, 7)) * scale)
    return BoxDuals(visited, unvisited, charges)


def charge(drawn: Drawn, boxes: BoxDuals, arcs: list[int]) -> float:
    been = np.isin(np.arange(drawn.network.num_vertices), drawn.network.heads[arcs])
    return sum(c for ins, outs, c in zip(*boxes, strict=True) if been[ins].all() and not been[outs].any())


@pytest.mark.parametrize("cuts", [False, True])
@pytest.mark.parametrize(
    ("memory", "direction"), [("elementary", "both"), ("ng", "both"), ("ng", "forward"), ("cycles", "both")]
)
def test_charges_of_routes(memory: str, direction: str, cuts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(30):
        scale = [1.0, 1e-8, 12345.678][seed % 3]
        drawn = symmetric(seed)[0] if seed % 4 == 0 else draw(seed, windows=seed % 2 == 0)
        penalties = np.array(drawn.duals.penalties) * scale
        drawn = drawn._replace(costs=drawn.costs * scale, duals=drawn.duals._replace(penalties=penalties))
        boxes = boxes_of(seed, drawn, scale)
        monkeypatch.setattr(attempts, "_SMALL", [0, 30_000][seed % 2])
        how, remembered = {
            "elementary": ({}, None),
            "ng": ({"neighbourhoods": drawn.neighbourhoods}, drawn.neighbourhoods),
            "cycles": ({"neighbourhoods": None, "cycle": 3}, np.zeros_like(drawn.neighbourhoods)),
        }[memory]
        mine = Labelling(drawn.network, drawn.resources, direction=direction, **how)
        paid = {}
        for arcs in walks(drawn.network, drawn.resources, remembered):
            heads = drawn.network.heads[arcs]
            if memory != "cycles" or not any((heads[k:] == heads[:-k]).any() for k in (1, 2, 3)):
                paid[tuple(arcs)] = cost(drawn, arcs, cuts=cuts) + charge(drawn, boxes, arcs)
        expected = min(paid.values(), default=math.inf)
        about = {"rel": 1e-9, "abs": 1e-7 * scale}
        given = {"rank_one": drawn.duals if cuts else None, "boxes": boxes}
        for wanted, cutoff in ((1, math.inf), (4, math.inf), (3, 0.0)):
            found = mine.price(drawn.costs, routes=wanted, cutoff=cutoff, **given)
            assert found.bound == pytest.approx(min(expected, cutoff), **about), seed
            for k in range(len(found)):
                assert found.costs[k] == pytest.approx(paid[tuple(found.arcs_of(k).tolist())], **about)
            if expected < min(cutoff, 1e300) - 1e-7 * scale:
                assert found.costs[0] == pytest.approx(expected, **about)
        for mode in ("relaxed", "sparse", "tabu"):
            found = mine.price(drawn.costs, routes=3, mode=mode, **given)
            assert found.bound is None
            for k in range(len(found)):
                assert found.costs[k] == pytest.approx(paid[tuple(found.arcs_of(k).tolist())], **about)
        through = np.full(drawn.network.num_arcs, math.inf)
        for arcs, total in paid.items():
            through[list(arcs)] = np.minimum(through[list(arcs)], total)
        if direction == "both":
            assert mine.completion(drawn.costs, **given).arcs == pytest.approx(through, **about)
        gap = (expected if expected < math.inf else 0.0) + 2.5 * scale
        best: dict[bytes, float] = {}
        for arcs in walks(drawn.network, drawn.resources, None):
            total = cost(drawn, arcs, cuts=cuts) + charge(drawn, boxes, arcs)
            if total < gap:
                visited = np.sort(drawn.network.heads[arcs]).tobytes()
                best[visited] = min(best.get(visited, math.inf), drawn.costs[arcs].sum())
        listed = mine.enumerate(drawn.costs, gap, **given)
        assert listed.finished
        assert {
            np.sort(listed.route(k)[1:]).tobytes(): drawn.costs[listed.arcs_of(k)].sum() for k in range(len(listed))
        } == pytest.approx(best, **about)


def test_boxes_that_do_not_fit_the_network_raise() -> None:
    network = Network.complete(2)
    mine = Labelling(network, [])
    nobody, first = [False] * 4, [False, True, False, False]
    for wrong, message in (
        (BoxDuals([first], [nobody], [math.nan]), "charges"),
        (BoxDuals([first], [nobody], [-math.inf]), "charges"),
        (BoxDuals([[True, False, False, False]], [nobody], [1.0]), "other than source and sink"),
        (BoxDuals([first, first], [nobody], [1.0]), "boxes"),
    ):
        with pytest.raises(ArrayError, match=message):
            mine.price(np.ones(network.num_arcs), boxes=wrong)
    costs = np.ones(network.num_arcs)
    assert mine.price(costs, boxes=BoxDuals([first], [first], [-9.0])).bound == 2.0  # nobody is in this box
    assert mine.price(costs, boxes=BoxDuals([nobody], [nobody], [-9.0])).bound == -7.0  # and everybody in that
    assert mine.price(costs, boxes=BoxDuals([nobody], [nobody], [math.inf])).bound == math.inf


def test_many_boxes_take_several_words() -> None:
    rng = np.random.default_rng(1)
    network = Network.complete(12)
    load = Resource.on_vertices(network, np.r_[0, rng.integers(2, 5, 12), 0].astype(float), 12.0)
    costs = rng.integers(-9, 9, network.num_arcs).astype(float)
    pairs = rng.permutation(12)[:10].reshape(5, 2) + 1
    ins, outs = np.zeros((90, 14), dtype=bool), np.zeros((90, 14), dtype=bool)
    for k in range(90):  # the same charge in many parts
        one, other = pairs[k % 5]
        ins[k, one] = outs[k, other] = True
    charges = np.full(90, 0.25)
    many = Labelling(network, [load]).price(costs, boxes=BoxDuals(ins, outs, charges))
    few = Labelling(network, [load]).price(costs, boxes=BoxDuals(ins[:5], outs[:5], charges[:5] * 18))
    assert many.bound == few.bound
    assert few.bound > Labelling(network, [load]).price(costs).bound
