"""Two-stage programs in SMPS: scenarios of every section, compared with the model written by hand."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from colgen import InputError, decompose, read, solve
from colgen.decomposition.reading import smps
from colgen.decomposition.reading.compact_model import MASTER

STOCHASTIC = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data")) / "stochastic"

CORE = """NAME plan
ROWS
 N cost
 L budget
 G demand
 E balance
COLUMNS
 build cost 3 budget 1
 build demand 1
 buy cost 5 demand 1
 buy balance 2
 sell cost -1 balance -1
RHS
 right budget 9 demand 4
 right balance 0
ENDATA
"""
TIMES = "TIME plan\nPERIODS LP\n build budget ONE\n buy demand TWO\nENDATA\n"


def model(tmp_path, sto, core=CORE, times=TIMES):
    (tmp_path / "plan.cor").write_text(core)
    (tmp_path / "plan.tim").write_text(times)
    (tmp_path / "plan.sto").write_text(f"* a comment\nSTOCH plan\n{sto}ENDATA\n")
    return read(tmp_path / "plan.cor")


def optimum(scenarios):
    """Return the least expected cost for (probability, demand, cost of buying, coefficient of build in demand)."""
    count = len(scenarios)
    costs, rows = [3.0], []
    for probability, _, buying, _ in scenarios:
        costs += [probability * buying, -probability]
    for s, (_, demand, _, building) in enumerate(scenarios):
        row = np.zeros(1 + 2 * count)
        row[0], row[1 + 2 * s] = building, 1.0
        rows.append((row, demand, np.inf))
        row = np.zeros(1 + 2 * count)
        row[1 + 2 * s], row[2 + 2 * s] = 2.0, -1.0
        rows.append((row, 0.0, 0.0))
    matrix, low, high = (np.array(part) for part in zip(*rows, strict=True))
    bounds = optimize.Bounds(0.0, [9.0] + [np.inf] * (2 * count))
    return optimize.milp(costs, constraints=optimize.LinearConstraint(matrix, low, high), bounds=bounds).fun


SECTIONS = {
    "scenarios": (
        "SCENARIOS DISCRETE\n SC low ROOT 0.25 TWO\n right demand 2\n buy cost 7\n"
        " SC high 'ROOT' 0.5 TWO\n right demand 6\n build demand 2\n SC same high 0.25 TWO\n buy cost 4\n",
        [(0.25, 2, 7, 1), (0.5, 6, 5, 2), (0.25, 6, 4, 2)],
    ),
    "added": (
        "SCENARIOS DISCRETE ADD\n SC low ROOT 0.5 TWO\n right demand -1\n SC high ROOT 0.5 TWO\n buy cost 2 demand 0\n",
        [(0.5, 3, 5, 1), (0.5, 4, 7, 1)],
    ),
    "multiplied": (
        "SCENARIOS MULTIPLY\n SC low ROOT 0.5 TWO\n right demand 1.5\n SC high ROOT 0.5 TWO\n build demand 3\n",
        [(0.5, 6, 5, 1), (0.5, 4, 5, 3)],
    ),
    "independent": (
        "INDEP DISCRETE\n right demand 2 TWO 0.25\n right demand 8 TWO 0.75\n buy cost 4 0.5\n buy cost 9 0.5\n",
        [(p * q, d, c, 1) for (p, d), (q, c) in itertools.product([(0.25, 2), (0.75, 8)], [(0.5, 4), (0.5, 9)])],
    ),
    "blocks": (
        "BLOCKS DISCRETE\n BL a TWO 0.25\n right demand 2\n buy cost 4\n BL a TWO 0.75\n right demand 8\n"
        " BL b TWO 0.5\n build demand 2\n BL b TWO 0.5\n build demand 1\n",
        [
            (p * q, d, c, b)
            for (p, d, c), (q, b) in itertools.product([(0.25, 2, 4), (0.75, 8, 4)], [(0.5, 2), (0.5, 1)])
        ],
    ),
}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("method", ["benders", "dantzig-wolfe"])
def test_scenarios_of_each_section(tmp_path, section, method):
    text, scenarios = SECTIONS[section]
    extensive = model(tmp_path, text)
    assert len(extensive.blocks.names) == len(scenarios)
    assert (extensive.blocks.of_column == MASTER).sum() == (extensive.blocks.of_row == MASTER).sum() == 1
    result = solve(decompose(extensive, method=method))
    assert result.is_optimal
    assert result.objective == pytest.approx(optimum(scenarios))
    assert set(result.answer) == set(extensive.names)
    assert extensive.names[1] == f"buy[{extensive.blocks.names[0]}]"


@pytest.mark.parametrize(
    ("sto", "message"),
    [
        ("SCENARIOS\n SC a ROOT 0.5 TWO\n", "sum to 0.5, expected 1"),
        ("SCENARIOS\n SC a b 1 TWO\n", "line 4: .* unknown parent 'b'"),
        ("SCENARIOS\n SC a ROOT 1 TWO\n right budget 3\n", "'budget' belongs to the first stage"),
        ("SCENARIOS\n SC a ROOT 1 TWO\n build cost 3\n", "'build' is of the first stage"),
        ("SCENARIOS\n SC a ROOT 1 TWO\n right dem 3\n", "no row 'dem'"),
        ("SCENARIOS\n SC a ROOT 1 TWO\n right demand x\n", "line 5: expected a number, not 'x'"),
        ("SCENARIOS\n right demand 3\n", "begins a member of SCENARIOS"),
        ("INDEP NORMAL\n right demand 2 TWO 0.25\n", "NORMAL"),
        ("", "at least one scenario"),
    ],
)
def test_malformed_scenarios_are_refused(tmp_path, sto, message):
    with pytest.raises(InputError, match=message):
        model(tmp_path, sto)


def test_too_many_combinations_are_refused_with_their_number(tmp_path, monkeypatch):
    monkeypatch.setattr(smps, "_MOST_SCENARIOS", 3)
    with pytest.raises(InputError, match="4 combinations"):
        model(tmp_path, SECTIONS["independent"][0])


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (TIMES.replace("ENDATA", " sell balance THREE\nENDATA"), "two periods, not 3"),
        (TIMES.replace("buy demand", "bye demand"), "no variable 'bye'"),
        (TIMES.replace("LP", "EXPLICIT"), "EXPLICIT"),
    ],
)
def test_stages_other_than_two_are_refused(tmp_path, times, message):
    with pytest.raises(InputError, match=message):
        model(tmp_path, SECTIONS["added"][0], times=times)


def test_a_first_stage_row_with_variables_of_the_second_is_refused(tmp_path):
    with pytest.raises(InputError, match="'budget' of the first stage"):
        model(tmp_path, SECTIONS["added"][0], core=CORE.replace(" sell cost -1", " sell budget 1\n sell cost -1"))


@pytest.mark.skipif(not STOCHASTIC.is_dir(), reason=f"needs the programs in {STOCHASTIC}")
def test_public_programs_are_read():
    sizes = {path.stem: read(path).rows.shape for path in sorted(STOCHASTIC.glob("*.cor"))}
    assert len(sizes) == 11
    assert sizes["sslp_10_50_50"] == (3001, 25510)
    assert sizes["dcap233_500"] == (6 + 500 * 15, 12 + 500 * 27)
