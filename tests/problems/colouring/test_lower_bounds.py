"""Graphs that need more colours than stable sets prove, and the row that states a proved number."""

import numpy as np
import pytest

from colgen import Record, Termination, solve
from colgen.problems.colouring import Colouring, mycielski, random, template
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
def test_the_row_changes_no_optimum(seed, cuts, monkeypatch):
    """A proved number below the answer's: the relaxation is solved with the row."""
    instance = random(24, seed, density=0.4)
    best = colours_of(instance.adjacency)
    monkeypatch.setattr(template, "_LARGE", 0)
    monkeypatch.setattr(template, "fewest_colours_proved", lambda *given: best - 1 + seed % 2)
    result = solve(Colouring(instance, cuts=cuts))
    assert (result.termination, result.objective) == (Termination.OPTIMAL, best)


def test_a_certificate_of_a_combinatorial_bound_is_trusted(tmp_path):
    result = solve(Colouring(mycielski(7)), record=Record(certificate=tmp_path / "proof.jsonl"))
    assert result.objective == 7
    assert any("trusted" in note for note in result.notes)
