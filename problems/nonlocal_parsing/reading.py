"""What the command line reads: score files, and sentences with a trained model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from colgen import InputError
from colgen.template import check_options
from problems.dependency.conll import read_conll
from problems.nonlocal_parsing.instance import Instance, read
from problems.nonlocal_parsing.scoring import Model

OPTIONS = {
    "sentence": "number of the sentence in the file, counted from 1, the default",
    "candidates": "candidate heads a word, or 'all'; 10 by default",
}


def read_instance(path: Path) -> Instance:
    """Read scores, ``.npz``.

    Raises
    ------
    InputError
        If the file is something else; of a text it says how to get a model.
    """
    if path.suffix == ".npz":
        return read(path)
    with path.open("rb"):  # a file that is not there is the first thing to say
        raise InputError(
            f"{path}: a sentence needs a trained model, `colgen train nonlocal_parsing --data DIR --model FILE` makes "
            f"one and --model FILE takes it; scores end in .npz"
        )


def score_instance(path: Path, model: Path, options: Mapping[str, str]) -> Instance:
    """The instance of a sentence in a CoNLL-U or CoNLL-X file, scored by a trained model; options see ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    sentences = read_conll(path)
    number = _whole("sentence", options.get("sentence", "1"))
    if number > len(sentences):
        raise InputError(f"option sentence: {path} has {len(sentences)} sentences, there is no number {number}")
    wanted = options.get("candidates", "10")
    candidates = None if wanted == "all" else _whole("candidates", wanted)
    return Model.load(model).instance(sentences[number - 1], candidates)


def _whole(option: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise InputError(f"option {option}: expected a whole number, one or more, not {text!r}")
    return int(text)
