"""Certificates of models with path blocks."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Paths, Record, decompose, solve
from colgen.certificate.checker import check
from colgen.networks import Elementary, Neighbourhoods, Resource
from colgen.solvers.paths.labelling import CustomResource
from tests.fuzz.alterations import find_undetected
from tests.fuzz.networks import paths_of, walks
from tests.networks.programs import partition, routing, soft_windows


def _certified(model, path):
    result = solve(decompose(model), record=Record(certificate=path))
    lines = path.read_text().splitlines()
    return result, check(lines), lines


@pytest.mark.parametrize("rules", [(Elementary(),), (Neighbourhoods(3),)])
@pytest.mark.parametrize("graphs", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_vehicle_types_are_proved(seed, graphs, rules, tmp_path):
    m, best = routing(seed, customers=6, graphs=graphs, rules=rules)
    result, verdict, _ = _certified(m, tmp_path / "proof.jsonl")
    assert result.objective == best == verdict.objective
    assert (verdict.proves, verdict.claims.trusted, verdict.stated) == ("optimal", 0, True)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1e5])
def test_costs_and_times_at_odd_scales_are_proved(scale, tmp_path):
    rng = np.random.default_rng(4)
    far, ready = rng.integers(1, 9, (6, 6)), rng.integers(0, 9, 6)
    arcs = [(i, j) for i in range(6) for j in range(6) if i != j]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.visit = pyo.Constraint(range(1, 6), rule=lambda m, v: sum(m.x[i, j] for i, j in arcs if j == v) == 1)
    m.cost = pyo.Objective(expr=sum(round(scale * int(far[arc] + 7 * (arc[0] == 0)), 9) * m.x[arc] for arc in arcs))
    minutes = [round(scale * int(far[arc]), 9) for arc in arcs]
    lower = {v: round(scale * int(ready[v]), 9) for v in range(1, 6)}
    upper = {v: round(scale * int(ready[v] + 9), 9) for v in range(1, 6)} | {0: round(scale * 40, 9)}
    m.p = Paths(
        tuple(zip(*arcs, strict=True)), m.x, 0, 0, resources=[Resource(minutes, upper, lower)], rules=[Elementary()]
    )
    result, verdict, _ = _certified(m, tmp_path / "proof.jsonl")
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == pytest.approx(result.objective, rel=1e-9)


def test_a_certificate_with_a_list_cannot_be_altered(tmp_path):
    """Nine customers in a model that the relaxation does not prove."""
    for seed in range(20):
        m, _ = routing(seed, customers=9, graphs=2, fixed=1)
        _, verdict, lines = _certified(m, tmp_path / f"{seed}.jsonl")
        assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
        if any('"left"' in line for line in lines):
            break
    assert not find_undetected([lines], range(60))


def _is_proved(model, best, path):
    result, verdict, _ = _certified(model, path)
    assert result.objective == pytest.approx(best, rel=1e-9)
    assert float(verdict.objective) == pytest.approx(best, rel=1e-9)
    assert (verdict.proves, verdict.claims.trusted, verdict.stated) == ("optimal", 0, True)


@pytest.mark.parametrize("waiting", [True, False])
@pytest.mark.parametrize("graphs", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_penalties_are_proved(seed, graphs, waiting, tmp_path):
    m, best = soft_windows(seed, customers=5, graphs=graphs, waiting=waiting)
    _is_proved(m, best, tmp_path / "proof.jsonl")


def test_penalties_without_limits_are_proved(tmp_path):
    """The wage of a path grows with its time, which has no limit."""
    arcs = [(i, j) for i in range(4) for j in range(4) if i != j]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.visit = pyo.Constraint(range(1, 4), rule=lambda m, v: sum(m.x[i, j] for i, j in arcs if j == v) == 1)
    m.cost = pyo.Objective(expr=sum(10 * m.x[arc] for arc in arcs if arc[0] == 0))
    time = Resource({1: 1, 2: 2, 3: 3}, np.inf, {1: 2, 3: 2}, penalty=({0: 4.0, 1: 3.0}, {0: 0.5, 1: 2.0}))
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 0, resources=[time], rules=[Elementary()])
    _is_proved(m, 11.0, tmp_path / "proof.jsonl")  # 2 at time 2, 1 at 3, 3 at 6, and 0.5 (6 - 4)


def _load(**changes):
    """A load of up to 9, at least 3 at the sink of 6 vertices and 0 or 1 at vertex 2."""
    use = [[0, 2, 1, 3, 2, 4, 0][j] for _, j in COMPLETE]
    limits = {"upper": [["sink", 9], [2, 12]], "lower": [["sink", 3]]}
    return {"use": use, **limits, "waiting": False, "start": 0, "unit": 1.0, **changes}


COMPLETE = [[i, j] for i in range(6) for j in (*range(1, 6), -1) if i != j and (i, j) != (0, -1)]
RULED = {
    "a pickup before its delivery": ([["requests", [[3, 1], [2, 5]]], ["elementary"]], []),
    "requests under short memories": ([["requests", [[1, 4]]], ["ng", [[v, v] for v in range(1, 6)]]], [_load()]),
    "incompatible vertices": ([["sets", [[1, 2], [2, 3, 4]]], ["elementary"]], []),
    "sets and requests": ([["sets", [[1, 2], [2, 5]]], ["requests", [[4, 3]]]], [_load()]),
    "a minimum at the sink": ([["elementary"]], [_load()]),
    "exact windows": ([["elementary"]], [_load(lower=[[2, 3], ["sink", 4]])]),
    "runs": ([["runs", [1, 2, 3, 4], 2, 2, True], ["elementary"]], []),
}


@pytest.mark.parametrize("rules", RULED)
@pytest.mark.parametrize("seed", range(3))
def test_rules_are_proved(seed, rules, tmp_path):
    rng = np.random.default_rng(seed)
    costs = rng.integers(1, 20, len(COMPLETE)).tolist()
    graph = {"arcs": COMPLETE, "sink": -1, "count": [0, None], "upper": [1] * len(COMPLETE), "fixed": []}
    graph |= dict(zip(("rules", "resources"), RULED[rules], strict=True))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(COMPLETE)), domain=pyo.Binary)
    into = {v: [a for a, (_, j) in enumerate(COMPLETE) if j == v] for v in range(1, 6)}
    m.visit = pyo.Constraint(range(1, 6), rule=lambda m, v: sum(m.x[a] for a in into[v]) == 1)
    m.cost = pyo.Objective(expr=sum(cost * m.x[a] for a, cost in enumerate(costs)))
    m.p = paths_of(graph, list(m.x.values()))
    each = [([COMPLETE[a][1] for a in walk[:-1]], sum(costs[a] for a in walk)) for walk in walks(graph)]
    best = partition([(frozenset(v), cost) for v, cost in each if len(set(v)) == len(v)], 5)
    _is_proved(m, best, tmp_path / "proof.jsonl")


def _count(before, arc, vertex, after):
    after[0] = before[0] + 1.0
    return after[0] <= 4.0


def _fewer(one, other):
    return one[0] <= other[0]


def test_resources_of_users_are_trusted(tmp_path):
    m, _ = routing(2, customers=4)
    m.type_0._resources = (CustomResource(_count, _fewer, [0.0]),)
    result, verdict, _ = _certified(m, tmp_path / "proof.jsonl")
    assert verdict.claims.trusted
    assert result.objective is not None
