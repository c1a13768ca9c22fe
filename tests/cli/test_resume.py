"""``colgen solve --checkpoint`` and ``colgen resume``."""

import json

import pytest

from colgen.checkpoint.file import FORMAT
from colgen.core.serialization import read_sealed, write_sealed
from tests.cli.stub import run


@pytest.fixture
def kept(capsys, install, file, tmp_path):
    """Interrupt a run at its root."""
    file.write_text("3 12 1", encoding="utf-8")
    path = tmp_path / "run.checkpoint"
    code, _, _ = run(capsys, "solve", "stub", file, "--checkpoint", path, "--time-limit", "0")
    assert code == 3
    return path


def test_a_run_is_resumed_without_its_arguments(capsys, kept, file):
    _, out, _ = run(capsys, "solve", "stub", file, "--json", "-")
    whole = json.loads(out)
    code, out, _ = run(capsys, "resume", kept, "--json", "-")
    found = json.loads(out)
    assert code == 0
    assert (found["objective"], found["termination"]) == (whole["objective"], "OPTIMAL")
    assert any(note.startswith("Resumed after ") for note in found["notes"])


def test_another_instance_in_the_file_is_refused(capsys, kept, file):
    file.write_text("3 12 2", encoding="utf-8")
    code, out, err = run(capsys, "resume", kept)
    assert (code, out) == (2, "")
    assert "of another instance" in err


def test_invalid_checkpoints_are_refused(capsys, kept, file, tmp_path):
    code, _, err = run(capsys, "resume", tmp_path / "nothing")
    assert (code, "no such file" in err) == (2, True)
    sealed = read_sealed(kept, FORMAT)
    write_sealed(kept, FORMAT, {**sealed.said, "asked": {}}, sealed.arrays)
    code, _, err = run(capsys, "resume", kept)
    assert (code, "written by a program" in err) == (2, True)
    write_sealed(kept, FORMAT, {**sealed.said, "asked": {**sealed.said["asked"], "option": [3]}}, sealed.arrays)
    assert run(capsys, "resume", kept)[0] == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--every", "3"], "--checkpoint FILE"),
        (["--checkpoint", "run", "--every", "0"], "--every: expected"),
        (["--checkpoint", "run", "--certificate", "proof"], "--certificate: not available with --checkpoint"),
        (["--checkpoint", "no/such/folder/run"], "existing folder"),
    ],
)
def test_invalid_arguments_are_refused_before_any_work(capsys, install, file, more, said):
    code, out, err = run(capsys, "solve", "stub", file, *more)
    assert (code, out) == (2, "")
    assert said in err
