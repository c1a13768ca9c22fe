"""``colgen train coreference``: train a model on a folder of annotated documents, and measure its quality."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.core.text import plural
from colgen.problems.coreference.conll import Skip, read_conll
from colgen.problems.coreference.document import Document
from colgen.problems.coreference.learning import KINDS, NUM_NETWORKS, NUM_PAIRS, MentionScorer, evaluate, train

_QUICK = 16
"""Documents used for quick training."""


def read_corpus(folder: Path, skip: Skip | None = None) -> list[Document]:
    """Read the documents of all CoNLL files (names ending in ``conll`` or ``conllu``) of a folder, by file name.

    Files of CorefUD and OntoGUM are supported. A subfolder ``litbank`` is used if the folder has no such files.
    ``skip`` is that of :func:`~colgen.problems.coreference.conll.read_conll`.
    """
    paths = sorted([*folder.glob("*conll"), *folder.glob("*conllu")]) or sorted((folder / "litbank").glob("*conll"))
    if not paths:
        raise InputError(f"{folder}: expected files with names ending in conll or conllu, found none")
    return [document for path in paths for document in read_conll(path, skip=skip) if document.mentions]


def split(documents: Sequence[Document]) -> tuple[list[Document], list[Document], list[Document]]:
    """Split documents in their order into 80% for training, 10% for tuning and 10% for testing."""
    if len(documents) < 3:
        raise InputError(
            f"expected at least three documents with mentions, for training, tuning and testing, got {len(documents)}"
        )
    tenth = max(1, len(documents) // 10)
    return list(documents[: -2 * tenth]), list(documents[-2 * tenth : -tenth]), list(documents[-tenth:])


def train_from_folder(options: TrainOptions) -> TrainedModel:
    """Train, tune and test on the documents of a folder."""
    documents = read_corpus(options.data, options.skip)
    if options.quick:
        documents = documents[:_QUICK]
    learn, tune, test = split(documents)
    options.say(f"{plural(len(learn), 'document')} for training, {len(tune)} for tuning, {len(test)} for testing")
    scorer = train(
        learn,
        tune,
        seed=options.seed,
        num_pairs=NUM_PAIRS // 4 if options.quick else NUM_PAIRS,
        num_networks=1 if options.quick else NUM_NETWORKS,
        say=options.say,
    )
    size = [
        Figure("documents", len(learn), "", 1, "used for training"),
        Figure("mentions", sum(len(document.mentions) for document in learn), "", len(learn)),
        Figure("features", 2 * len(scorer.unary_names) + len(scorer.pair_names), "", 1),
    ]
    return TrainedModel(scorer, lambda: [*size, *quality("tune", scorer, tune), *quality("test", scorer, test)])


def quality(name: str, scorer: MentionScorer, documents: Sequence[Document]) -> list[Figure]:
    """Return figures of a model's quality on annotated documents, for pairs and for clusterings by local search."""
    probabilities = [scorer.probabilities(document) for document in documents]
    p, together = _all_pairs(documents, probabilities)
    n = len(documents)
    rate = float(together.mean())
    figures = [
        Figure(f"{name}.log_loss", _log_loss(p, together), "nat", len(p), "mean over all pairs"),
        Figure(
            f"{name}.log_loss_constant",
            _log_loss(np.full(len(p), rate), together),
            "nat",
            len(p),
            "constant prediction of the rate",
        ),
        Figure(
            f"{name}.calibration_error", calibration_error(p, together), "", len(p), "mean |p - frequency|, ten bins"
        ),
    ]
    for kind in KINDS:
        for label, bias in (("", 0.0), ("_tuned", scorer.bias[kind])):
            found = evaluate(documents, probabilities, kind, bias)
            parts = ", ".join(f"{100 * m.f1:.1f}" for m in (found.muc, found.b_cubed, found.ceaf_e))
            note = f"MUC, B-cubed, CEAF-e: {parts}; bias {bias:g}"
            figures.append(Figure(f"{name}.conll_f1.{kind}{label}", 100.0 * found.conll, "%", n, note))
    return figures


def _all_pairs(
    documents: Sequence[Document], probabilities: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, labels = [], []
    for document, p in zip(documents, probabilities, strict=True):
        upper = np.triu_indices(len(p), 1)
        same = np.zeros(p.shape, dtype=bool)
        for cluster in document.gold:
            same[np.ix_(cluster, cluster)] = True
        values.append(p[upper])
        labels.append(same[upper])
    return np.concatenate(values), np.concatenate(labels)


def _log_loss(p: NDArray[np.float64], together: NDArray[np.bool_]) -> float:
    likelihood = np.clip(np.where(together, p, 1.0 - p), 1e-12, 1.0)
    return float(-np.log(likelihood).mean())


def calibration_error(p: NDArray[np.float64], together: NDArray[np.bool_], bins: int = 10) -> float:
    """Return the mean difference between probability and observed frequency over equal-width bins.

    Bins are weighted by their numbers of pairs.
    """
    index = np.minimum((p * bins).astype(np.int64), bins - 1)
    excess = np.bincount(index, weights=p - together, minlength=bins)
    return float(np.abs(excess).sum() / len(p))
