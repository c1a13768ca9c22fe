"""Decompositions in GCG's formats: what a file states, what is completed, what is refused."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import InputError, decompose, read, solve
from colgen.decomposition.detection import find_in
from colgen.decomposition.reading.compact_model import MASTER
from colgen.decomposition.reading.copies import linking_variables
from colgen.decomposition.reading.decomposition_files import read_blocks, write_dec

MODEL = """min
 cost: y0 + y1 + y2 + y3
subject to
 assign_0: x00 + x10 + x20 + x30 >= 1
 assign_1: x01 + x11 + x21 + x31 >= 1
 link_0: y1 - y0 >= 0
 link_1: y3 - y2 >= 0
 cap_0: 2 x00 + 3 x01 - 10 y0 <= 0
 cap_1: 2 x10 + 3 x11 - 5 y1 <= 0
 cap_2: 2 x20 + 3 x21 - 10 y2 <= 0
 cap_3: 2 x30 + 3 x31 - 5 y3 <= 0
binary
 x00 x01 x10 x11 x20 x21 x30 x31 y0 y1 y2 y3
end
"""

TWO = (
    "PRESOLVED\n0\nNBLOCKS\n2\nBLOCK 1\ncap_0\ncap_1\nlink_0\n"
    "BLOCK 2\ncap_2 cap_3\nlink_1\nMASTERCONSS\nassign_0\nassign_1\n"
)


def blocks(tmp_path, text, ending=".dec"):
    """Return the model, and the block of each row by name, numbered from 1; 0 is the master."""
    (tmp_path / "m.lp").write_text(MODEL)
    (tmp_path / f"m{ending}").write_text(text if isinstance(text, str) else json.dumps(text))
    model = read(tmp_path / "m.lp", tmp_path / f"m{ending}")
    names = [0, *model.blocks.names]
    return model, {
        name: names[block + 1]
        for name, block in zip(model.source.constraint_names, model.blocks.of_row.tolist(), strict=True)
    }


EXPECTED = {"cap_0": 1, "cap_1": 1, "link_0": 1, "cap_2": 2, "cap_3": 2, "link_1": 2, "assign_0": 0, "assign_1": 0}

JDEC = {
    "version": 1,
    "decomposition": {
        "presolved": False,
        "master_constraints": ["assign_0", "assign_1"],
        "blocks": [
            {"constraints": ["cap_0", "cap_1", "link_0"], "symmetry_representative_block": 0},
            {"constraints": ["cap_2", "cap_3", "link_1"], "symmetry_representative_block": 0},
        ],
    },
}


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (TWO, ".dec"),
        (TWO.lower().replace("block ", "Block "), ".dec"),
        ("made by hand\n\\ BLOCK 9\n" + TWO.replace("cap_2 ", "cap_2 \\ the third\n"), ".dec"),
        (TWO.replace("BLOCK 1", "BLOCK 0").replace("BLOCK 2", "BLOCK 1"), ".dec"),
        (
            TWO.replace("PRESOLVED\n0\n", "CONSDEFAULTMASTER\n1\n").replace("MASTERCONSS\nassign_0\nassign_1\n", ""),
            ".dec",
        ),
        ("CONSDEFAULTMASTER 0 NBLOCKS 2 BLOCK 1 link_0 BLOCK 2 link_1", ".dec"),  # the others follow their variables
        ("NBLOCKS 2 BLOCK 1 y0 y1 x00 x01 x10 x11 BLOCK 2 y2 y3 x20 x21 x30 x31", ".blk"),
        (JDEC, ".jdec"),
    ],
)
def test_formats_state_the_same_blocks(tmp_path, text, ending):
    model, found = blocks(tmp_path, text, ending)
    assert found == EXPECTED
    assert not len(linking_variables(model, model.blocks))
    assert solve(decompose(model)).objective == 1.0


def test_identical_blocks_are_aggregated(tmp_path):
    assert len(decompose(blocks(tmp_path, TWO)[0]).splitting.subproblems) == 1


def test_a_variable_of_several_blocks_is_copied(tmp_path):
    text = "NBLOCKS 4 BLOCK 1 cap_0 link_0 BLOCK 2 cap_1 BLOCK 3 cap_2 link_1 BLOCK 4 cap_3"
    model, _ = blocks(tmp_path, text)
    assert [model.names[column] for column in linking_variables(model, model.blocks)] == ["y1", "y3"]
    result = solve(decompose(model))
    assert result.is_optimal
    assert result.objective == solve(decompose(blocks(tmp_path, TWO)[0])).objective
    assert set(result.answer) == set(model.names)


def test_variables_listed_twice_in_blk_link_blocks(tmp_path):
    text = "NBLOCKS 4 BLOCK 1 y0 y1 x00 x01 BLOCK 2 y1 x10 x11 BLOCK 3 y2 y3 x20 x21 BLOCK 4 y3 x30 x31 END ignored"
    model, found = blocks(tmp_path, text, ".blk")
    assert [model.names[column] for column in linking_variables(model, model.blocks)] == ["y1", "y3"]
    assert found == {**EXPECTED, "cap_1": 2, "cap_2": 3, "cap_3": 4, "link_1": 3}


def test_variables_that_blk_does_not_list_stay_in_the_master(tmp_path):
    model, found = blocks(tmp_path, "NBLOCKS 1 BLOCK 1 x00 x01 y0", ".blk")
    assert [row for row, block in found.items() if block] == ["cap_0"]
    assert (model.blocks.of_column == MASTER).sum() == 9


def test_a_file_of_a_presolved_model_skips_missing_rows_with_a_warning(tmp_path):
    with pytest.warns(UserWarning, match=r"2 of its names .* 'gone'"):
        _, found = blocks(tmp_path, TWO.replace("PRESOLVED\n0", "PRESOLVED\n1").replace("cap_0", "gone there cap_0"))
    assert found == EXPECTED


def test_an_inner_decomposition_is_checked_and_not_used(tmp_path):
    inner = {"master_constraints": ["link_0"], "blocks": [{"constraints": ["cap_0"]}, {"constraints": ["cap_1"]}]}
    data = json.loads(json.dumps(JDEC))
    data["decomposition"]["blocks"][0]["decomposition"] = inner
    with pytest.warns(UserWarning, match=r"blocks\[0\] has a decomposition with master constraints"):
        assert blocks(tmp_path, data, ".jdec")[1] == EXPECTED
    inner["blocks"][1]["constraints"] = ["cap_2"]
    with pytest.raises(InputError, match="cap_2"):
        blocks(tmp_path, data, ".jdec")


@pytest.mark.parametrize(
    ("text", "ending", "message"),
    [
        ("nothing", ".dec", "NBLOCKS"),
        (TWO.replace("cap_3", "cap_33"), ".dec", r"m.dec, line 10: .* 'cap_33'; did you mean 'cap_3"),
        (TWO.replace("cap_3", "cap_1"), ".dec", "line 10: constraint 'cap_1' is in two blocks"),
        (TWO.replace("BLOCK 2", "BLOCK 3"), ".dec", "line 9: block 3 .* 2 blocks"),
        (TWO.replace("BLOCK 2", "BLOCK two"), ".dec", "line 9: .* 'two'"),
        (TWO.replace("NBLOCKS\n2", "NBLOCKS\n2\n3"), ".dec", "line 5: .* '3'"),
        (TWO.replace("PRESOLVED\n0", "PRESOLVED\n2"), ".dec", "0 or 1 .* not 2"),
        (TWO + "MASTERVARS y0\n", ".dec", "'y0' is in the master and, by constraint 'link_0'"),
        (TWO + "BLOCKVARS 2 y0\n", ".dec", "'y0' is in block 2 and, by constraint 'link_0', in block 1"),
        ("NBLOCKS 1 MASTERCONSS cap_0", ".dec", "no block has a constraint"),
        ({"decomposition": {"blocks": []}}, ".jdec", "master_constraints"),
        ({"version": 1}, ".jdec", "'decomposition'"),
        ("{", ".jdec", "line 1: expected JSON"),
        ("", ".txt", r"\.dec, \.blk, \.jdec"),
    ],
)
def test_contradictions_and_unknown_names_are_refused(tmp_path, text, ending, message):
    with pytest.raises(InputError, match=message):
        blocks(tmp_path, text, ending)


def test_a_wrong_symmetry_is_refused(tmp_path):
    data = json.loads(json.dumps(JDEC))
    wrong = data["decomposition"]
    wrong["blocks"][1] = {"constraints": ["cap_2", "link_1"], "symmetry_representative_block": 0}
    wrong["master_constraints"].append("cap_3")
    with pytest.raises(InputError, match="block 1 is called a copy of block 0"):
        blocks(tmp_path, data, ".jdec")


INDEPENDENT = """\
min
 cost: a + b + c + d + e
st
 pick: a + c + e >= 1
 one: a + 2 b <= 2
 two: c + 2 d <= 2
 three: a + 3 b >= 1
 other: e <= 1
bin
 a b c d e
end
"""


def nested(*parts, master=()):
    inner = {"master_constraints": list(master), "blocks": [{"constraints": part} for part in parts]}
    rows = [*(row for part in parts for row in part), *master]
    blocks = [{"constraints": rows, "decomposition": inner}, {"constraints": ["other"]}]
    return {"decomposition": {"master_constraints": ["pick"], "blocks": blocks}}


def test_independent_parts_of_a_block_are_blocks(tmp_path):
    (tmp_path / "m.lp").write_text(INDEPENDENT)
    (tmp_path / "m.jdec").write_text(json.dumps(nested(["one", "three"], ["two"])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = read(tmp_path / "m.lp", tmp_path / "m.jdec")
    assert model.blocks.names == ("1.1", 2, "1.2")
    assert model.blocks.of_row.tolist() == [MASTER, 0, 2, 0, 1]
    assert [model.blocks.of_column[model.place_of_name[name]] for name in "abcde"] == [0, 0, 2, 2, 1]
    assert solve(decompose(model)).objective == solve(decompose(read(tmp_path / "m.lp"))).objective


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (nested(["one"], ["two"], master=["three"]), "with master constraints"),
        (nested(["one"], ["two", "three"]), "with variables of several parts"),
    ],
)
def test_dependent_parts_of_a_block_are_priced_as_one(tmp_path, data, reason):
    (tmp_path / "m.lp").write_text(INDEPENDENT)
    (tmp_path / "m.jdec").write_text(json.dumps(data))
    with pytest.warns(UserWarning, match=f"{reason}, which is not used: the block is priced as one"):
        model = read(tmp_path / "m.lp", tmp_path / "m.jdec")
    assert model.blocks.of_row.tolist() == [MASTER, 0, 0, 0, 1]


def test_names_that_gcg_would_split_are_not_written(tmp_path):
    (tmp_path / "m.lp").write_text(MODEL.replace("cap_0", "cap#0").replace("cap_1", "block"))
    model = read(tmp_path / "m.lp")
    with pytest.raises(InputError, match="'block'"):
        find_in(model).write_dec(tmp_path / "out.dec")


@given(st.lists(st.integers(-1, 3), min_size=8, max_size=8), st.integers(0, 3))
def test_what_is_written_is_read_back(tmp_path_factory, labels, listed):
    folder = tmp_path_factory.getbasetemp()
    (folder / "m.lp").write_text(MODEL)
    model = read(folder / "m.lp")
    names = model.source.constraint_names
    text = ["NBLOCKS 4"]
    for k in range(4):
        text += [f"BLOCK {k + 1}", *(name for name, label in zip(names, labels, strict=True) if label == k)]
    (folder / "m.dec").write_text("\n".join([*text, f"BLOCKVARS {listed + 1}"]))
    if max(labels) < 0:
        return
    stated = read_blocks(folder / "m.dec", model)
    write_dec(folder / "again.dec", model, stated)
    again = read_blocks(folder / "again.dec", model)
    assert np.array_equal(again.of_row, stated.of_row)
    assert np.array_equal(again.of_column, stated.of_column)
