"""What the command line reads: instances, and texts that a trained tagger scores."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from colgen.errors import InputError
from colgen.template import check_options
from problems.chain_map.instance import Instance, read
from problems.chain_map.learning import Tagger

OPTIONS = {"precision": "single (the default) or double"}


def read_instance(path: Path) -> Instance:
    """Read an instance, or, where the file is a tagger, the text on the standard input with that tagger's scores."""
    if path.suffix != ".npz":
        with path.open("rb"):  # a file that is not there is the first thing to say
            raise InputError(
                f"{path}: expected scores in an .npz file, or a tagger, which reads text from the standard input; "
                "`colgen train chain_map --data DIR --model FILE` makes one"
            )
    return _scored(sys.stdin, "the standard input", path, np.float32) if is_tagger(path) else read(path)


def is_tagger(path: Path) -> bool:
    """Whether an ``.npz`` file holds a tagger, of any version."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return "kind" in file and "tagger" in str(file["kind"])
    except (OSError, ValueError):
        return False


def score_instance(path: Path, model: Path, options: Mapping[str, str]) -> Instance:
    """The scores that a tagger gives to a text: one sentence a line, words separated by blanks."""
    check_options(options, OPTIONS)
    precision = options.get("precision", "single")
    if precision not in ("single", "double"):
        raise InputError(f"option precision: expected single or double, not {precision!r}")
    with path.open(encoding="utf-8") as lines:
        return _scored(lines, str(path), model, np.float32 if precision == "single" else np.float64)


def _scored(lines: Iterable[str], source: str, model: Path, dtype: type) -> Instance:
    tagger = Tagger.load(model)
    sentences = [words for words in (line.split() for line in lines) if words]
    if not sentences:
        raise InputError(f"{source}: expected text, one sentence a line with blanks between its words, found none")
    return tagger.instance(sentences, dtype)
