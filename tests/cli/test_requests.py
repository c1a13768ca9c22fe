"""Arguments are checked before any work."""

import pytest

from tests.cli.stub import (
    run,
)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["solve", "other", "FILE"], "there is no template 'other'"),
        (["solve", "stub", "DIR/missing.txt"], "missing.txt cannot be read: No such file"),
        (["solve", "stub", "DIR"], "expected a file, this is a directory"),
        (["solve", "stub", "FILE", "--json", "DIR/no/x.json"], "--json"),
        (["solve", "stub", "FILE", "--log", "DIR"], "expected the name of a file in an existing folder"),
        (["solve", "stub", "FILE", "--plot", "DIR/x.txt"], "expected a name that ends in .png"),
        (["solve", "stub", "FILE", "--picture", "DIR/x.png"], "--picture: the template 'stub'"),
    ],
)
def test_bad_input_is_reported(capsys, install, file, argv, expected):
    argv = [word.replace("FILE", str(file)).replace("DIR", str(file.parent)) for word in argv]
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["train", "fixed", "--data", "DIR", "--model", "DIR/m"], "the template 'fixed' has no training"),
        (["train", "other", "--data", "DIR", "--model", "DIR/m"], "there is no template 'other'"),
        (["train", "stub", "--data", "DIR/no", "--model", "DIR/m"], "expected an existing folder"),
        (["train", "stub", "--data", "DIR", "--model", "DIR/no/m"], "--model"),
        (["train", "stub", "--data", "DIR", "--model", "DIR"], "expected the name of a file in an existing folder"),
        (
            ["train", "stub", "--data", "DIR", "--model", "DIR/m", "--option", "x=1"],
            "there is no option 'x'; there are",
        ),
        (["train", "stub", "--train", "FILE", "--model", "DIR/m"], "'stub' learns from a folder: use --data DIR"),
        (["train", "several", "--train", "DIR/no", "--model", "DIR/m"], "no: expected a file"),
        (["solve", "stub", "-"], "the standard input (-) needs a trained model: add --model MODEL"),
        (
            ["solve", "several", "TWO", "--model", "MODEL", "--plot", "DIR/x.png"],
            "--plot applies to one instance",
        ),
        (["solve", "several", "TWO", "--model", "MODEL", "--node-limit", "3"], "--node-limit applies to one instance"),
        (["solve", "fixed", "FILE", "--model", "MODEL"], "--model: the template 'fixed'"),
        (["solve", "stub", "FILE", "--option", "tasks=6"], "--option needs --model"),
        (["solve", "stub", "FILE", "--model", "MODEL", "--option", "tasks"], "--option tasks: expected NAME=VALUE"),
        (["solve", "stub", "FILE", "--model", "MODEL", "--option", "=6"], "--option =6: expected NAME=VALUE"),
        (
            ["solve", "stub", "FILE", "--model", "MODEL", "--option", "tasks=6", "--option", "tasks=7"],
            "--option tasks is given twice",
        ),
        (
            ["solve", "stub", "FILE", "--model", "MODEL", "--option", "x=1"],
            "there is no option 'x'; there are tasks: how many",
        ),
        (["solve", "stub", "FILE", "--model", "DIR/missing"], "missing cannot be read: No such file"),
    ],
)
def test_bad_input_to_models_is_reported(capsys, learning, file, argv, expected):
    file.write_text("3 6", encoding="utf-8")
    model = file.parent / "model.txt"
    model.write_text("1", encoding="utf-8")
    two = file.parent / "two.txt"
    two.write_text("OPTIMAL\nOPTIMAL\n", encoding="utf-8")
    for word, value in (("FILE", file), ("MODEL", model), ("DIR", file.parent), ("TWO", two)):
        argv = [part.replace(word, str(value)) for part in argv]
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
    assert model.read_text(encoding="utf-8") == "1"


@pytest.mark.parametrize("option", ["json", "log", "report", "certificate", "checkpoint", "plot", "picture"])
def test_no_output_goes_into_the_instance(capsys, install, file, option):
    name = file.with_suffix(".png")
    file.rename(name)
    code, out, err = run(capsys, "solve", "stub", str(name), f"--{option}", str(name))
    assert (code, out, name.read_text()) == (2, "", "3 6 1")
    assert "expected a file of its own, but it is also the file" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--json", "DIR/a", "--log", "DIR/a"], "--json DIR/a: expected a file of its own, but it is also --log"),
        (["--json", "DIR/a~", "--checkpoint", "DIR/a"], "the previous --checkpoint"),
        (["--json", "DIR/link"], "--json DIR/link: expected a file of its own, but it is also the file"),
        (["--certificate", "DIR/other"], "DIR/other exists and is not a certificate"),
    ],
)
def test_outputs_need_distinct_files(capsys, install, file, argv, expected):
    (file.parent / "link").symlink_to(file)
    (file.parent / "other").write_text("something else")
    code, _, err = run(capsys, "solve", "stub", str(file), *(word.replace("DIR", str(file.parent)) for word in argv))
    assert code == 2
    assert expected.replace("DIR", str(file.parent)) in err
    assert (file.parent / "other").read_text() == "something else"
    assert file.read_text() == "3 6 1"
