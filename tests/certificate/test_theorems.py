"""Certifiers of knapsacks: the checker confirms their claims."""

import json

import pytest

from colgen import Record, solve
from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from colgen.core.result import Termination
from colgen.problems.assignment import Assignment, random, write
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, natural


@pytest.mark.parametrize("instance", [CuttingStockInstance(132, (44, 33, 12), (2, 3, 6)), natural(7)])
def test_claims_of_nodes_are_proved_exactly(tmp_path, instance):
    path = tmp_path / "proof.jsonl"
    result = solve(CuttingStock(instance), record=Record(certificate=path))
    verdict = check(path.read_text().splitlines())
    assert result.termination is Termination.OPTIMAL
    assert verdict.objective == verdict.bound == result.objective


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_assignments(tmp_path, seed):
    path, file = tmp_path / "proof.jsonl", tmp_path / "machines.txt"
    instance = random(3, 14, seed)
    write(instance, file)
    result = solve(Assignment(instance), record=Record(certificate=path))
    verdict = check(path.read_text().splitlines(), file.read_text())
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.objective, verdict.claims.trusted) == ("optimal", result.objective, 0)
    assert verdict.leaves > 1


class Short(CuttingStock):
    """A problem whose certifier finds no dual values that prove a bound."""

    def certifier(self):
        certifier = super().certifier()
        certifier.values = lambda duals: None
        return certifier


def test_a_bound_that_exact_arithmetic_does_not_reach_is_within_tolerance(tmp_path):
    path = tmp_path / "proof.jsonl"
    result = solve(Short(natural(7)), record=Record(certificate=path))
    assert result.termination is Termination.WITHIN_TOLERANCE
    assert not result.is_optimal
    assert not check(path.read_text().splitlines()).checked


def test_changes_of_dual_values_of_a_fixing_are_detected(tmp_path):
    path = tmp_path / "proof.jsonl"
    solve(Assignment(random(3, 14, 4)), record=Record(certificate=path))
    lines = path.read_text().splitlines()
    k, fix = next((k, line) for k, line in enumerate(lines) if '"fix"' in line)
    for row in range(14):
        record = json.loads(fix)
        record["fix"]["duals"][row] += 1
        with pytest.raises(WrongError):
            check([*lines[:k], json.dumps(record), *lines[k + 1 :]])
