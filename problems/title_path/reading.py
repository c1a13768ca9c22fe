"""What the command line reads: graphs, and texts with a trained model."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from colgen import InputError
from colgen.template import check_options
from problems.title_path.files import read
from problems.title_path.instance import Instance
from problems.title_path.learning import TitleModel
from problems.title_path.sections import Section, read_file

OPTIONS = {
    "length": "content words of the title; by default those of the section's own title, or the model's median",
    "section": "number of the line, of a file of JSON lines that holds several sections",
}


def read_instance(path: Path) -> Instance:
    """Read a graph in JSON; or, where the file is a trained model, the text on the standard input with its scores.

    Raises
    ------
    InputError
        If the file is something else; of a text it says how to get a model.
    """
    if path.suffix == ".json":
        return read(path)
    if path.suffix == ".npz":
        return score_instance(Path("-"), path, {})
    with path.open("rb"):  # a file that is not there is the first thing to say
        raise InputError(
            f"{path}: a text needs a trained model, `colgen train title_path --data DIR --model FILE` makes one and "
            f"--model FILE takes it; a graph ends in .json, a model in .npz"
        )


def score_instance(path: Path, model: Path, options: Mapping[str, str]) -> Instance:
    """The graph of a text, or of a section in a file of JSON lines, scored by a trained model.

    Parameters
    ----------
    path
        ``-`` reads the text from standard input.
    options
        See ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    trained = TitleModel.load(model)
    section = _section(path, _count("section", options))
    length = _count("length", options)
    if length is None and section.title:
        length = section.num_content_words or None
    return trained.instance(section.text, length, section.name)


def _section(path: Path, number: int | None) -> Section:
    if path.suffix == ".jsonl":
        sections = read_file(path)
        if number is None and len(sections) > 1:
            raise InputError(f"{path} holds {len(sections)} sections: say option section=NUMBER, from 1")
        if not 1 <= (number or 1) <= len(sections):
            raise InputError(f"{path}: there is no section {number or 1}, it holds {len(sections)}")
        return sections[(number or 1) - 1]
    if number is not None:
        raise InputError(f"{path}: the option section is for files that end in .jsonl")
    text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    return Section("", text, path.stem)


def _count(name: str, options: Mapping[str, str]) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text)):
        raise InputError(f"option {name}: expected a whole number, one or more, not {text!r}")
    return int(text)
