"""What the command line reads: instances, and texts that a trained tagger scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from colgen.cli.template import Material, check_options, whole_number
from colgen.core.array_files import arrays_in
from colgen.core.errors import InputError
from colgen.core.files import check_readable
from colgen.problems.chain_map.instance import ChainInstance, read
from colgen.problems.chain_map.learning import Tagger

OPTIONS = {
    "precision": "single (the default) or double",
    "sentence": "number of the sentence to solve, counted from 1; all of them by default",
}

BATCH = 1024
"""Sentences that are solved together."""


def read_instance(path: Path) -> ChainInstance:
    """Read an instance."""
    if path.suffix == ".npz":
        return read(path)
    check_readable(path)  # a file that is not there is the first thing to say
    raise InputError(
        f"{path}: a text needs a trained tagger, `colgen train chain_map --data DIR --model FILE` makes one and "
        "--model FILE takes it; scores end in .npz"
    )


def is_model(path: Path) -> bool:
    """Whether a file is a tagger, of any version."""
    return arrays_in(path) >= {"kind", "task", "tags"}


def score_instance(material: Material, model: Path, options: Mapping[str, str]) -> ChainInstance:
    """The scores that a tagger gives to a sentence of a text, see :func:`read_text`."""
    number = whole_number(options, "sentence", 1)
    tagger, dtype = Tagger.load(model), precision(options)
    sentences = list(read_text(material))
    if number > len(sentences):
        raise InputError(
            f"option sentence: {material.name} has {len(sentences)} sentences, there is no number {number}"
        )
    return tagger.instance(sentences[number - 1 : number], dtype)


def score_batches(material: Material, model: Path, options: Mapping[str, str]) -> Iterator[ChainInstance]:
    """The scores of all sentences, so many at once; of a text that is being typed one at once."""
    tagger, dtype = Tagger.load(model), precision(options)
    sentences = read_text(material)
    size = 1 if material.is_typed else BATCH
    return (tagger.instance(batch, dtype) for batch in iter(lambda: list(islice(sentences, size)), []))


def read_text(material: Material) -> Iterator[list[str]]:
    """The words of sentences: one a line, words separated by blanks; empty lines are passed over."""
    return (words for words in (line.split() for line in material.lines()) if words)


def precision(options: Mapping[str, str]) -> type[np.floating[Any]]:
    """The type of the scores that options ask for, once these have been checked."""
    check_options(options, OPTIONS)
    name = options.get("precision", "single")
    if name not in ("single", "double"):
        raise InputError(f"option precision: expected single or double, not {name!r}")
    return np.float32 if name == "single" else np.float64
