"""Graphs that need more colours than stable sets prove."""

from fractions import Fraction

import numpy as np
import pytest

from colgen import Record, Termination, solve
from colgen.certificate.checker import check
from colgen.problems.colouring import Colouring, heuristics, mycielski, random
from colgen.problems.colouring.bound import fractional_chromatic_number
from colgen.problems.colouring.lower_bounds import fewest_colours_proved
from tests.solvers.graphs.test_mycielskian import colours_of


@pytest.mark.parametrize("colours", [7, 8])
def test_large_mycielski_graphs_are_proved_without_a_linear_program(colours):
    result = solve(Colouring(mycielski(colours)), time_limit=60)
    assert result.termination is Termination.OPTIMAL
    assert result.objective == colours


@pytest.mark.parametrize("seed", range(30))
def test_no_more_colours_are_proved_than_needed(seed):
    rng = np.random.default_rng(seed)
    adjacency = random(int(rng.integers(2, 12)), seed, density=float(rng.uniform(0.1, 0.8))).adjacency
    needed = colours_of(adjacency)
    for known in (needed, needed + 1):
        found = fewest_colours_proved(adjacency, np.array([0]), known, lambda: False)
        assert found <= needed
        assert known > needed or found == needed


@pytest.mark.parametrize("cuts", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_proved_number_changes_no_optimum(seed, cuts, monkeypatch):
    """Either the root is closed before its relaxation, or the proof is not enough and the tree is searched."""
    instance = random(24, seed, density=0.4)
    best = colours_of(instance.adjacency)
    monkeypatch.setattr(heuristics, "fewest_colours_proved", lambda *given: best - 1 + seed % 2)
    result = solve(Colouring(instance, cuts=cuts))
    assert (result.termination, result.objective) == (Termination.OPTIMAL, best)


def test_a_certificate_is_proved_by_the_tree(tmp_path):
    """Combinatorial proofs have no lines in a certificate, so they close no node."""
    result = solve(Colouring(mycielski(5)), record=Record(certificate=tmp_path / "proof.jsonl"))
    assert result.objective == 5
    verdict = check((tmp_path / "proof.jsonl").read_text().splitlines())
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)


def test_combinatorial_proofs_leave_the_relaxation_alone():
    assert fractional_chromatic_number(mycielski(4)) == Fraction(29, 10)
