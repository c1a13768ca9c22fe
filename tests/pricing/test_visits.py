"""Cuts and decisions on visits, compared with the enumeration of all routes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import colgen
from colgen.core.decision import Apart, Together
from colgen.core.duals import Duals, RowNames
from colgen.core.terms import Box, Count, Linear
from colgen.solvers.paths.labelling import Labelling, Resource
from tests.pricing.test_labelling import Routing, columns_at, paths

pytestmark = pytest.mark.timeout(120)


def test_copies_of_a_vertex_are_apart_and_together_as_one() -> None:
    """Vertices 3 and 4 cover one row."""
    plain = Routing(5).pricing()
    rows = {i: ("visit", min(i, 3)) for i in range(1, 5)}
    oracle = colgen.Labelling(plain.solver, plain.costs, rows, modes=("exact",))
    names = RowNames()
    names.extend(dict.fromkeys(oracle.vertex_rows.values()))
    duals = Duals(np.full(3, 90.0), names)
    for decision, right in (
        (Apart(("visit", 1), ("visit", 3)), lambda one, other: not (one and other)),
        (Together(("visit", 1), ("visit", 3)), lambda one, other: one == other),
    ):
        found = paths(oracle.price(duals, colgen.PricingContext(colgen.Sense.MINIMIZE, decisions=(decision,))))
        assert found
        assert all(right(1 in path, bool({3, 4} & set(path))) for path in found)


@pytest.mark.parametrize("seed", range(6))
def test_terms_of_every_kind_are_priced_as_enumeration_does(seed: int) -> None:
    """Linear terms over vertices, arcs and the number of paths; rank-1 cuts; boxes that pay and that charge."""
    rng = np.random.default_rng(seed)
    problem = Routing(seed, customers=5, modes=("exact",))
    oracle = problem.pricing()
    elementary = colgen.Labelling(
        Labelling(oracle.solver.network, [Resource(problem.demand[oracle.solver.network.heads % 6], 15)]),
        oracle.costs, oracle.vertex_rows, vehicles=("vehicles", None), modes=("exact",),
    )  # fmt: skip
    terms = [
        Linear("visit", (1, 3), (2.0, -1.0)),
        Linear("arc", ((0, 2), (2, 4)), (1.0, 3.0)),
        Linear("vehicles", (None,), (2.0,)),
        Count("visit", (1, 2, 3), (1, 1, 1), 2),
        Box("visit", ((1, 1.0, math.inf), (4, 0.0, 0.0))),
        Box("visit", ((2, 0.5, 1.0), (3, 1.0, 1.0), (5, 0.0, 0.5))),
        Box("visit", ((2, 0.0, 1.0),)),
    ]
    keys = [*oracle.vertex_rows.values(), ("vehicles", None), *(("cut", term) for term in terms), ("path", "number")]
    values = [
        *rng.uniform(0, 80, 5),
        -3.0,
        *rng.uniform(-20, 20, 3),
        -rng.uniform(0, 20),
        *rng.uniform(-30, 30, 3),
        2.0,
    ]

    def reduced(path: tuple[int, ...]) -> float:
        visits = path[1:-1]
        been = set(visits)
        arcs = set(itertools.pairwise(path))
        amounts = [
            *(float(i in been) for i in range(1, 6)), 1.0, 2.0 * (1 in been) - (3 in been),
            ((0, 2) in arcs) + 3.0 * ((2, 4) in arcs), 2.0, len(been & {1, 2, 3}) // 2,
            float(1 in been and 4 not in been), float({2, 3} <= been and 5 not in been), 1.0, 1.0,
        ]  # fmt: skip
        length = sum(problem.distance[a % 6, b % 6] for a, b in itertools.pairwise(path))
        return length - sum(value * amount for value, amount in zip(values, amounts, strict=True))

    routes = [
        (0, *order, 6)
        for size in range(1, 6)
        for order in itertools.permutations(range(1, 6), size)
        if problem.demand[list(order)].sum() <= 15
    ]
    best = min(map(reduced, routes))
    result, found = columns_at(elementary, keys, values)
    assert result.bound == pytest.approx(min(best, 0.0))
    assert list(result.reduced_costs) == pytest.approx([reduced(path) for path in found])
    # routes that may visit twice are a relaxation, and what they cannot tell is refused
    with pytest.raises(colgen.InputError, match="whether a path visits"):
        columns_at(oracle, keys, values)


def test_vertices_without_a_row_keep_the_sums_of_limited_memory() -> None:
    """Columns list only components that have rows, so a cut does not restart at vertex 3, which covers none."""
    problem = Routing(2, customers=3, modes=("exact",))
    given = problem.pricing()
    network = given.solver.network
    solver = Labelling(network, [Resource(problem.demand[network.heads % 4], 99)])
    costs = given.costs + 500.0 * (np.isin(network.tails, [1, 2]) & np.isin(network.heads, [1, 2]))
    oracle = colgen.Labelling(solver, costs, {i: ("visit", i) for i in (1, 2)}, modes=("exact",))
    keys = [*oracle.vertex_rows.values(), ("cut", Count("visit", (1, 2), (1, 1), 2, memory=(1, 2)))]
    result, found = columns_at(oracle, keys, [300.0, 300.0, -40.0])
    length = {(i, j): cost for i, j, cost in zip(network.tails, network.heads, costs, strict=True)}
    reduced = [
        sum(length[arc] for arc in itertools.pairwise(path))
        - 300.0 * len({1, 2} & {*path})
        + 40.0 * ({1, 2} <= {*path})
        for path in found
    ]
    assert found[0][1:-1] in ((1, 3, 2), (2, 3, 1))
    assert list(result.reduced_costs) == pytest.approx(reduced)
    assert result.bound == pytest.approx(reduced[0])


def test_cuts_over_rows_of_arcs_raise_errors() -> None:
    oracle = Routing(0).pricing()
    keys = [*oracle.vertex_rows.values(), ("vehicles", None)]
    for term in (Count("arc", ((0, 1),), (1,), 2), Box("vehicles", ((None, 1.0, 1.0),))):
        with pytest.raises(colgen.InputError, match="expected rows of vertices"):
            columns_at(oracle, [*keys, ("cut", term)], [*[50.0] * 7, 0.0, -1.0])
