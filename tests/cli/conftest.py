"""Templates and files for tests of commands."""

import dataclasses

import pytest

from colgen import InputError
from colgen.cli.option import Option
from colgen.cli.template import Template
from tests.cli.stub import (
    STUB,
    Whole,
    Words,
    run,
    train,
)


@pytest.fixture
def install(monkeypatch):
    """Install templates instead of those of this environment."""

    def install(*templates: Template) -> None:
        def load(name: str) -> Template:
            for one in templates:
                if one.name == name:
                    return one
            raise InputError(f"there is no template {name!r}")

        monkeypatch.setattr("colgen.cli.template.template_names", lambda: [t.name for t in templates])
        monkeypatch.setattr("colgen.cli.template.load_template", load)

    install(STUB)
    return install


@pytest.fixture
def coloured(monkeypatch):
    """Return a function after whose call output is written as on a terminal with colours."""

    def begin() -> None:
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("FORCE_COLOR", "1")

    return begin


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "instance.txt"
    path.write_text("3 6 1", encoding="utf-8")
    return path


@pytest.fixture
def learning(install):
    """The stub template with training."""
    template = dataclasses.replace(
        STUB, train=train, train_options={"epochs": Option("how often")}, texts=Whole, suffixes=(".txt",)
    )
    several = dataclasses.replace(template, name="several", train_files=True, texts=Words)
    install(template, several, dataclasses.replace(STUB, name="fixed"))


@pytest.fixture
def several(learning, tmp_path):
    """Return a function that runs `solve` on a text with the given outcomes."""
    (tmp_path / "m.model").write_text("1", encoding="utf-8")

    def solve(capsys, words: str, *argv) -> tuple[int, str, str]:
        path = tmp_path / "words.txt"
        path.write_text("\n".join(words.split()), encoding="utf-8")
        return run(capsys, "solve", "several", path, "--model", tmp_path / "m.model", *argv)

    return solve
