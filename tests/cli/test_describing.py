"""`colgen templates`: what there is, and what one of them takes."""

from tests.cli.stub import (
    run,
)


def test_templates(capsys, install):
    code, out, _ = run(capsys, "templates")
    assert code == 0
    for expected in ("stub", "generalized assignment", "the tests"):
        assert expected in out


def test_a_template_is_described(capsys, learning):
    code, out, _ = run(capsys, "templates", "several")
    assert code == 0
    for expected in ("generalized assignment", "colgen solve several MODEL < FILE", "  tasks  how many", "--dev FILE"):
        assert expected in out
    _, out, _ = run(capsys, "templates", "fixed")
    assert "--model" not in out
    assert "colgen bench engine" in out
    assert run(capsys, "templates", "other")[0] == 2
