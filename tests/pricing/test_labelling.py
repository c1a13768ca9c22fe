"""The labelling oracle: a small routing problem written with it, against the enumeration of all routes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyomo.environ as pyo
import pytest

import colgen
from colgen.core.decision import Apart, Together
from colgen.core.duals import Duals, RowNames
from colgen.solvers.paths.labelling import Labelling, Network, Resource, nearest
from colgen.testing import check_problem

pytestmark = pytest.mark.timeout(120)


def arcs_of(column: colgen.Column):
    return colgen.Labelling.arcs_of(column.structure)


class Routing(colgen.Problem):
    """Customers in the plane, vehicles of one capacity: as short as a user would write it."""

    def __init__(self, seed: int, customers: int = 7, *, cuts: bool = False, by: str = "arc", modes=None) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.cuts, self.by = customers, cuts, by
        self.modes = modes or ("sparse", "relaxed", "exact")
        places = rng.integers(0, 50, (customers + 1, 2))
        self.distance = np.rint(np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)))
        self.demand, self.capacity = np.append(0, rng.integers(3, 8, customers)), 15

    def master(self):
        m = pyo.ConcreteModel()
        m.customer = pyo.RangeSet(1, self.n)
        m.unmet, m.idle = colgen.artificial(m.customer), colgen.artificial()
        m.visit = pyo.Constraint(m.customer, rule=lambda m, i: m.unmet[i] == 1)
        m.vehicles = pyo.Constraint(expr=m.idle <= self.n)
        m.length = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self):
        network = Network.complete(self.n)
        heads = network.heads % (self.n + 1)
        lengths = self.distance[network.tails, heads]
        load = Resource(self.demand[heads], self.capacity)
        # who branches on pairs wants routes that visit nobody twice
        memory = "elementary" if self.by == "pair" else nearest(network, lengths, 3)
        solver = Labelling(network, [load], neighbourhoods=memory)
        rows = {i: ("visit", i) for i in range(1, self.n + 1)}
        return colgen.Labelling(
            solver, lengths, rows, vehicles=("vehicles", None), multiplicity=self.n, modes=self.modes
        )

    def branching(self):
        number = colgen.OnOriginalVariable(colgen.Labelling.number_of, block="path")
        arcs = colgen.OnOriginalVariable(arcs_of, block="arc")
        return {"arc": (arcs,), "number": (number, arcs), "pair": (number, colgen.RyanFoster("visit"), arcs)}[self.by]

    def separation(self):
        return [colgen.RankOne("visit", order=lambda column: column.structure[1:-1])] if self.cuts else []

    def optimum(self) -> float:
        """By enumeration: the best tour of every subset, then the best partition."""
        tour = {}
        for size in range(1, self.n + 1):
            for subset in itertools.combinations(range(1, self.n + 1), size):
                if self.demand[list(subset)].sum() <= self.capacity:
                    ends = ((0, *order, 0) for order in itertools.permutations(subset))
                    tour[subset] = min(sum(self.distance[a, b] for a, b in itertools.pairwise(p)) for p in ends)
        best = {frozenset(): 0.0}
        for i in range(1, self.n + 1):
            for done, value in list(best.items()):
                if i in done or any(j not in done for j in range(1, i)):
                    continue
                for subset, length in tour.items():
                    if i in subset and not done & set(subset):
                        key = done | set(subset)
                        best[key] = min(best.get(key, math.inf), value + length)
        return best[frozenset(range(1, self.n + 1))]


@pytest.mark.parametrize(("seed", "cuts"), [(0, False), (1, False), (1, True), (2, True)])
def test_a_routing_problem_is_proved_optimal(seed: int, cuts: bool) -> None:
    problem = Routing(seed, cuts=cuts)
    result = colgen.solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(problem.optimum())


def test_check_problem_finds_no_mistake() -> None:
    report = check_problem(Routing(4, cuts=True), seconds=5.0)
    assert report.ok, report
    assert not report.notes


def priced(oracle: colgen.Labelling, *decisions: object, sense: colgen.Sense = colgen.Sense.MINIMIZE):
    names = RowNames()
    names.extend([*oracle.vertex_rows.values(), ("vehicles", None)])
    duals = Duals(np.append(np.full(len(oracle.vertex_rows), 60.0), 0.0), names)
    return oracle.price(duals, colgen.PricingContext(sense, decisions=decisions))


def paths(result: colgen.PricingResult) -> list[tuple[int, ...]]:
    return [result.columns.meanings.of(k) for k in range(len(result.columns))]


@pytest.mark.parametrize("by", ["number", "pair"])
@pytest.mark.parametrize("seed", [1, 2, 6])
def test_branching_on_the_number_of_paths_and_on_pairs_ends_at_the_optimum(by: str, seed: int) -> None:
    problem = Routing(seed, by=by, modes=("tabu", "sparse", "relaxed", "exact"))
    result = colgen.solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(problem.optimum())


def test_check_problem_finds_no_mistake_with_ryan_foster() -> None:
    report = check_problem(Routing(4, by="pair"), seconds=5.0)
    assert report.ok, report


def test_vertices_that_are_apart_share_no_path_and_those_together_share_all() -> None:
    oracle = Routing(5).pricing()
    assert any({1, 2} <= set(path) for path in paths(priced(oracle)))
    found = paths(priced(oracle, Apart(("visit", 1), ("visit", 2))))
    assert len(found)
    assert not any({1, 2} <= set(path) for path in found)
    assert any(len({1, 2} & set(path)) == 1 for path in found)
    found = paths(priced(oracle, Together(("visit", 1), ("visit", 2))))
    assert any({1, 2} <= set(path) for path in found)
    assert all(len({1, 2} & set(path)) != 1 for path in found)


def columns_at(oracle: colgen.Labelling, keys, values):
    """What the oracle finds at dual values, with their reduced costs by the rows' own definitions."""
    names = RowNames()
    names.extend(keys)
    duals = Duals(np.array(values), names)
    result = oracle.price(duals, colgen.PricingContext(colgen.Sense.MINIMIZE))
    return result, [result.columns.meanings.of(k) for k in range(len(result.columns))]


def test_rows_of_arcs_and_parallel_arcs_enter_columns() -> None:
    network = Network(4, [0, 0, 1, 1, 2], [1, 2, 2, 3, 3], 0, 3)
    noise = [(0, ("noise", 0), 2.0), (2, ("noise", 0), 1.0), (2, ("visit", 2), 0.5)]
    oracle = colgen.Labelling(
        Labelling(network, []), [1, 2, 3, 4, 5], {1: ("visit", 1), 2: ("visit", 2)}, arc_rows=noise, modes=("exact",)
    )
    keys, values = [("visit", 1), ("visit", 2), ("noise", 0)], [30.0, 20.0, -1.0]
    result, found = columns_at(oracle, keys, values)
    columns, k = result.columns, found.index((0, 1, 2, 3))
    mine = slice(columns.starts[k], columns.starts[k + 1])
    entries = {keys[row]: value for row, value in zip(columns.rows[mine], columns.values[mine], strict=True)}
    assert entries == {("visit", 1): 1.0, ("visit", 2): 1.5, ("noise", 0): 3.0}
    assert columns.costs[k] == 9.0
    assert result.bound == 1 + 3 + 5 - 30 - 1.5 * 20 + 3


def test_invalid_arguments_raise_errors() -> None:
    oracle = Routing(0).pricing()
    with pytest.raises(colgen.InputError, match=r"costs: .*numbers"):
        colgen.Labelling(oracle.solver, [1.0], {})
    with pytest.raises(colgen.InputError, match="between source and sink"):
        colgen.Labelling(oracle.solver, oracle.costs, {0: ("visit", 0)})
    with pytest.raises(colgen.InputError, match="minimisation"):
        priced(oracle, sense=colgen.Sense.MAXIMIZE)


class Parallel(Routing):
    """Every arc twice: the first costs 1 more, which phase 1 does not see."""

    def pricing(self):
        once = super().pricing()
        network = once.solver.network
        tails, heads = np.tile(network.tails, 2), np.tile(network.heads, 2)
        load = Resource(np.append(self.demand, 0)[heads], self.capacity)
        solver = Labelling(Network(network.num_vertices, tails, heads, network.source, network.sink), [load])
        costs = np.concatenate([once.costs + 1.0, once.costs])
        return colgen.Labelling(solver, costs, once.vertex_rows, vehicles=once.vehicles, multiplicity=self.n)


def test_paths_over_parallel_arcs_are_different_columns() -> None:
    problem = Parallel(1, customers=5)
    result = colgen.solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(problem.optimum())
