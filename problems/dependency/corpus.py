"""Treebanks: the annotated sentences of a folder for training, tuning and testing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from colgen import InputError
from colgen.cli.template import Figure, TrainOptions
from colgen.problems.dependency.conll import read_conll
from colgen.problems.dependency.sentence import Sentence

_QUICK = 150, 50
"""Number of training sentences, and of tuning and test sentences, in a quick training."""


@dataclass(frozen=True)
class Corpus:
    """Sentences for training, tuning and testing."""

    name: str
    learn: list[Sentence]
    tune: list[Sentence]
    test: list[Sentence]

    def cut(self, learn: int | None, rest: int | None) -> Corpus:
        """Return the first ``learn`` training sentences, and the first ``rest`` of each other part."""
        return Corpus(self.name, self.learn[:learn], self.tune[:rest], self.test[:rest])

    def figures(self, learned: int, measure: Callable[[str, list[Sentence]], Iterable[Figure]]) -> Iterator[Figure]:
        """Yield the number of training sentences, and the figures of each other part."""
        yield Figure("sentences", learned, "", 1, "used for training")
        for name, part in (("tune", self.tune), ("test", self.test)):
            if part:
                yield from measure(name, part)

    def check_heads(self) -> None:
        """Raise :class:`InputError` if a sentence has no heads."""
        for purpose, part in (("training", self.learn), ("tuning", self.tune), ("test", self.test)):
            for number, sentence in enumerate(part, 1):
                if sentence.heads is None:
                    raise InputError(f"{self.name}: {purpose} sentence {number} has no heads")


def corpus_of(options: TrainOptions, needed: Sequence[str] = ("train",)) -> Corpus:
    """Return the corpus for ``colgen train``, from single files or from a folder."""
    if options.train is None:
        corpus = read_corpus(options.data, needed, skip=options.skip)
    else:
        tune = [] if options.dev is None else read_conll(options.dev, skip=options.skip)
        corpus = Corpus(options.train.stem, read_conll(options.train, skip=options.skip), tune, [])
    return corpus.cut(*_QUICK) if options.quick else corpus


def read_corpus(
    folder: Path, needed: Sequence[str] = ("train",), *, skip: Callable[[str], None] | None = None
) -> Corpus:
    """Read the CoNLL files of a folder: all with ``train`` in their names, and the first with ``dev`` and ``test``.

    Raises :class:`InputError` if a part in ``needed`` has no file.
    """
    files = {
        kind: sorted(path for path in folder.glob("*.conll*") if kind in path.stem) for kind in ("train", "dev", "test")
    }
    for kind in needed:
        if not files[kind]:
            raise InputError(
                f"{folder} contains no file with {kind!r} in its name: expected one in CoNLL-U or CoNLL-X (*.conll*)"
            )
    learn = [sentence for path in files["train"] for sentence in read_conll(path, skip=skip)]
    tune, test = (
        [sentence for path in files[kind][:1] for sentence in read_conll(path, skip=skip)] for kind in ("dev", "test")
    )
    return Corpus(folder.name, learn, tune, test)
