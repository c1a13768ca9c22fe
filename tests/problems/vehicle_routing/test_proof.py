"""Certificates of routes: lists, searches over them, and tampered records."""

import dataclasses
from fractions import Fraction

import pytest

from colgen import Record, solve
from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from colgen.core.result import Termination
from colgen.core.solution import Solution
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting, euclidean, random, write
from tests.fuzz.alterations import find_undetected


def certified(instance, path, **settings):
    result = solve(VehicleRouting(instance), record=Record(certificate=path), **settings)
    return result, path.read_text().splitlines()


@pytest.mark.parametrize("windows", [True, False])
@pytest.mark.parametrize("seed", [1, 3])
def test_routes_are_proved(tmp_path, seed, windows):
    result, lines = certified(random(seed, customers=12, windows=windows), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.claims.trusted, verdict.stated) == ("optimal", 0, True)
    assert float(verdict.objective) == result.objective


def test_a_certificate_of_another_file_is_rejected(tmp_path):
    instance = random(1, customers=8)
    _, lines = certified(instance.first(6), tmp_path / "proof.jsonl")
    write(instance, tmp_path / "routes.txt")
    with pytest.raises(WrongError, match="6 customers, its file 8"):
        check(lines, (tmp_path / "routes.txt").read_text())
    write(instance.first(6), tmp_path / "routes.txt")
    assert check(lines, (tmp_path / "routes.txt").read_text()).compared
    write(random(2, customers=6), tmp_path / "routes.txt")
    with pytest.raises(WrongError, match="differs from the file"):
        check(lines, (tmp_path / "routes.txt").read_text())


def test_tampered_lists_splits_and_cuts_are_rejected(tmp_path):
    """The certificate of this instance has all three."""
    _, lines = certified(random(3, customers=12), tmp_path / "proof.jsonl")
    assert '"left"' in lines[4]
    assert any('"split"' in line for line in lines)
    assert any('"cut"' in line for line in lines)
    assert not find_undetected([lines], range(150))


def test_a_suboptimal_answer_is_not_proved_optimal():
    """The list depends on the claim: a better solution in it keeps the bound below the claim."""
    instance = random(1, customers=8)
    best = solve(VehicleRouting(instance))
    problem = VehicleRouting(instance)
    alone = tuple((problem.column((i,)), 1.0) for i in instance.customers)
    certifier = problem.certifier()
    goal = certifier.objective(Solution(instance.total([(i,) for i in instance.customers]), alone))
    *_, last = certifier.proof(best.solution, (), goal)
    assert "claim" in last
    assert Fraction(last["claim"]["bound"]) < goal


def test_instances_with_too_many_customers_are_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr("colgen.certificate.listing._LABELS", 10)
    _, lines = certified(random(0, customers=8), tmp_path / "proof.jsonl")
    assert check(lines).claims.trusted


def test_numbers_with_many_decimals_are_trusted(tmp_path):
    places = ((0.0, 0.0), (1.0, 2.0), (3.0, 1.0))
    _, lines = certified(RoutingInstance(euclidean(places), (0, 1, 1), 1), tmp_path / "proof.jsonl")
    assert check(lines).claims.trusted


def test_customers_without_demand_are_not_visited_in_cycles(tmp_path):
    instance = dataclasses.replace(random(0, customers=8, windows=False), demands=(0,) * 9)
    _, lines = certified(instance, tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
