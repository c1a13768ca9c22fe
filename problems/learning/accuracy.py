"""Accuracy by loss and trainer with the same features: English tagging, Danish parsing; exact and greedy decoding."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.cli.template import Figure
from colgen.learning import (
    Chains,
    LinearExample,
    Trained,
    Trees,
    best_structure,
    frank_wolfe,
    mira,
    perceptron,
    stochastic_gradient,
)
from problems.chain_map.corpus import TASKS
from problems.chain_map.features import build_index, look_up
from problems.chain_map.training import read_corpus as read_tagged_corpus
from problems.dependency.corpus import read_corpus as read_parsed_corpus
from problems.dependency.sentence import Sentence

Floats = NDArray[np.float64]
Say = Callable[[str], None]

_SENTENCES, _TESTED, _SEEDS, _EPOCHS = 600, 300, 3, 4
_LONGEST = 25
_HASHED = 1 << 17

TRAINERS: dict[str, Callable[..., Trained]] = {
    "perceptron": perceptron,
    "MIRA": mira,
    "0/1 loss": lambda *a, **k: mira(*a, margin="zero_one", **k),
    "margin": lambda examples, size, *, epochs, seed: frank_wolfe(
        examples, size, regularization=1.0 / len(examples), passes=2 * epochs, seed=seed
    ),
    "SparseMAP": lambda *a, **k: stochastic_gradient(*a, loss="sparsemap", **k),
    "likelihood": lambda *a, **k: stochastic_gradient(*a, loss="gibbs", **k),
}


class GreedyChains:
    """Labels from left to right, each the best after the one before: no best labelling."""

    def best(self, scores: Floats, transitions: Floats) -> Any:
        """A labelling."""
        labels = np.empty(len(scores), dtype=np.int64)
        labels[0] = np.argmax(scores[0])
        for i in range(1, len(scores)):
            labels[i] = np.argmax(scores[i] + transitions[labels[i - 1]])
        return Chains.structure(labels, scores.shape[1])


class GreedyTrees:
    """To each word its best head, whether or not that makes a tree."""

    def best(self, scores: Floats) -> Any:
        """Heads."""
        without = scores.copy()
        np.fill_diagonal(without, -np.inf)
        return Trees.structure(np.argmax(without, axis=0))


def tagging_figures(data: Path, share: float, say: Say) -> list[Figure]:
    """English parts of speech."""
    folder = data / "english_ewt"
    if not folder.is_dir():
        say(f"{folder}: not there, no accuracy of tagging")
        return []
    task = TASKS["pos"]
    train, test = (
        [s for s in read_tagged_corpus(folder, task, part) if len(s.words) <= _LONGEST] for part in ("train", "test")
    )
    train, test = train[: max(round(share * _SENTENCES), 20)], test[: max(round(share * _TESTED), 20)]
    tags = sorted({tag for sentence in (*train, *test) for tag in sentence.tags})
    number = {tag: k for k, tag in enumerate(tags)}
    index = build_index([s.words for s in train], 2)
    count, size = len(tags), (len(index) + len(tags)) * len(tags)
    steps = sparse.hstack(
        [sparse.csr_matrix((count * count, len(index) * count)), sparse.eye(count * count)], format="csr"
    )

    def example(words: Sequence[str], own: Sequence[str]) -> LinearExample:
        found = look_up([words], index)
        tokens, kinds = np.nonzero(found >= 0)
        rows = (tokens[:, np.newaxis] * count + np.arange(count)).ravel()
        columns = (found[tokens, kinds][:, np.newaxis].astype(np.int64) * count + np.arange(count)).ravel()
        matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(words) * count, size))
        labels = np.array([number[tag] for tag in own])
        shapes = [(len(words), count), (count, count)]
        return LinearExample(Chains(), [matrix, steps], shapes, Chains.structure(labels, count))

    learned, tested = ([example(s.words, s.tags) for s in part] for part in (train, test))
    return _table("tagging", GreedyChains(), learned, tested, size, share, say)


def parsing_figures(data: Path, share: float, say: Say) -> list[Figure]:
    """Danish dependency trees, with several roots."""
    folder = data / "danish"
    if not folder.is_dir():
        say(f"{folder}: not there, no accuracy of parsing")
        return []
    corpus = read_parsed_corpus(folder, ("train", "test"))
    train = [s for s in corpus.learn if len(s.forms) <= _LONGEST][: max(round(share * _SENTENCES), 20)]
    test = [s for s in corpus.test if len(s.forms) <= _LONGEST][: max(round(share * _TESTED), 20)]

    def example(sentence: Sentence) -> LinearExample:
        shape = (len(sentence.forms) + 1,) * 2
        assert sentence.heads is not None
        right = Trees.structure(np.array([-1, *sentence.heads]))
        return LinearExample(Trees(), [_arc_features(sentence)], [shape], right)

    learned, tested = ([example(s) for s in part] for part in (train, test))
    return _table("parsing", GreedyTrees(), learned, tested, _HASHED, share, say)


def _arc_features(sentence: Sentence) -> Any:
    """Forms and tags of head, modifier and their neighbours, with direction and distance, hashed."""
    n = len(sentence.forms)
    words = ["<root>", *(form.lower() for form in sentence.forms)]
    tags = ["<root>", *sentence.fine]
    around = ["<edge>", *tags, "<edge>"]
    rows, columns = [], []
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h == m:
                continue
            length = abs(h - m)
            way = f"{'>' if h < m else '<'}{length if length < 4 else 4 if length < 7 else 7}"
            between = " ".join(sorted(set(tags[min(h, m) + 1 : max(h, m)])))
            names = (
                f"1 {tags[h]} {tags[m]}",
                f"2 {words[h]} {tags[m]}",
                f"3 {tags[h]} {words[m]}",
                f"4 {words[h]} {words[m]}",
                f"5 {tags[m]}",
                f"6 {words[m]}",
                f"7 {tags[h]} {around[h + 2]} {around[m]} {tags[m]}",
                f"8 {around[h]} {tags[h]} {tags[m]} {around[m + 2]}",
                f"9 {tags[h]} {tags[m]} {between}",
            )
            for name in names:
                columns += [crc32(f"{name} {way}".encode()) % _HASHED, crc32(name.encode()) % _HASHED]
                rows += [h * (n + 1) + m] * 2
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=((n + 1) ** 2, _HASHED))


def _table(
    name: str,
    greedy: Any,
    exact: list[LinearExample],
    tested: list[LinearExample],
    size: int,
    share: float,
    say: Say,
) -> list[Figure]:
    """Accuracy of parts on sentences that were not learned from, decoded exactly, and seconds of training."""
    seeds = _SEEDS if share >= 0.5 else 1
    epochs = _EPOCHS if share >= 0.2 else 2
    hasty = [replace(example, oracle=greedy) for example in exact]
    cases = [*((trainer, exact, "") for trainer in TRAINERS), ("perceptron", hasty, ", greedy in training")]
    figures = []
    for trainer, examples, note in cases:
        accuracies = []
        began = time.process_time()
        for seed in range(seeds):
            trained = TRAINERS[trainer](examples, size, epochs=epochs, seed=seed)
            accuracies.append(_accuracy(tested, trained.weights))
        seconds = (time.process_time() - began) / seeds
        label = f"{name} ({trainer}{note})"
        figures += [
            Figure(
                f"accuracy of {label}", 100.0 * float(np.mean(accuracies)), "%", seeds, f"{len(examples)} sentences"
            ),
            Figure(f"seconds of {label}", seconds, "s", seeds, "processor time, with decoding the tested"),
        ]
        say(f"{label}: {100.0 * float(np.mean(accuracies)):.2f}% in {seconds:.1f} s")
    return figures


def _accuracy(tested: Sequence[LinearExample], weights: Floats) -> float:
    """The share of right parts of the first kind."""
    right = total = 0
    for example in tested:
        found = best_structure(example.oracle, example.scores(weights)).parts[0][0]
        right += len(np.intersect1d(found, example.right.parts[0][0]))
        total += len(example.right.parts[0][0])
    return right / total
