"""Estimating the scores of pairs of mentions from annotated documents."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.learning.models import SavedModel
from colgen.problems.coreference.document import Cluster, Document, as_clusters
from colgen.problems.coreference.features import Floats, PairFeatures, pair_features
from colgen.problems.coreference.instance import CoreferenceInstance
from colgen.problems.coreference.metrics import Agreement, agreement
from colgen.problems.coreference.network import Ensemble, fit, together
from colgen.solvers.arrays import as_float, as_floats
from colgen.solvers.clusters.clustering import local_search

ScoreKind: TypeAlias = Literal["probability", "log_odds"]
KINDS: tuple[ScoreKind, ...] = ("probability", "log_odds")

LEAST_PROBABILITY = 1e-4
"""Log-odds are those of probabilities between this and one minus this, so that no pair decides alone."""

BIASES: Mapping[ScoreKind, tuple[float, ...]] = {
    "probability": tuple(np.linspace(-0.1, 0.4, 11).round(2).tolist()),
    "log_odds": tuple(np.linspace(-0.5, 2.5, 13).round(2).tolist()),
}
"""What is tried as a bias."""

NUM_PAIRS = 360_000
NUM_NETWORKS, NUM_HIDDEN, NUM_EPOCHS = 4, 64, 4


@dataclass(frozen=True, eq=False)
class MentionScorer(SavedModel):
    """A trained pairwise classifier: documents in, probabilities and instances out.

    Attributes
    ----------
    unary_names, pair_names
        The features that it was trained on.
    bias
        For each kind of score the bias that gave the best CoNLL F1 on the documents that it was tuned on, else 0.
    """

    kind = "coreference"

    ensemble: Ensemble
    unary_names: tuple[str, ...]
    pair_names: tuple[str, ...]
    bias: Mapping[ScoreKind, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))

    def probabilities(self, document: Document) -> NDArray[np.float64]:
        """How probable it is that two mentions corefer: symmetric, shape (n, n), ones on the diagonal.

        Raises
        ------
        InputError
            If the document has no mentions, or the model was trained on other features than this version computes.
        """
        features = pair_features(document)
        if (features.unary_names, features.pair_names) != (self.unary_names, self.pair_names):
            raise InputError(
                "the model was trained on other features than this version of colgen computes: train again"
            )
        return self.ensemble.probabilities(features)

    def instance(
        self, document: Document, kind: ScoreKind = "probability", *, bias: float = 0.0
    ) -> CoreferenceInstance:
        """The document's mentions with the score p - 1/2 or log(p / (1 - p)) of each pair.

        Parameters
        ----------
        bias
            Added to all scores.  Above zero it makes larger clusters; ``scorer.bias[kind]`` is the tuned one.
        """
        scores = scores_of(self.probabilities(document), kind, bias)
        return CoreferenceInstance(scores, document.name, document.labels, document)

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        about = {"unary_names": self.unary_names, "pair_names": self.pair_names, "bias": dict(self.bias)}
        return about, {part.name: getattr(self.ensemble, part.name) for part in fields(Ensemble)}

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> MentionScorer:
        names = [part.name for part in fields(Ensemble)]
        ensemble = Ensemble(**{name: as_floats(arrays[name], name, dtype=np.float32) for name in names})
        unary_names, pair_names = tuple(about["unary_names"]), tuple(about["pair_names"])
        if (len(ensemble.earlier), len(ensemble.pair)) != (len(unary_names), len(pair_names)):
            raise ValueError("expected a name for each feature")
        bias = {kind: as_float(float(about["bias"][kind]), f"bias {kind}") for kind in KINDS}
        return cls(ensemble, unary_names, pair_names, bias)


def scores_of(probabilities: NDArray[np.float64], kind: ScoreKind, bias: float = 0.0) -> NDArray[np.float64]:
    """Scores of pairs from their probabilities: p - 1/2 or log(p / (1 - p)), and a bias added."""
    if kind not in KINDS:
        raise InputError(f"expected scores of the kind {' or '.join(KINDS)}, not {kind!r}")
    if not np.isfinite(bias):
        raise InputError(f"expected a finite bias, not {bias}")
    if kind == "probability":
        return probabilities - 0.5 + bias
    clipped = np.clip(probabilities, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    return np.log(clipped / (1.0 - clipped)) + bias


# --- training --------------------------------------------------------------------------------------------------------


def train(
    documents: Sequence[Document],
    tune: Sequence[Document] = (),
    *,
    seed: int = 0,
    num_pairs: int = NUM_PAIRS,
    num_networks: int = NUM_NETWORKS,
    say: Callable[[str], None] | None = None,
) -> MentionScorer:
    """Train the pairwise classifier, and choose its biases.

    Each network sees a sample of its own, drawn uniformly from *all* pairs of all documents: a clustering adds up the
    scores of all pairs of a cluster, near and far, so the probabilities of all of them must be right.

    Parameters
    ----------
    documents
        Annotated documents to learn from.
    tune
        Annotated documents to choose the biases on; without any they are 0.
    seed
        Of the samples and of the networks' first weights.
    num_pairs
        Size of each sample.
    say
        Called with a line of text as the training goes on.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise InputError("training needs scikit-learn: pip install colgen[learning]")
    say = say or (lambda line: None)
    features: list[PairFeatures] = []
    labels: list[NDArray[np.bool_]] = []
    for number, document in enumerate(documents, 1):
        if len(document.mentions) > 1:
            features.append(pair_features(document))
            labels.append(_together(document))
        if number % 10 == 0 or number == len(documents):
            say(f"features of {number} of {len(documents)} documents")
    total, positive = sum(map(len, labels)), sum(int(label.sum()) for label in labels)
    if not 0 < positive < total:
        raise InputError(f"expected pairs that corefer and pairs that do not: {positive:,} of {total:,} do")
    networks = []
    for number in range(num_networks):
        generator = np.random.default_rng([seed, number])
        sample = [np.flatnonzero(generator.random(len(label)) < num_pairs / total) for label in labels]
        chosen = np.concatenate([label[rows] for label, rows in zip(labels, sample, strict=True)])
        if not 0 < chosen.sum() < len(chosen):
            raise InputError(f"a sample of {num_pairs} pairs is too small to learn from")
        networks.append(
            fit(
                np.concatenate([_rows(of, rows) for of, rows in zip(features, sample, strict=True)]),
                chosen,
                features[0].unary.shape[1],
                seed=seed * num_networks + number,
                hidden=NUM_HIDDEN,
                epochs=NUM_EPOCHS,
            )
        )
        say(f"network {number + 1} of {num_networks}, trained on {len(chosen):,} of {total:,} pairs")
    scorer = MentionScorer(together(networks), features[0].unary_names, features[0].pair_names)
    return (
        MentionScorer(scorer.ensemble, scorer.unary_names, scorer.pair_names, tuned(scorer, tune)) if tune else scorer
    )


def _together(document: Document) -> NDArray[np.bool_]:
    """Of each pair i < j, whether the annotator says that it corefers."""
    cluster = np.empty(len(document.mentions), dtype=np.int64)
    for number, members in enumerate(document.gold):
        cluster[list(members)] = number
    i, j = np.triu_indices(len(cluster), 1)
    return np.asarray(cluster[i] == cluster[j])


def _rows(features: PairFeatures, chosen: NDArray[np.int64]) -> Floats:
    i, j = (index[chosen] for index in np.triu_indices(len(features.unary), 1))
    return np.hstack([features.unary[i], features.unary[j], features.pairs[chosen]])


def tuned(scorer: MentionScorer, documents: Sequence[Document]) -> dict[ScoreKind, float]:
    """For each kind of score the bias of best CoNLL F1; of equal ones the smallest."""
    probabilities = [scorer.probabilities(document) for document in documents]
    best: dict[ScoreKind, float] = {}
    for kind in KINDS:
        reached = {b: evaluate(documents, probabilities, kind, b).conll for b in BIASES[kind]}
        best[kind] = max(sorted(reached, key=abs), key=lambda b: reached[b])
    return best


def evaluate(
    documents: Sequence[Document], probabilities: Sequence[NDArray[np.float64]], kind: ScoreKind, bias: float = 0.0
) -> Agreement:
    """How well a local search over the scores agrees with the annotators."""
    found = Agreement()
    for document, p in zip(documents, probabilities, strict=True):
        found += agreement(document.gold, _quick_clustering(scores_of(p, kind, bias)))
    return found


def _quick_clustering(scores: NDArray[np.float64]) -> list[Cluster]:
    """A good clustering, with no proof: each mention alone to begin with, then local search."""
    scores = scores.copy()
    np.fill_diagonal(scores, 0.0)
    labels, _ = local_search(scores, np.arange(len(scores)), kicks=len(scores))
    return as_clusters(labels)
