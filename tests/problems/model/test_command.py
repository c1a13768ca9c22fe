"""Models in files on the command line."""

import json

import highspy
import pytest

from colgen.cli.main import main
from colgen.problems.model.command import TEMPLATE

HULLS = (
    "Minimize\n x + y + v + w\nSubject To\n a: x + v >= 1\n b: y + w >= 1\n c: x + y + v + w >= 3\n"
    "Generals\n x y v w\nEnd\n"
)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "plan.lp"
    TEMPLATE.example(path)
    return path


def solved(capsys, *words):
    code = main(["solve", "model", *map(str, words), "--quiet"])
    return code, capsys.readouterr().out


def test_the_answer_has_the_names_of_the_file_and_other_solvers_read_it(capsys, model, tmp_path):
    path = tmp_path / "plan.sol"
    code, out = solved(capsys, model, "--solution", path)
    answer, _, report = out.partition("\n\n")
    assert code == 0
    assert len(answer.splitlines()) == 6
    assert all(line.startswith("takes(") and line.endswith(") 1") for line in answer.splitlines())
    assert report.startswith("Proved optimal.\nread as     3 blocks of 1 row and 5 variables")
    highs = highspy.Highs()
    highs.setOptionValue("log_to_console", False)
    highs.readModel(str(model))
    assert highs.readSolution(str(path), 0) == highspy.HighsStatus.kOk
    values = dict(zip(highs.getLp().col_names_, highs.getSolution().col_value, strict=True))
    assert sorted(f"{name} 1" for name, value in values.items() if value) == sorted(answer.splitlines())
    objective = float(path.read_text().split("\n")[0].removeprefix("=obj= "))
    assert f"objective   {objective:g}\n" in out


@pytest.mark.parametrize("way", [["--dec", "DEC"], ["--option", "dec=DEC"]])
def test_a_decomposition_is_given(capsys, model, tmp_path, way):
    dec = tmp_path / "plan.dec"
    tasks = "\n".join(f"BLOCK {j + 1}\nc_e_assign({j})_" for j in range(6))
    dec.write_text(f"NBLOCKS\n6\n{tasks}\n")
    code, out = solved(capsys, model, *[word.replace("DEC", str(dec)) for word in way], "--json", "-")
    result = json.loads(out)
    assert (code, result["bound_source"]) == (0, "colgen")
    assert result["reading"].startswith("6 blocks of 1 row and 2 to 3 variables, linked by 3 rows")
    assert len(result["answer"]) == 6


@pytest.mark.parametrize(("way", "by_benders"), [([], True), (["--option", "method=dantzig-wolfe"], False)])
def test_linear_second_stages_are_solved_by_benders_unless_another_method_is_chosen(capsys, tmp_path, way, by_benders):
    rows, columns_ = " N c\n L r1\n G r2\n", "    x c 1 r1 1\n    x r2 1\n    y c 3 r2 1\n"
    (tmp_path / "plan.cor").write_text(f"NAME p\nROWS\n{rows}COLUMNS\n{columns_}RHS\n    b r1 4 r2 1\nENDATA\n")
    (tmp_path / "plan.tim").write_text("TIME p\nPERIODS\n    x r1 A\n    y r2 B\nENDATA\n")
    scenarios = "".join(f" SC s{k} ROOT 0.5 B\n    b r2 {k}\n" for k in (2, 6))
    (tmp_path / "plan.sto").write_text(f"STOCH p\nSCENARIOS\n{scenarios}ENDATA\n")
    code, out = solved(capsys, tmp_path / "plan.cor", *way, "--json", "-")
    result = json.loads(out)
    assert (code, result["objective"]) == (0, 7.0)  # x = 4, and 2 for 3 each in half of the cases
    assert (result["rows_generated"] > 0) is by_benders  # the other method proves the bound before it has any column
    assert result["settings"]["bounding"].startswith("ScenarioBounding") is not by_benders
    assert "pay" not in result["reading"]


def test_highs_solves_the_compact_model_and_its_bound_is_trusted(capsys, model, tmp_path):
    proof = tmp_path / "proof.jsonl"
    code, out = solved(capsys, model, "--compact", "--certificate", proof)
    assert code == 0
    assert "read as     one model without blocks, for HiGHS\n" in out
    assert "(from HiGHS on the compact model, trusted)\n" in out
    assert main(["check", str(proof)]) == 6
    assert capsys.readouterr().out.startswith("Not proved, ")


def test_an_answer_is_drawn_by_blocks_or_as_one(capsys, model, tmp_path):
    for more in ([], ["--compact"]):
        path = tmp_path / "plan.png"
        assert solved(capsys, model, "--picture", path, *more)[0] == 0
        assert path.read_bytes().startswith(b"\x89PNG")
        path.unlink()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["model", "DIR/missing.lp"], "missing.lp cannot be read"),
        (["model", "DIR/plan.txt"], "plan.txt: expected a model with the ending .mps or .lp"),
        (["model", "DIR/broken.mps"], "broken.mps: line 4 of the file"),
        (
            ["model", "DIR/hulls.lp"],
            "hulls.lp: none of the blocks that are found can pay; give a decomposition with --dec",
        ),
        (["model", "DIR/hulls.lp"], "--compact"),
        (["model", "MODEL", "--dec", "DIR/missing.dec"], "missing.dec cannot be read"),
        (["model", "MODEL", "--dec", "DIR/other.dec"], "other.dec, line 4: "),
        (
            ["model", "MODEL", "--dec", "DIR/other.dec", "--compact"],
            "options dec, method and compact: HiGHS solves",
        ),
        (["model", "MODEL", "--solution", "MODEL"], "--solution"),
        (["model", "MODEL", "--solution", "DIR/no/x.sol"], "--solution: expected the name of a file in an existing"),
        (["model", "MODEL", "MODEL", "--solution", "DIR/x.sol"], "--solution applies to one instance"),
        (["model", "MODEL", "--option", "compact=perhaps"], "option compact: expected no or yes"),
        (["cutting_stock", "MODEL", "--solution", "DIR/x.sol"], "--solution: the template 'cutting_stock' writes"),
        (["cutting_stock", "MODEL", "--dec", "DIR/x.dec"], "--dec: the template 'cutting_stock' has no such option"),
        (["cutting_stock", "MODEL", "--compact"], "--compact: the template 'cutting_stock' has no such option"),
    ],
)
def test_bad_input_is_one_sentence(capsys, model, tmp_path, words, expected):
    (tmp_path / "hulls.lp").write_text(HULLS)
    (tmp_path / "plan.txt").write_text(HULLS)
    (tmp_path / "broken.mps").write_text("NAME x\nROWS\n N c\n Q r\nENDATA\n")
    (tmp_path / "other.dec").write_text("NBLOCKS\n1\nBLOCK 1\nno_row\n")
    given = [word.replace("MODEL", str(model)).replace("DIR", str(tmp_path)) for word in words]
    assert main(["solve", *given]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert expected in err
    assert len(err.splitlines()) == 1


def test_a_run_with_a_decomposition_is_resumed_from_another_folder(capsys, model, tmp_path, monkeypatch):
    tasks = "\n".join(f"BLOCK {j + 1}\nc_e_assign({j})_" for j in range(6))
    (tmp_path / "plan.dec").write_text(f"NBLOCKS\n6\n{tasks}\n")
    monkeypatch.chdir(tmp_path)
    limited = ["--checkpoint", "run", "--node-limit", "1"]
    assert solved(capsys, "plan.lp", "--dec", "plan.dec", *limited)[0] in (0, 3)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert main(["resume", "../run", "--quiet", "--solution", "plan.sol"]) == 0
    assert "read as     6 blocks" in capsys.readouterr().out
    assert (tmp_path / "other" / "plan.sol").read_text().startswith("=obj= ")
