"""Treebanks: the annotated sentences of a folder, to learn from, to tune on and to test on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from colgen import InputError
from colgen.cli.template import Figure, TrainOptions
from colgen.problems.dependency.conll import read_conll
from colgen.problems.dependency.sentence import Sentence

_QUICK = 150, 50
"""Sentences to learn from in a quick training, and to tune and to test on."""


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

    def figures(self, learned: int, measure: Callable[[str, list[Sentence]], Iterable[Figure]]) -> Iterator[Figure]:
        """Yield how many sentences were learned from, and the figures of each part that was not."""
        yield Figure("sentences", learned, "", 1, "learned from")
        for name, part in (("tune", self.tune), ("test", self.test)):
            if part:
                yield from measure(name, part)

    def check_heads(self) -> None:
        """Refuse sentences that nobody has parsed.

        Raises
        ------
        InputError
            Naming the first of them.
        """
        for purpose, part in (("learn from", self.learn), ("tune on", self.tune), ("test on", self.test)):
            for number, sentence in enumerate(part, 1):
                if sentence.heads is None:
                    raise InputError(f"{self.name}: sentence {number} of those to {purpose} has no heads")


def corpus_of(options: TrainOptions, needed: Sequence[str] = ("train",)) -> Corpus:
    """The sentences that ``colgen train`` is to learn from, tune on and test on: of single files, or of a folder."""
    if options.train is None:
        corpus = read_corpus(options.data, needed, skip=options.skip)
    else:
        tune = [] if options.dev is None else read_conll(options.dev, skip=options.skip)
        corpus = Corpus(options.train.stem, read_conll(options.train, skip=options.skip), tune, [])
    return corpus.cut(*_QUICK) if options.quick else corpus


def read_corpus(
    folder: Path, needed: Sequence[str] = ("train",), *, skip: Callable[[str], None] | None = None
) -> Corpus:
    """The CoNLL files of a folder: all with ``train`` in their names, the first with ``dev``, the first with ``test``.

    Parameters
    ----------
    skip
        As of :func:`~colgen.problems.dependency.conll.read_conll`.

    Raises
    ------
    InputError
        If there is none of a kind that is needed.
    """
    files = {
        kind: sorted(path for path in folder.glob("*.conll*") if kind in path.stem) for kind in ("train", "dev", "test")
    }
    for kind in needed:
        if not files[kind]:
            raise InputError(
                f"{folder}: expected a file in CoNLL-U or CoNLL-X with {kind!r} in its name, there is none"
            )
    learn = [sentence for path in files["train"] for sentence in read_conll(path, skip=skip)]
    tune, test = (
        [sentence for path in files[kind][:1] for sentence in read_conll(path, skip=skip)] for kind in ("dev", "test")
    )
    return Corpus(folder.name, learn, tune, test)
