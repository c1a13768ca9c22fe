"""Certificates of problems without a certifier."""

import json
import math

import pytest

from colgen import InputError, Problem, Record, solve
from colgen.certificate.certifier import Certifier
from colgen.certificate.checker import check
from colgen.certificate.witness import Witness, WitnessPoint
from colgen.certificate.writing import FinishedRun, write_certificate
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed


class Mine(Unguessed):
    """A problem without a certifier."""

    def certifier(self):
        return Problem.certifier(self)


class Unproved(Unguessed):
    """Its dual values are not those of the formulation."""

    def certifier(self):
        certifier = super().certifier()
        certifier.values = lambda duals: None
        return certifier


def test_without_a_certifier_all_is_trusted_and_counted(tmp_path):
    path = tmp_path / "proof.jsonl"
    result = solve(Mine(random(2, 8, 0)), record=Record(certificate=path))
    verdict = check(path.read_text().splitlines())
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.objective, verdict.stated) == ("optimal", result.objective, False)
    assert verdict.claims.trusted > 0


@pytest.mark.parametrize("name", ["", 3, "no/such/folder/proof"])
def test_an_invalid_path_is_refused_before_any_work(name):
    with pytest.raises(InputError, match="certificate: expected the name of a file"):
        solve(Unguessed(random(2, 8, 0)), record=Record(certificate=name))


def test_a_witness_keeps_the_order():
    witness = Witness()
    first, second = WitnessPoint([1.0], 2.0), WitnessPoint([1.0], 3.0, fixes=True)
    for point in (first, second, WitnessPoint(None, 4.0)):
        witness.record(0, point)
    assert list(witness.of(0)) == [first, second]
    assert not witness.of(1)


class Scripted(Certifier):
    """A certifier whose points prove their dual values, not their bounds in floating point."""

    def claim(self, state, point, goal):
        return {"bound": point.duals} if goal is None or point.duals >= goal else None


@pytest.mark.parametrize(("proves", "bound"), [((5, 3), 5), ((3, 5), 5), ((3, 4), 4), ((4, 3), 4)])
def test_a_root_is_proved_by_the_point_that_proves_most(tmp_path, proves, bound):
    path, witness = tmp_path / "proof.jsonl", Witness()
    for duals, says in zip(proves, (5.0, 4.5), strict=True):
        witness.record(0, WitnessPoint(duals, says))
    ended = FinishedRun(Sense.MINIMIZE, Termination.NODE_LIMIT, 5.0, None, ())
    write_certificate(path, Scripted(Sense.MINIMIZE, "scripted"), witness, ended)
    claims = [json.loads(line)["claim"] for line in path.read_text().splitlines() if "claim" in line]
    assert claims == [{"bound": bound}]


@pytest.mark.parametrize("answer", [None, Solution(7.0, ())])
def test_a_run_without_a_bound_claims_none(tmp_path, answer):
    path = tmp_path / "proof.jsonl"
    ended = FinishedRun(Sense.MINIMIZE, Termination.TIME_LIMIT, -math.inf, answer, ())
    write_certificate(path, Certifier(Sense.MINIMIZE, ""), Witness(), ended)
    verdict = check(path.read_text().splitlines())
    assert (verdict.proves, verdict.bound) == ("nothing" if answer is None else "answer", None)


def test_a_bound_rounded_beyond_the_answer_becomes_the_answer(tmp_path):
    path = tmp_path / "proof.jsonl"
    ended = FinishedRun(Sense.MAXIMIZE, Termination.TIME_LIMIT, 7.0 - 1e-12, Solution(7.0, ()), ())
    write_certificate(path, Certifier(Sense.MAXIMIZE, ""), Witness(), ended)
    assert check(path.read_text().splitlines()).bound == 7


def test_trusted_certificates_have_no_instance_that_the_checker_formulates(tmp_path):
    path = tmp_path / "proof.jsonl"
    result = solve(Unproved(random(2, 8, 0)), record=Record(certificate=path))
    verdict = check(path.read_text().splitlines())
    assert (verdict.objective, verdict.stated, verdict.checked) == (result.objective, False, False)
    assert verdict.claims.trusted
