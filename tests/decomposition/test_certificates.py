"""Certificates of decomposed models: the checker accepts proofs and rejects forgeries."""

import json

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Record, Termination, decompose, solve
from colgen.certificate.checker import check
from colgen.decomposition import certificates
from colgen.model.rows import compile_model
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.highs import LPStatus
from tests.decomposition.models import FAMILIES, assignment, colours, cutting, flows, lots, packing, shifts
from tests.fuzz.alterations import find_undetected


def whole(seed, blocks=3, width=3, same=False):
    """Integer variables of both signs, rows of every kind in and between blocks, a variable of no block."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.block, m.j = pyo.RangeSet(0, blocks - 1), pyo.RangeSet(0, width - 1)
    m.spare = pyo.Var(domain=pyo.Integers, bounds=(-2, 4))
    m.x = pyo.Var(m.block, m.j, domain=pyo.Integers, bounds=(-1, 2))

    def numbers(low, high, *shape):
        array = rng.integers(low, high, (blocks, *shape))
        return (np.broadcast_to(array[:1], array.shape) if same else array).tolist()

    one, two, costs, link = (
        numbers(1, 5, width),
        numbers(-3, 4, width),
        numbers(-9, 10, width),
        numbers(-2, 4, 3, width),
    )
    m.one = pyo.Constraint(m.block, rule=lambda m, k: (-3, sum(one[k][j] * m.x[k, j] for j in m.j), 6))
    m.two = pyo.Constraint(m.block, rule=lambda m, k: sum(two[k][j] * m.x[k, j] for j in m.j) + 0.5 * m.x[k, 0] >= -2)
    sums = [sum(link[k][r][j] * m.x[k, j] for k in m.block for j in m.j) for r in range(3)]
    m.equal = pyo.Constraint(expr=sums[0] + m.spare == int(rng.integers(1, 4)))
    m.range = pyo.Constraint(expr=(-3, sums[1], 4))
    m.least = pyo.Constraint(expr=sums[2] - m.spare >= 1)
    total = sum(costs[k][j] * m.x[k, j] for k in m.block for j in m.j) + 0.1 * m.spare + 2
    m.goal = pyo.Objective(expr=total, sense=pyo.minimize if seed % 2 else pyo.maximize)
    return m


def certified(problem, path):
    result = solve(problem, record=Record(certificate=path))
    return result, path.read_text().splitlines()


@pytest.mark.parametrize("name", ["assignment", "packing", "cutting"])
@pytest.mark.parametrize("seed", range(2))
def test_models_with_knapsacks_are_proved_without_trust(tmp_path, name, seed):
    build, by = FAMILIES[name]
    result, lines = certified(decompose(build(seed), by), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == result.objective


def test_blocks_with_equal_implied_and_different_stated_bounds_are_proved(tmp_path):
    m = cutting(0)
    for item in m.item:
        m.n[1, item].setub(1_000)  # the roll holds fewer
        m.n[2, item].setub(2_000)
    result, lines = certified(decompose(m, "roll"), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == result.objective


@pytest.mark.parametrize(
    ("make", "by"),
    [
        (lambda: flows(0), "commodity"),
        (lambda: flows(1, circuits=True), "commodity"),
        (lambda: colours(0, vertices=5), "colour"),
        (lambda: shifts(0), "crew"),
    ],
)
def test_paths_stable_sets_and_intervals_are_proved_without_trust(tmp_path, make, by):
    result, lines = certified(decompose(make(), by), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == result.objective


def test_paths_in_large_networks_are_checked_in_order(tmp_path):
    """112 arcs of a grid: in another order there are too many row sums."""
    m, side = pyo.ConcreteModel(), 8
    nodes = [(u, v) for u in range(side) for v in range(side)]
    arcs = [(a, b) for a in nodes for b in ((a[0] + 1, a[1]), (a[0], a[1] + 1)) if b in set(nodes)]
    rng = np.random.default_rng(0)
    length, cost = (rng.integers(1, 9, (2, len(arcs))).tolist() for _ in range(2))
    m.k, m.arc, m.node = pyo.RangeSet(0, 1), pyo.RangeSet(0, len(arcs) - 1), pyo.RangeSet(0, len(nodes) - 1)
    m.x = pyo.Var(m.k, m.arc, domain=pyo.Binary)
    out = [[a for a, (tail, _) in enumerate(arcs) if tail == node] for node in nodes]
    into = [[a for a, (_, head) in enumerate(arcs) if head == node] for node in nodes]
    m.flow = pyo.Constraint(
        m.k,
        m.node,
        rule=lambda m, k, v: (
            sum(m.x[k, a] for a in out[v]) - sum(m.x[k, a] for a in into[v]) == (v == 0) - (v == len(nodes) - 1)
        ),
    )
    m.room = pyo.Constraint(expr=sum(length[k][a] * m.x[k, a] for k in m.k for a in m.arc) <= 110)
    m.cost = pyo.Objective(expr=sum(cost[k][a] * m.x[k, a] for k in m.k for a in m.arc))
    result, lines = certified(decompose(m, "k"), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == result.objective


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("seed", range(1, 6))
def test_rows_of_every_kind_are_proved(tmp_path, seed, same):
    model = whole(seed, same=same)
    truth = solve_complete(compile_model(model))
    result, lines = certified(decompose(model, by="block"), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert verdict.claims.trusted == 0
    if result.termination is Termination.INFEASIBLE:
        assert verdict.proves == "infeasible"
        assert truth.status is LPStatus.INFEASIBLE
    else:
        assert verdict.proves == "optimal"
        assert float(verdict.objective) == pytest.approx(truth.objective)


@pytest.mark.parametrize(("seed", "same"), [(0, False), (2, True)])
def test_entire_trees_are_proved(tmp_path, seed, same):
    """Splits on variables of blocks, and on counts of points of identical blocks within bounds."""
    result, lines = certified(decompose(whole(seed, same=same), by="block"), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert verdict.leaves > 5
    assert same == any('"counts":[[' in line for line in lines)


def test_forgeries_are_rejected(tmp_path):
    told = [
        certified(decompose(assignment(0), "machine"), tmp_path / "a.jsonl")[1],
        certified(decompose(packing(0), "bin"), tmp_path / "b.jsonl")[1],
        certified(decompose(whole(3, same=True), "block"), tmp_path / "c.jsonl")[1],
    ]
    for lines in told:
        assert find_undetected([lines], range(150)) == []


@pytest.mark.parametrize("seed", range(3))
def test_blocks_of_continuous_variables_are_proved_by_trees_of_bounds(tmp_path, seed):
    """Costs have many digits, so rounded dual values may prove slightly less than the optimum."""
    result, lines = certified(decompose(lots(seed), "item"), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert result.termination in (Termination.OPTIMAL, Termination.WITHIN_TOLERANCE)
    assert verdict.checked
    assert float(verdict.bound) == pytest.approx(result.objective)
    assert find_undetected([lines], range(100)) == []


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("seed", range(1, 4))
def test_continuous_rows_of_every_kind_are_proved(tmp_path, seed, same):
    """Also identical blocks, with branching on counts of their points within bounds, and infeasible models."""
    model = whole(seed, same=same)
    for k in model.block:
        model.x[k, 1].domain = pyo.Reals
    truth = solve_complete(compile_model(model))
    result, lines = certified(decompose(model, by="block"), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert verdict.checked
    if truth.status is LPStatus.INFEASIBLE:
        assert verdict.proves == "infeasible"
    else:
        assert float(verdict.bound) == pytest.approx(truth.objective)
        assert result.objective == pytest.approx(truth.objective)


def test_trees_of_bounds_that_are_too_large_are_trusted_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(certificates, "_MOST_NODES", 3)
    result, lines = certified(decompose(lots(0), "item"), tmp_path / "proof.jsonl")
    assert check(lines).claims.trusted > 0
    assert any("claims are trusted" in note for note in result.notes)


def test_another_model_is_another_certificate(tmp_path):
    _, lines = certified(decompose(assignment(0), "machine"), tmp_path / "proof.jsonl")
    record = json.loads(lines[1])
    record["instance"]["variables"][0][0] += 1
    with pytest.raises(Exception, match="digest"):
        check([lines[0], json.dumps(record), *lines[2:]])


@pytest.mark.parametrize("side", [1, 0])
def test_rows_whose_variables_are_all_fixed(tmp_path, side):
    m = pyo.ConcreteModel()
    m.k = pyo.RangeSet(0, 1)
    m.x = pyo.Var(m.k, [0, 1], domain=pyo.Binary)
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.x[k, 0] + m.x[k, 1] <= 1)
    m.fixed = pyo.Constraint(expr=m.x[0, 0] <= side)
    m.link = pyo.Constraint(expr=m.x[0, 1] + m.x[1, 1] <= 1)
    m.profit = pyo.Objective(expr=m.x[0, 1] + m.x[1, 1], sense=pyo.maximize)
    m.x[0, 0].fix(0)
    path, blocks = tmp_path / "proof.jsonl", {"own[0]": 0, "own[1]": 1, "fixed": 0}
    result = solve(decompose(m, lambda row: blocks.get(row.name)), record=Record(certificate=path))
    verdict = check(path.read_text().splitlines())
    assert (verdict.proves, verdict.objective, verdict.claims.trusted) == ("optimal", result.objective, 0)


def test_blocks_with_too_many_sums_are_proved_by_trees_of_bounds(tmp_path):
    m = pyo.ConcreteModel()
    m.k = pyo.RangeSet(0, 1)
    m.x = pyo.Var(m.k, [0, 1], domain=pyo.Integers, bounds=(0, 3))
    m.own = pyo.Constraint(m.k, rule=lambda m, k: 10**14 * m.x[k, 0] + (10**14 + 10**12 + 1) * m.x[k, 1] <= 3 * 10**14)
    m.link = pyo.Constraint(expr=m.x[0, 1] + m.x[1, 1] <= 5)
    m.profit = pyo.Objective(expr=m.x[0, 1] + m.x[1, 1], sense=pyo.maximize)
    result = solve(decompose(m, "k"), record=Record(certificate=tmp_path / "proof.jsonl"))
    assert result.objective == 4.0
    verdict = check((tmp_path / "proof.jsonl").read_text().splitlines())
    assert (verdict.proves, verdict.objective, verdict.claims.trusted) == ("optimal", 4, 0)


def test_answers_with_seven_decimals_are_exact(tmp_path):
    m = pyo.ConcreteModel()
    m.k = pyo.RangeSet(0, 1)
    m.x, m.z = pyo.Var(m.k, domain=pyo.Integers, bounds=(0, 3)), pyo.Var(m.k, bounds=(0, 50))
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.z[k] == 4.9166003 * m.x[k])
    m.link = pyo.Constraint(expr=m.x[0] + m.x[1] == 3)
    m.cost = pyo.Objective(expr=m.x[0] + 2 * m.x[1])
    result, lines = certified(decompose(m, "k"), tmp_path / "proof.jsonl")
    assert result.objective == 3.0
    assert check(lines).checked
