"""Models in MPS and LP files: what HiGHS reads without a warning, and what is refused."""

import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest

from colgen import CompactModel, InputError, Sense, decompose, read, solve
from colgen.decomposition.detection import find_blocks
from colgen.decomposition.reading import files
from colgen.solvers.linear.named import read_program

MIP = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data")) / "mip"

KNAPSACKS = """\\ two knapsacks and two items
maximize
 profit: 3 x1 + 2 x2 + 4 y1 + y2
subject to
 once_1: x1 + y1 <= 1
 once_2: x2 + y2 <= 1
 room_x: 2 x1 + 3 x2 <= 4
 room_y: 3 y1 + 2 y2 <= 4
binary
 x1 x2 y1 y2
end
"""

RANGES = """NAME ranges
ROWS
 N cost
 E equal
 G atleast
 L atmost
COLUMNS
 M 'MARKER' 'INTORG'
 x cost 1 equal 1
 x atleast 2
 M 'MARKER' 'INTEND'
 y cost -1 atmost 1
RHS
 r equal 5 atleast 1
 r atmost 4 cost 7
RANGES
 g equal -2 atleast 3
 g atmost 1.5
BOUNDS
 UP b x 9
 MI b y
ENDATA
"""


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_file_becomes_arrays_with_its_names(tmp_path):
    model = read(write(tmp_path, "knapsacks.lp", KNAPSACKS))
    f = model.formulation
    assert isinstance(model, CompactModel)
    assert f.sense is Sense.MAXIMIZE
    assert model.names == ("x1", "x2", "y1", "y2")
    assert model.source.constraint_names == ("once_1", "once_2", "room_x", "room_y")
    assert model.source.name == "knapsacks.lp"
    assert f.costs.tolist() == [3, 2, 4, 1]
    assert f.integer.all()
    assert f.matrix.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [2, 3, 0, 0], [0, 0, 3, 2]]


def test_ranges_offsets_and_bounds_of_mps(tmp_path):
    f = read(write(tmp_path, "ranges.mps", RANGES)).formulation
    assert f.offset == -7.0
    assert (f.row_lower.tolist(), f.row_upper.tolist()) == ([3, 1, 2.5], [5, 4, 4])
    assert (f.lower.tolist(), f.upper.tolist()) == ([0, -math.inf], [9, math.inf])
    assert f.integer.tolist() == [True, False]


@pytest.mark.parametrize("name", ["knapsacks.lp.gz", "KNAPSACKS.LP.GZ"])
def test_a_compressed_file_is_the_same_model(tmp_path, name):
    packed = tmp_path / name
    packed.write_bytes(gzip.compress(KNAPSACKS.encode()))
    result = solve(decompose(read(packed), lambda name: name if name.startswith("room") else None))
    assert result.is_optimal
    assert result.objective == 6.0
    assert dict(result.answer) == {"x1": 0.0, "x2": 1.0, "y1": 1.0, "y2": 0.0}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.lp", "min\n obj: x + y\nst\n c1: x + y >= 1\nsos\n s1: S1:: x:1 y:2\nend\n", "SOS"),
        (
            "a.lp",
            "min\n obj: x\nst\n c: x + y >= 1\nbounds\n 2 <= x <= 5\nsemi-continuous\n x\nend\n",
            "line 8 of the file: 'x': semicont",
        ),
        ("a.lp", "min\n obj: x + [ x^2 ]/2\nst\n c1: x + y >= 1\nend\n", "quadratic"),
        ("a.lp", "min\n obj: x\nst\n c1: x + y + [ x^2 ] >= 1\nend\n", "line 4 .* quadratic"),
        ("a.lp", "min\n obj: x\nst\n c1: b = 1 -> x + y >= 1\nbin\n b\nend\n", "a.lp"),
        ("a.lp", "min\n obj: x\nst\n c1: x + y >= 1\n c1: x <= 3\nend\n", "line 5 .* two rows have the name 'c1'"),
        ("a.lp", "min\n obj: x\nst\n c1: x + y + x >= 1\nend\n", "line 4 .* two terms"),
        ("a.mps", "NAME t\nROWS\n N o\n E c\nCOLUMNS\n x o 1 c 1e-12\n y o 1 c 1\nRHS\n r c 5\nENDATA\n", "ignored"),
        (
            "a.mps",
            "NAME t\nROWS\n N o\n G c\nCOLUMNS\n x o 1 c 1\nBOUNDS\n UP b x -3\nENDATA\n",
            "line 8 .* negative upper bound",
        ),
        ("a.mps.gz", "not compressed", "gzip"),
        ("a.lp", "no model", r"a\.lp: line 1 of the file"),
        ("a.mps", "NAME t\nROWS\n N o\nCOLUMNS\nENDATA\n", "no variables"),
        ("a.txt", "", r"\.mps or \.lp"),
    ],
)
def test_what_is_not_a_linear_model_is_refused(tmp_path, name, text, message):
    with pytest.raises(InputError, match=message):
        read(write(tmp_path, name, text))


def test_blocks_found_in_one_reading_belong_to_the_next(tmp_path):
    path = write(tmp_path, "knapsacks.lp", KNAPSACKS)
    found = find_blocks(read(path))
    assert solve(decompose(read(path), found)).objective == 6.0
    with pytest.raises(InputError, match="another model"):
        decompose(read(write(tmp_path, "ranges.mps", RANGES)), found)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.lp"):
        read(tmp_path / "nothing.lp")


@pytest.mark.slow
@pytest.mark.skipif(not MIP.is_dir(), reason=f"needs the models in {MIP}")
def test_models_of_gcg_with_their_decompositions_are_proved():
    optima = dict(line.split(",")[:2] for line in (MIP / "optima.csv").read_text().splitlines()[1:])
    checked = 0
    for path in sorted([*MIP.glob("*.dec"), *MIP.glob("*.blk")]):
        model = next(path.with_suffix(end) for end in (".lp", ".mps") if path.with_suffix(end).exists())
        problem = decompose(read(model, path))
        result = solve(problem, time_limit=120)
        assert result.is_optimal
        assert result.bound_source == "colgen"
        assert result.objective == float(optima[model.name])
        assert np.isclose(problem.check(result.answer), result.objective)
        checked += 1
    assert checked == 6


IGNORED = {
    "the objective": ("maximize", "maximise", "line 2 of the file: expected nothing outside the sections"),
    "a term of the objective": ("4 y1", "4 x1", "line 3 of the file: the variable 'x1' has two terms"),
    "a constant": ("3 x2 <= 4", "3 x2 + 5 <= 4", "line 7 of the file: row 'room_x' has a constant"),
}


@pytest.mark.parametrize(("before", "after", "reason"), IGNORED.values(), ids=list(IGNORED))
def test_what_highs_ignores_without_a_warning_is_refused(tmp_path, before, after, reason):
    assert before in KNAPSACKS
    path = write(tmp_path, "model.lp", KNAPSACKS.replace(before, after))
    assert read_program(path)
    with pytest.raises(InputError, match=reason):
        read(path)


def test_names_with_spaces_are_refused(tmp_path):
    text = RANGES.replace(" G atleast", " G at least")  # HiGHS would not end
    with pytest.raises(InputError, match="line 5 of the file: expected N, L, G or E and a name without spaces"):
        read(write(tmp_path, "model.mps", text))


def test_comparisons_that_highs_does_not_read_are_replaced(tmp_path):
    text = "min\n x + y\nst\n a: x + 2 y {} 3\n b: x - y {} 4\nbounds\n x < 5\n y =< 6\ngenerals\n x y\nend\n"
    wanted = read(write(tmp_path, "plain.lp", text.format(">=", "<=")))
    for ge, le in ((">", "<"), ("=>", "=<"), (">=", "<")):
        found = read(write(tmp_path, "other.lp", text.format(ge, le)))
        for name in ("row_lower", "row_upper", "lower", "upper"):
            assert np.array_equal(getattr(found.formulation, name), getattr(wanted.formulation, name))
        assert not (found.rows != wanted.rows).nnz


def test_large_files_are_read_once(tmp_path, monkeypatch):
    path = write(tmp_path, "model.lp", KNAPSACKS.replace("maximize", "maximise"))
    monkeypatch.setattr(files, "_TWICE", path.stat().st_size - 1)
    assert not read(path).formulation.costs.any()


def test_both_readers_must_agree(tmp_path):
    with pytest.raises(InputError, match="different objective"):
        read(write(tmp_path, "model.mps", "OBJSENSE MAXIMIZE\n" + RANGES))
    sides, ranges = RANGES[RANGES.index("RHS") : RANGES.index("RANGES")], RANGES[RANGES.index("RANGES") :]
    ranges = ranges[: ranges.index("BOUNDS")]
    with pytest.raises(InputError, match="different sides of rows"):
        read(write(tmp_path, "model.mps", RANGES.replace(sides + ranges, ranges + sides)))
