"""Certificates of colourings: complete trees, and tampered records."""

import pytest

from colgen import Method, NodeLimit, Record, solve
from colgen.certificate.checker import check
from colgen.core.result import Termination
from colgen.problems.colouring import Colouring, mycielski, random, write
from tests.fuzz.alterations import find_undetected


def certified(instance, path, **settings):
    result = solve(Colouring(instance), record=Record(certificate=path), **settings)
    return result, path.read_text().splitlines()


@pytest.mark.parametrize("seed", range(4))
def test_complete_trees_are_proved(tmp_path, seed):
    instance = random(24, seed, density=0.3 + 0.1 * seed)
    result, lines = certified(instance, tmp_path / "proof.jsonl")
    write(instance, tmp_path / "graph.col")
    verdict = check(lines, (tmp_path / "graph.col").read_text())
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.objective, verdict.claims.trusted) == ("optimal", result.objective, 0)


def test_a_tree_of_pairs_is_checked_and_tampering_is_detected(tmp_path):
    """Grötzsch's graph needs four colours, and its relaxation has value 29/10: the root bound is too weak."""
    result, lines = certified(mycielski(4), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert (verdict.proves, verdict.objective, verdict.claims.trusted) == ("optimal", 4, 0)
    assert result.objective == 4
    assert verdict.leaves > 1
    assert not find_undetected([lines], range(100))


def test_an_interrupted_run_proves_its_bound(tmp_path):
    _, lines = certified(mycielski(4), tmp_path / "proof.jsonl", stop=NodeLimit(1), method=Method(heuristics=()))
    verdict = check(lines)
    assert (verdict.proves, verdict.bound, verdict.claims.trusted) == ("bound", 3, 0)
