"""Certificates of models with path blocks."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Paths, Record, decompose, solve
from colgen.certificate.checker import check
from colgen.networks import AtMostOne, Elementary, Neighbourhoods, Resource
from tests.fuzz.alterations import find_undetected
from tests.networks.programs import routing, soft_windows


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


def _model(rules=(), **changes):
    m, _ = soft_windows(2, customers=4) if changes.get("penalty") else routing(2, customers=4, rules=rules)
    return m


def test_other_rules_and_penalties_are_trusted(tmp_path):
    for m in (_model(rules=(Elementary(), AtMostOne([[1, 2]]))), _model(penalty=True)):
        result, verdict, _ = _certified(m, tmp_path / "proof.jsonl")
        assert verdict.claims.trusted
        assert result.objective is not None
