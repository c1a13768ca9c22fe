"""One line of an ablation."""

from colgen import NoStabilization, ablation
from tests.assignment import assignment


def test_a_line_says_what_a_run_took():
    (line,) = ablation(assignment(), {"plain": {"stabilization": NoStabilization()}}).lines
    assert line.is_proved
    assert (line.name, line.instance, line.misprices) == ("plain", "Assignment", 0)
    assert line.rounds == len(line.trace)
    assert line.to_dict()["columns"] == line.generated > 0


def test_a_run_that_is_cut_off_is_no_proof():
    (line,) = ablation(assignment(), {"no time": {}}, time_limit=0.0).lines
    assert not line.is_proved
