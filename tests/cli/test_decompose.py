"""``colgen decompose``: decompositions of models in files."""

import pytest

from colgen import read
from colgen.problems.model.command import TEMPLATE
from tests.cli.stub import run

LINE = (
    "3 blocks of 1 row and 5 variables, linked by 6 rows (c_e_assign(#)_), with 3 variables in the master, "
    "priced as 3 knapsacks; score 0.19"
)
"""Three variables are fixed."""

HULLS = "Minimize\n x + y\nSubject To\n a: x + u >= 1\n b: y + v >= 1\n c: x + y >= 3\nGenerals\n x y u v\nEnd\n"
"""Each block has one totally unimodular row: no decomposition pays."""

ONE_ROW = "Minimize\n x + y\nSubject To\n c: x + y >= 3\nGenerals\n x y\nEnd\n"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "plan.lp"
    TEMPLATE.example(path)
    return path


def test_detected_blocks_are_listed_with_reasons_against_them(capsys, model):
    code, out, err = run(capsys, "decompose", model)
    head, first, second, remark, *_ = out.splitlines()
    assert (code, err) == (0, "")
    assert head == f"{model}: 9 rows, 18 variables"
    assert first == f"1. {LINE}"
    assert second.startswith("2. 6 blocks of 1 row")
    assert remark.startswith("   This decomposition cannot pay")


def test_the_best_is_written_drawn_and_scored_again(capsys, model, tmp_path):
    dec, picture = tmp_path / "plan.dec", tmp_path / "plan.png"
    assert run(capsys, "decompose", model, "--write", dec, "--picture", picture)[0] == 0
    assert len(read(model, dec).blocks.names) == 3
    assert picture.read_bytes().startswith(b"\x89PNG")
    code, out, _ = run(capsys, "decompose", model, "--dec", dec)
    assert (code, out.splitlines()[1:]) == (0, [f"1. {LINE}"])


def test_if_nothing_pays_the_last_line_names_the_other_way(capsys, tmp_path):
    (tmp_path / "hulls.lp").write_text(HULLS)
    code, out, _ = run(capsys, "decompose", tmp_path / "hulls.lp")
    assert code == 0
    assert out.splitlines()[-1].startswith("None of these can pay: give a decomposition with --dec FILE, or")
    assert "--compact" in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["DIR/missing.lp"], "missing.lp cannot be read"),
        (["DIR"], "expected a model with the ending .mps or .lp"),
        (["DIR/one.lp"], "one.lp: no blocks are found; give a decomposition with --dec FILE, or hand"),
        (["MODEL", "--dec", "DIR/missing.dec"], "missing.dec cannot be read"),
        (["MODEL", "--dec", "MODEL"], "plan.lp"),
        (["MODEL", "--dec", "DIR/bad.dec"], "bad.dec, line 3"),
        (["MODEL", "--write", "MODEL"], "--write"),
        (["MODEL", "--write", "DIR/no/x.dec"], "--write: expected the name of a file in an existing folder"),
        (["MODEL", "--dec", "DIR/bad.dec", "--write", "DIR/bad.dec"], "but it is also --dec"),
        (["MODEL", "--picture", "DIR/x.txt"], "expected a name that ends in .png"),
    ],
)
def test_bad_input_is_one_sentence(capsys, model, tmp_path, more, expected):
    (tmp_path / "bad.dec").write_text("NBLOCKS\n1\nBLOCKS\n")
    (tmp_path / "one.lp").write_text(ONE_ROW)
    words = [word.replace("MODEL", str(model)).replace("DIR", str(tmp_path)) for word in more]
    code, out, err = run(capsys, "decompose", *words)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
