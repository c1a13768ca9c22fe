"""Certificates of trees: potentials, splits on arcs, and claims within rounding."""

import json
from fractions import Fraction

import numpy as np
import pytest

from colgen import Record, solve
from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from colgen.core.result import Termination
from colgen.problems.grandparent_parsing import GrandparentInstance as Chains
from colgen.problems.grandparent_parsing import GrandparentParsing
from colgen.problems.grandparent_parsing import random as random_chains
from colgen.problems.nonlocal_parsing import NonlocalParsing
from colgen.problems.nonlocal_parsing import random as random_factors
from tests.fuzz.alterations import find_undetected


def certified(problem, path):
    result = solve(problem, record=Record(certificate=path))
    return result, path.read_text().splitlines()


@pytest.mark.parametrize(
    "problem",
    [
        GrandparentParsing(random_chains(6, 3)),
        GrandparentParsing(random_chains(6, 0, single_root=True)),
        NonlocalParsing(random_factors(4, 1)),
        NonlocalParsing(random_factors(4, 1, projective=False)),
    ],
)
def test_trees_are_proved(tmp_path, problem):
    result, lines = certified(problem, tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.claims.trusted, verdict.stated) == ("optimal", 0, True)
    assert float(verdict.objective) == pytest.approx(result.objective)
    assert not find_undetected([lines], range(30))


def test_wrong_potentials_are_refused(tmp_path):
    """Each number of a claim is moved to an invalid value."""
    _, lines = certified(NonlocalParsing(random_factors(4, 1, projective=False)), tmp_path / "proof.jsonl")
    k = next(k for k, line in enumerate(lines) if '"potentials"' in line and '"weight":1' in line)
    far = 10**30
    for word in range(4):
        assert_refused(lines, k, lambda given, word=word: given["words"].__setitem__(word, given["words"][word] - far))
    for number in range(3):
        assert_refused(lines, k, lambda given, number=number: given["factors"][number].__setitem__(0, -far))
        assert_refused(lines, k, lambda given, number=number: given["factors"][number].append(0))
    assert_refused(lines, k, lambda given: given["sets"].append([[1, 2], 1]))
    assert_refused(lines, k, lambda given: given["sets"].append([[], -far]))
    assert_refused(lines, k, lambda given: given["sets"].append([[0, 1, 2, 3, 4], -far]))
    assert_refused(lines, k, lambda given: given.__setitem__("root", -far))


def assert_refused(lines, k, change):
    record = json.loads(lines[k])
    change(record["claim"]["potentials"])
    with pytest.raises(WrongError):
        check([*lines[:k], json.dumps(record), *lines[k + 1 :]])


def test_claims_within_rounding_are_marked(tmp_path):
    """Trees whose scores are equal in floating point but not exactly."""
    tiny = 2.0**-60
    arcs = np.full((3, 3), -np.inf)
    arcs[0, 1], arcs[0, 2], arcs[1, 2], arcs[2, 1] = 1.0, 1.0, tiny, 2.0 * tiny
    problem = GrandparentParsing(Chains(arcs, single_root=True))
    result, lines = certified(problem, tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert verdict.claims.trusted == 0
    best = 1 + Fraction(2, 2**60)
    assert verdict.bound >= best
    assert (result.termination is Termination.OPTIMAL) == (verdict.objective == best)


def test_unsupported_claims_are_trusted(tmp_path):
    for problem in (
        GrandparentParsing(random_chains(4, 0, siblings=True)),
        NonlocalParsing(random_factors(4, 0, order=2)),
        NonlocalParsing(random_factors(4, 0), k=2),
    ):
        _, lines = certified(problem, tmp_path / "proof.jsonl")
        assert check(lines).claims.trusted
