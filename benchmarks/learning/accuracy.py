"""Accuracy by loss and trainer with equal features: English tagging, Danish parsing; exact and greedy decoding."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.harness import Say
from colgen.cli.template import Figure
from colgen.learning import (
    Chains,
    LinearExample,
    ProjectiveTrees,
    Trained,
    Trees,
    best_structure,
    cutting_planes,
    frank_wolfe,
    mira,
    perceptron,
    stochastic_gradient,
)
from colgen.problems.chain_map.corpus import TASKS
from colgen.problems.chain_map.extraction import Extractor
from colgen.problems.chain_map.features import build_index
from colgen.problems.chain_map.training import read_corpus as read_tagged_corpus
from colgen.problems.dependency.corpus import read_corpus as read_parsed_corpus
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.learning_oracles import SecondOrderTrees
from colgen.solvers.chains.beam import beam_search

Floats = NDArray[np.float64]

_SENTENCES, _TESTED, _SEEDS, _EPOCHS = 600, 300, 3, 4
_LONGEST, _SHORT = 25, 15
_HASHED, _PRIME = 1 << 17, (1 << 31) - 1

TRAINERS: dict[str, Callable[..., Trained[Any]]] = {
    "perceptron": perceptron,
    "MIRA": mira,
    "0/1 loss": lambda *a, **k: mira(*a, margin="zero_one", **k),
    "margin": lambda examples, size, *, epochs, seed: frank_wolfe(
        examples, size, regularization=1.0 / len(examples), passes=2 * epochs, seed=seed
    ),
    "margin by cutting planes": lambda examples, size, *, epochs, seed: cutting_planes(
        examples, size, regularization=1.0 / len(examples), passes=10 * epochs, gap=1e-2
    ),
    "SparseMAP": lambda *a, **k: stochastic_gradient(*a, loss="sparsemap", **k),
    "likelihood": lambda *a, **k: stochastic_gradient(*a, loss="gibbs", **k),
    "belief propagation": lambda *a, **k: stochastic_gradient(*a, loss="beliefs", **k),
}


WITHOUT_SEEDS = {"margin by cutting planes"}
"""Deterministic trainers."""


class BeamChains:
    """Beam search from left to right, which is inexact; with width 1 it is greedy."""

    def __init__(self, width: int) -> None:
        self.width = width

    def best(self, scores: Floats, transitions: Floats) -> Any:
        """Return the parts of the labelling found."""
        labels, _ = beam_search(scores, np.array([0, len(scores)]), transitions, self.width)
        return Chains.structure(labels.astype(np.int64), scores.shape[1])


class PrunedChains:
    """Best labelling among the ``kept`` labels of each token with the largest unary scores."""

    def __init__(self, kept: int) -> None:
        self.kept = kept

    def best(self, scores: Floats, transitions: Floats) -> Any:
        """Return the parts of the labelling found."""
        return Chains().best(np.where(_among_best(scores, self.kept, axis=1), scores, -np.inf), transitions)


class GreedyTrees:
    """Best head of each word, which need not form a tree."""

    def best(self, scores: Floats) -> Any:
        """Return the arcs from the best head of each word."""
        without = scores.copy()
        np.fill_diagonal(without, -np.inf)
        return Trees.structure(np.argmax(without, axis=0))


class PrunedTrees:
    """Best tree of arcs from the root and from the ``kept`` best heads of each word."""

    def __init__(self, kept: int) -> None:
        self.kept = kept

    def best(self, scores: Floats) -> Any:
        """Return the arcs of the tree."""
        without = scores.copy()
        np.fill_diagonal(without, -np.inf)
        candidates = _among_best(without, self.kept, axis=0)
        candidates[0] = True
        return Trees().best(np.where(candidates, without, -np.inf))


def _among_best(scores: Floats, count: int, *, axis: int) -> NDArray[np.bool_]:
    """Return which entries are among the ``count`` greatest along an axis."""
    kept = min(count, scores.shape[axis])
    least = np.partition(scores, -kept, axis=axis).take([-kept], axis=axis)
    mask: NDArray[np.bool_] = scores >= least
    return mask


def tagging_figures(data: Path, share: float, say: Say) -> list[Figure]:
    """Measure English part-of-speech tagging."""
    folder = data / "english_ewt"
    if not folder.is_dir():
        say(f"accuracy of tagging is skipped: {folder} does not exist")
        return []
    task = TASKS["pos"]
    train, test = (
        [s for s in read_tagged_corpus(folder, task, part) if len(s.words) <= _LONGEST] for part in ("train", "test")
    )
    train, test = train[: max(round(share * _SENTENCES), 20)], test[: max(round(share * _TESTED), 20)]
    tags = sorted({tag for sentence in (*train, *test) for tag in sentence.tags})
    number = {tag: k for k, tag in enumerate(tags)}
    index = build_index([s.words for s in train], 2)
    extractor = Extractor(index)
    count, size = len(tags), (len(index) + len(tags)) * len(tags)
    steps = sparse.hstack(
        [sparse.csr_matrix((count * count, len(index) * count)), sparse.eye(count * count)], format="csr"
    )

    def example(words: Sequence[str], own: Sequence[str]) -> LinearExample:
        found = extractor.look_up([words])
        tokens, kinds = np.nonzero(found >= 0)
        rows = (tokens[:, np.newaxis] * count + np.arange(count)).ravel()
        columns = (found[tokens, kinds][:, np.newaxis].astype(np.int64) * count + np.arange(count)).ravel()
        matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(words) * count, size))
        labels = np.array([number[tag] for tag in own])
        shapes = [(len(words), count), (count, count)]
        return LinearExample(Chains(), [matrix, steps], shapes, Chains.structure(labels, count))

    learned, tested = ([example(s.words, s.tags) for s in part] for part in (train, test))
    hasty = {
        "greedy": BeamChains(1),
        "a beam of 2": BeamChains(2),
        "2 labels a token": PrunedChains(2),
        "4 labels a token": PrunedChains(4),
    }
    return _table("tagging", _cases(learned, hasty), tested, size, share, say)


def parsing_figures(data: Path, share: float, say: Say) -> list[Figure]:
    """Measure Danish dependency parsing with several roots."""
    folder = data / "danish"
    if not folder.is_dir():
        say(f"accuracy of parsing is skipped: {folder} does not exist")
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
    hasty = {"greedy": GreedyTrees(), "2 heads a word": PrunedTrees(2), "4 heads a word": PrunedTrees(4)}
    return _table("parsing", _cases(learned, hasty), tested, _HASHED, share, say)


def second_order_figures(data: Path, share: float, say: Say) -> list[Figure]:
    """Compare exact trainers with belief propagation on Danish trees with features of grandchildren.

    Projective trees are used on the sentences with a projective tree, all trees on all sentences.  For all trees exact
    decoding is a proof by the engine, and likelihoods are intractable.
    """
    folder = data / "danish"
    if not folder.is_dir():
        return []
    corpus = read_parsed_corpus(folder, ("train", "test"))
    short = [[s for s in part if len(s.forms) <= _SHORT] for part in (corpus.learn, corpus.test)]
    projective = [[s for s in part if _projective(s)] for part in short]
    numbers: dict[str, int] = {}

    def table(name: str, model: Any, parts: list[list[Sentence]], trainers: Sequence[str]) -> list[Figure]:
        learned, tested = (
            [_second_order_example(model, sentence, numbers) for sentence in part[: max(round(share * most / 2), 20)]]
            for part, most in zip(parts, (_SENTENCES, _TESTED), strict=True)
        )
        return _table(name, [(trainer, learned, "") for trainer in trainers], tested, 2 * _HASHED, share, say)

    exact = "perceptron", "MIRA", "likelihood", "belief propagation"
    return [
        *table("second-order parsing", ProjectiveTrees("grandchildren"), projective, exact),
        *table(
            "second-order parsing, all trees",
            SecondOrderTrees("grandchildren"),
            short,
            [trainer for trainer in exact if trainer != "likelihood"],
        ),
    ]


def _second_order_example(
    model: ProjectiveTrees | SecondOrderTrees, sentence: Sentence, numbers: dict[str, int]
) -> LinearExample:
    size = len(sentence.forms) + 1
    assert sentence.heads is not None
    arcs = sparse.hstack([_arc_features(sentence), sparse.csr_matrix((size**2, _HASHED))], format="csr")
    pairs = _grandchild_features(sentence, numbers)
    right = model.structure(np.array([-1, *sentence.heads]))
    return LinearExample(model, [arcs, pairs], [(size,) * 2, (size,) * 3], right)


def _projective(sentence: Sentence) -> bool:
    """Return whether no two arcs cross."""
    assert sentence.heads is not None
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(sentence.heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def _grandchild_features(sentence: Sentence, numbers: dict[str, int]) -> Any:
    """Return hashed features of the tags of grandparent, head and modifier, with and without their directions."""
    tags = np.array([numbers.setdefault(tag, len(numbers)) for tag in ("<root>", *sentence.fine)])
    size = len(tags)
    g, h, m = np.meshgrid(*(np.arange(size),) * 3, indexing="ij")
    way = 2 * (g < h) + (h < m)
    three = (tags[g] * 1009 + tags[h]) * 1009 + tags[m]
    outer = tags[g] * 1009 + tags[m]
    kinds = [three * 5 + way, three * 5 + 4, outer * 5 + way + 7]
    columns = np.stack([(kind * 2654435761 + 97 * k) % _PRIME % _HASHED + _HASHED for k, kind in enumerate(kinds)], -1)
    rows = np.repeat(np.arange(size**3), len(kinds))
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns.ravel())), shape=(size**3, 2 * _HASHED))


def _arc_features(sentence: Sentence) -> Any:
    """Return hashed features of forms and tags of head, modifier and neighbours, with direction and distance."""
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


Case: TypeAlias = tuple[str, list[LinearExample], str]
"""Trainer, training examples, and a remark."""


def _cases(exact: list[LinearExample], hasty: dict[str, Any]) -> list[Case]:
    """Return each first-order trainer with exact decoding, and the perceptron with other decoders in training."""
    return [
        *((trainer, exact, "") for trainer in TRAINERS if trainer != "belief propagation"),
        *(
            ("perceptron", [replace(example, oracle=oracle) for example in exact], f", {name} in training")
            for name, oracle in hasty.items()
        ),
    ]


def _table(
    name: str,
    cases: list[Case],
    tested: list[LinearExample],
    size: int,
    share: float,
    say: Say,
) -> list[Figure]:
    """Return accuracy on test sentences, decoded exactly, and seconds of training."""
    seeds = _SEEDS if share >= 0.15 else 1
    epochs = _EPOCHS if share >= 0.2 else 2
    figures = []
    for trainer, examples, note in cases:
        accuracies = []
        began = time.process_time()
        for seed in range(1 if trainer in WITHOUT_SEEDS else seeds):
            trained = TRAINERS[trainer](examples, size, epochs=epochs, seed=seed)
            accuracies.append(_accuracy(tested, trained.weights))
        seconds = (time.process_time() - began) / len(accuracies)
        label = f"{name} ({trainer}{note})"
        figures += [
            Figure(
                f"accuracy of {label}",
                100.0 * float(np.mean(accuracies)),
                "%",
                len(accuracies),
                f"{len(examples)} sentences; standard deviation over seeds {100.0 * float(np.std(accuracies)):.2f}",
            ),
            Figure(f"seconds of {label}", seconds, "s", len(accuracies), "processor time, test decoding included"),
        ]
        say(f"{label}: {100.0 * float(np.mean(accuracies)):.2f}% in {seconds:.1f} s")
    return figures


def _accuracy(tested: Sequence[LinearExample], weights: Floats) -> float:
    """Return the share of correct parts of the first kind."""
    right = total = 0
    for example in tested:
        predicted = best_structure(example.oracle, example.scores(weights)).parts[0][0]
        right += len(np.intersect1d(predicted, example.gold.parts[0][0]))
        total += len(example.gold.parts[0][0])
    return right / total
