"""Oracles are called only at dual values that their rows can have, whatever the run."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Best,
    Column,
    ColumnGeneration,
    Directional,
    Diving,
    Duals,
    Method,
    NodeLimit,
    NoStabilization,
    OraclePricing,
    Parallel,
    Pricing,
    Problem,
    RestrictedMIP,
    StrongBranching,
    Termination,
    TimeLimit,
    WarmStart,
    Wentges,
    artificial,
    solve,
)
from colgen.bounding.bundle import Bundle
from colgen.bounding.chain import Chain
from colgen.bounding.protocol import OneRound
from colgen.bounding.subgradient import Subgradient
from colgen.bounding.volume import Volume
from colgen.master.statement import restricted_master
from colgen.stabilization import BoxStep, Penalty
from colgen.testing import check_problem
from tests.sweeps import seeds
from tests.toys import Enumerated, Program


class Watching(Pricing):
    """Passes questions on, and keeps whether their dual values are such as the master's rows can have."""

    def __init__(self, oracle, problem):
        self.oracle, self.problem = oracle, problem
        self.multiplicity, self.cost_bound = oracle.multiplicity, oracle.cost_bound

    def price(self, duals, context):
        if isinstance(duals, Duals):
            master = self.problem.made
            pull = context.sense.sign * duals.values
            lower, upper = master.rows.lower[: len(pull)], master.rows.upper[: len(pull)]
            wrong = ((pull > 0.0) & (lower == -math.inf)) | ((pull < 0.0) & (upper == math.inf))
            self.problem.asked.append(bool(wrong.any()))  # raised here, it could be caught on the way
        return self.oracle.price(duals, context)


class Watched(Enumerated):
    """A program whose oracles check the signs of dual values."""

    def __init__(self, program, **shape):
        super().__init__(program, **shape)
        self.asked = []

    def master(self):
        self.made = restricted_master(super().master())
        return self.made

    def pricing(self):
        return [Watching(oracle, self) for oracle in super().pricing()]

    identity = ()


def drawn(seed):
    """A small program with rows of all kinds, feasible or not, in either direction."""
    rng = np.random.default_rng(seed)
    m, groups = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    low = int(rng.choice([-2, 0]))

    def vector():
        return tuple(float(a) for a in rng.integers(low, 4, m))

    sides = rng.integers(0, 7, m).astype(float)
    kinds = rng.integers(0, 4, m)
    lower = tuple(-math.inf if kind == 1 else side for kind, side in zip(kinds, sides, strict=True))
    upper = tuple(math.inf if kind == 0 else side + 2.0 * (kind == 3) for kind, side in zip(kinds, sides, strict=True))
    columns = tuple(
        tuple((float(rng.integers(-2, 9)), vector()) for _ in range(rng.integers(2, 7))) for _ in range(groups)
    )
    limits = tuple(float(rng.choice([1.0, 2.0, 5.0, math.inf])) for _ in range(groups))
    extra = tuple(
        (float(rng.integers(-4, 6)), vector(), 0.0, 2.0, bool(rng.integers(2))) for _ in range(rng.integers(0, 3))
    )
    return Program(bool(rng.integers(2)), lower, upper, columns, limits, extra)


class Backwards(NoStabilization):
    """Proposes the opposite of what the master has."""

    def __init__(self):
        self.tries = 0

    def propose(self, duals):
        self.tries += 1
        return duals.replace(-duals.values) if self.tries % 2 else duals

    def misprice(self):
        return self.tries % 2 == 1


RUNS = {
    "none": {"method": Method(stabilization=NoStabilization())},
    "wentges": {"method": Method(stabilization=Wentges(0.8, below_root=True, real_costs=True))},
    "directional": {"method": Method(stabilization=Directional(0.7, beta=0.9, below_root=True))},
    "box step": {"method": Method(stabilization=BoxStep())},
    "penalty": {"method": Method(stabilization=Penalty())},
    "backwards": {"method": Method(stabilization=Backwards())},
    "subgradient": {"method": Method(bounding=Chain(Subgradient(20), ColumnGeneration()))},
    "volume": {"method": Method(bounding=Chain(Volume(20), ColumnGeneration()))},
    "bundle": {"method": Method(bounding=Chain(Bundle(20), ColumnGeneration()))},
    "one round": {"method": Method(bounding=OneRound()), "start": WarmStart(duals={"row": 1.0})},
    "dives": {"method": Method(heuristics=[Diving(2), RestrictedMIP()])},
    "strong branching": {"method": Method(choice=StrongBranching())},
    "batches": {"parallel": Parallel(node_batch=2)},
    "guessed": {"start": WarmStart(duals={"row": -5.0, "limit": 3.0})},
    "guessed the other way": {"start": WarmStart(duals={"row": 5.0})},
    "relaxation": {"relaxation": True},
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("seed", seeds(24, 6))
def test_no_oracle_sees_a_sign_that_its_rows_cannot_have(run, seed):
    problem = Watched(drawn(seed), many=1 + seed % 2)
    solve(problem, stop=[NodeLimit(20), TimeLimit(20)], **RUNS[run])
    assert problem.asked or run == "batches"
    assert not any(problem.asked)


@pytest.mark.parametrize("seed", range(3))
def test_nor_in_the_conformance_kit(seed):
    problem = Watched(drawn(seed))
    check_problem(problem, seconds=2)
    assert len(problem.asked) > 50
    assert not any(problem.asked)


ARCS = {"a": (0, 1, 1.0), "b": (1, 0, 1.0), "c": (1, 2, 1.0)}


class Shortest(OraclePricing):
    """The shortest path by labels: it ends where no cycle gains, as at all dual values that rows ≤ can have."""

    multiplicity = 1

    def best(self, duals, context):
        costs = {arc: context.cost_weight * cost - duals["cap", arc] for arc, (_, _, cost) in ARCS.items()}
        assert min(costs.values()) >= 0.0
        distance, before, todo = {0: 0.0}, {}, [0]
        while todo:
            here = todo.pop()
            for arc, (tail, head, _) in ARCS.items():
                if tail == here and distance[tail] + costs[arc] < distance.get(head, math.inf):
                    distance[head], before[head] = distance[tail] + costs[arc], arc
                    todo.append(head)
        path, here = [], 2
        while here:
            path.append(before[here])
            here = ARCS[before[here]][0]
        return Best(tuple(reversed(path)), distance[2] - duals["need"])

    def encode(self, path):
        cost = sum(ARCS[arc][2] for arc in path)
        return Column(cost, {("need", None): 1.0} | {("cap", arc): 1.0 for arc in path}, path)


class Flow(Problem):
    def master(self):
        m = pyo.ConcreteModel()
        m.missing, m.over = artificial(), artificial(list(ARCS))
        m.need = pyo.Constraint(expr=m.missing == 1)
        m.cap = pyo.Constraint(list(ARCS), rule=lambda m, arc: m.over[arc] <= (0.5 if arc == "a" else 2.0))
        m.total = pyo.Objective(expr=0)
        return m

    def pricing(self):
        return Shortest(self)


def test_infeasibility_is_proved_with_an_oracle_that_relies_on_the_signs():
    assert solve(Flow(), relaxation=True).termination is Termination.INFEASIBLE
