"""``colgen train nonlocal_parsing``: a model from annotated sentences, and how good it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from colgen import InputError
from colgen.template import Figure, TrainOptions
from problems.dependency.conll import read_conll
from problems.dependency.sentence import Sentence
from problems.nonlocal_parsing.decoding import accuracy, parse, usable
from problems.nonlocal_parsing.families import COMBINATION
from problems.nonlocal_parsing.learning import EPOCHS, FAMILY_EPOCHS, train

_QUICK = 150
"""Sentences of a quick training."""


@dataclass(frozen=True)
class Corpus:
    """Sentences to learn from, to tune on and to test on."""

    name: str
    learn: list[Sentence]
    tune: list[Sentence]
    test: list[Sentence]

    def cut(self, learn: int | None, rest: int | None) -> Corpus:
        """The first so many sentences of each part."""
        return Corpus(self.name, self.learn[:learn], self.tune[:rest], self.test[:rest])


def read_corpus(folder: Path) -> Corpus:
    """The CoNLL files of a folder: all with ``train`` in their names, the first with ``dev``, the first with ``test``.

    Raises
    ------
    InputError
        If there are none to learn from or none to test on.
    """
    parts = {"train": _files(folder, "train"), "dev": _files(folder, "dev")[:1], "test": _files(folder, "test")[:1]}
    for kind in ("train", "test"):
        if not parts[kind]:
            raise InputError(
                f"{folder}: expected a file in CoNLL-U or CoNLL-X with {kind!r} in its name, there is none"
            )
    learn, tune, test = ([s for path in parts[kind] for s in read_conll(path)] for kind in ("train", "dev", "test"))
    return Corpus(folder.name, learn, tune, test)


def _files(folder: Path, kind: str) -> list[Path]:
    return sorted(path for path in folder.glob("*.conll*") if kind in path.stem)


def train_from_folder(options: TrainOptions) -> Sequence[Figure]:
    """Train on a folder's sentences, test, and write the model."""
    started = time.perf_counter()
    corpus = read_corpus(options.data)
    if options.quick:
        corpus = corpus.cut(_QUICK, 50)
    learn_from = usable(corpus.learn)
    options.say(f"{len(learn_from)} of {len(corpus.learn)} sentences are projective with a single root: learned from")
    model = train(
        corpus.learn,
        families=COMBINATION,
        epochs=1 if options.quick else EPOCHS,
        family_epochs=1 if options.quick else FAMILY_EPOCHS,
        seed=options.seed,
        say=options.say,
    )
    model.save(options.model)
    options.say(f"{options.model} is written")
    figures = [Figure("sentences", len(learn_from), "", 1, "learned from")]
    for name, part in (("tune", corpus.tune), ("test", corpus.test)):
        if part:
            reached = accuracy(part, parse(model, part))
            figures += [
                Figure(f"{name}.accuracy", reached.all, "%", len(part), "unlabeled, punctuation included"),
                Figure(f"{name}.accuracy_words", reached.without_punctuation, "%", len(part), "without punctuation"),
            ]
    figures.append(Figure("seconds", time.perf_counter() - started, "s", 1, "reading, training and testing"))
    return figures
