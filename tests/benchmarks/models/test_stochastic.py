"""The benchmark of two-stage programs, on small ones."""

import pytest

from benchmarks.harness import BenchOptions, say_nothing
from benchmarks.models import stochastic

CORE = """NAME plan
ROWS
 N cost
 L budget
 G demand
COLUMNS
 build cost 3 budget 1
 build demand 1
 MARK 'MARKER' 'INTORG'
 buy cost 5 demand 2
 MARK 'MARKER' 'INTEND'
RHS
 right budget 9 demand 4
BOUNDS
 UP side buy 9
ENDATA
"""
TIMES = "TIME plan\nPERIODS LP\n build budget ONE\n buy demand TWO\nENDATA\n"
SCENARIOS = "SC low ROOT 0.5 TWO\n right demand 2\n SC high ROOT 0.5 TWO\n right demand 7\n"


@pytest.fixture
def folder(tmp_path):
    continuous = CORE.replace(" MARK 'MARKER' 'INTORG'\n", "").replace(" MARK 'MARKER' 'INTEND'\n", "")
    for name, core in (("whole", CORE), ("plan", continuous)):
        (tmp_path / f"{name}.cor").write_text(core)
        (tmp_path / f"{name}.tim").write_text(TIMES)
        (tmp_path / f"{name}.sto").write_text(f"STOCH plan\nSCENARIOS DISCRETE\n {SCENARIOS}ENDATA\n")
    return tmp_path


def test_second_stages_decide_the_decomposition(folder):
    said = list[str]()
    found = stochastic.stochastic_figures(folder, BenchOptions(data=folder, quick=True, say=said.append))
    figures = {figure.name: figure for figure in found}
    assert [line.split(" ")[1] for line in said] == ["benders", "HiGHS", "dantzig-wolfe", "HiGHS"]
    assert {"stochastic_whole_seconds", "stochastic_plan_vs_highs"} <= figures.keys()
    assert figures["stochastic_proved"].n == 2
    assert figures["stochastic_proved"].value >= 1


def test_answers_that_contradict_the_extensive_form_are_an_error(folder, monkeypatch):
    highs = stochastic.run_highs

    def wrong(name, path, limit):
        found = highs(name, path, limit)
        return type(found)(**{**vars(found), "objective": found.objective - 1.0, "bound": found.bound - 1.0})

    monkeypatch.setattr(stochastic, "run_highs", wrong)
    with pytest.raises(AssertionError):
        stochastic.stochastic_figures(folder, BenchOptions(data=folder, quick=True, say=say_nothing))
