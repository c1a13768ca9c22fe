"""Scores of pairs of mentions, learned from annotated documents."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.core.text import plural
from colgen.learning.models import SavedModel
from colgen.problems.coreference.document import Cluster, Document, as_clusters
from colgen.problems.coreference.features import Floats, PairFeatures, pair_features
from colgen.problems.coreference.instance import CoreferenceInstance
from colgen.problems.coreference.metrics import Agreement, agreement
from colgen.problems.coreference.network import Ensemble, combine, fit
from colgen.solvers.arrays import as_float, as_floats
from colgen.solvers.clusters.clustering import local_search

ScoreKind: TypeAlias = Literal["probability", "log_odds"]
KINDS: tuple[ScoreKind, ...] = ("probability", "log_odds")

LEAST_PROBABILITY = 1e-4
"""Log-odds are clipped to probabilities between this and 1 minus this, so that no pair decides alone."""

BIASES: Mapping[ScoreKind, tuple[float, ...]] = {
    "probability": tuple(np.linspace(-0.1, 0.4, 11).round(2).tolist()),
    "log_odds": tuple(np.linspace(-0.5, 2.5, 13).round(2).tolist()),
}
"""Biases that are tried."""

NUM_PAIRS = 360_000
NUM_NETWORKS, NUM_HIDDEN, NUM_EPOCHS = 4, 64, 4


@dataclass(frozen=True, eq=False)
class MentionScorer(SavedModel):
    """A trained pairwise classifier of mentions that returns probabilities and instances.

    ``bias`` has, for each kind of score, the bias with the best CoNLL F1 on the tuning documents, or 0.
    """

    kind = "coreference"

    ensemble: Ensemble
    unary_names: tuple[str, ...]  # features that it was trained on, as `pair_names`
    pair_names: tuple[str, ...]
    bias: Mapping[ScoreKind, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))

    def probabilities(self, document: Document) -> NDArray[np.float64]:
        """Return the probabilities that two mentions corefer: symmetric, shape (n, n), ones on the diagonal.

        Raises
        ------
        InputError
            If the document has no mentions, or the model was trained on other features than this version computes.
        """
        features = pair_features(document)
        if (features.unary_names, features.pair_names) != (self.unary_names, self.pair_names):
            raise InputError(
                "the model was trained on other features than this version of colgen computes; train it again"
            )
        return self.ensemble.probabilities(features)

    def instance(
        self, document: Document, kind: ScoreKind = "probability", *, bias: float = 0.0
    ) -> CoreferenceInstance:
        """Return the instance of a document with the score p - 1/2 or log(p / (1 - p)) of each pair, plus a bias.

        A positive bias makes larger clusters; ``scorer.bias[kind]`` is the tuned one.
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
            raise ValueError(
                f"expected a name for each feature, got {len(unary_names)} and {len(pair_names)} names for "
                f"{len(ensemble.earlier)} unary and {len(ensemble.pair)} pair features"
            )
        bias = {kind: as_float(float(about["bias"][kind]), f"bias {kind}") for kind in KINDS}
        return cls(ensemble, unary_names, pair_names, bias)


def scores_of(probabilities: NDArray[np.float64], kind: ScoreKind, bias: float = 0.0) -> NDArray[np.float64]:
    """Convert probabilities to scores p - 1/2 or log(p / (1 - p)), and add a bias."""
    if kind not in KINDS:
        raise InputError(f"kind of scores must be {' or '.join(KINDS)}, not {kind!r}")
    if not np.isfinite(bias):
        raise InputError(f"bias must be a finite number, not {bias}")
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

    Each network sees its own sample, drawn uniformly from *all* pairs of all documents. A clustering sums the scores of
    all pairs of a cluster, near and far, so all probabilities must be accurate.

    Parameters
    ----------
    documents, tune
        Annotated documents for training, and for choosing the biases, which are 0 without any.
    seed
        Seed of the samples and of the networks' initial weights.
    num_pairs
        Size of each sample.
    say
        Called with a line of text about the progress.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise InputError("training needs scikit-learn; run: pip install colgen[learning]")
    say = say or (lambda line: None)
    features: list[PairFeatures] = []
    labels: list[NDArray[np.bool_]] = []
    for number, document in enumerate(documents, 1):
        if len(document.mentions) > 1:
            features.append(pair_features(document))
            labels.append(_together(document))
        if number % 10 == 0 or number == len(documents):
            say(f"features of {number} of {plural(len(documents), 'document')}")
    total, positive = sum(map(len, labels)), sum(int(label.sum()) for label in labels)
    if not 0 < positive < total:
        raise InputError(f"expected coreferent and other pairs, but {positive:,} of {total:,} pairs corefer")
    networks = []
    for number in range(num_networks):
        generator = np.random.default_rng([seed, number])
        sample = [np.flatnonzero(generator.random(len(label)) < num_pairs / total) for label in labels]
        chosen = np.concatenate([label[rows] for label, rows in zip(labels, sample, strict=True)])
        if not 0 < chosen.sum() < len(chosen):
            raise InputError(f"num_pairs={num_pairs} is too small: a sample needs coreferent and other pairs")
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
    scorer = MentionScorer(combine(networks), features[0].unary_names, features[0].pair_names)
    return replace(scorer, bias=tune_biases(scorer, tune)) if tune else scorer


def _together(document: Document) -> NDArray[np.bool_]:
    """Return whether each pair i < j corefers in the annotation."""
    cluster = np.empty(len(document.mentions), dtype=np.int64)
    for number, members in enumerate(document.gold):
        cluster[list(members)] = number
    i, j = np.triu_indices(len(cluster), 1)
    return np.asarray(cluster[i] == cluster[j])


def _rows(features: PairFeatures, chosen: NDArray[np.int64]) -> Floats:
    i, j = (index[chosen] for index in np.triu_indices(len(features.unary), 1))
    return np.hstack([features.unary[i], features.unary[j], features.pairs[chosen]])


def tune_biases(scorer: MentionScorer, documents: Sequence[Document]) -> dict[ScoreKind, float]:
    """Return the bias with the best CoNLL F1 for each kind of score; among equal ones, the smallest."""
    probabilities = [scorer.probabilities(document) for document in documents]
    best: dict[ScoreKind, float] = {}
    for kind in KINDS:
        reached = {b: evaluate(documents, probabilities, kind, b).conll for b in BIASES[kind]}
        best[kind] = max(sorted(reached, key=abs), key=lambda b: reached[b])
    return best


def evaluate(
    documents: Sequence[Document], probabilities: Sequence[NDArray[np.float64]], kind: ScoreKind, bias: float = 0.0
) -> Agreement:
    """Return the agreement of a local search over the scores with the annotation."""
    found = Agreement()
    for document, p in zip(documents, probabilities, strict=True):
        found += agreement(document.gold, _quick_clustering(scores_of(p, kind, bias)))
    return found


def _quick_clustering(scores: NDArray[np.float64]) -> list[Cluster]:
    """Return a good clustering without proof, by local search from singletons."""
    scores = scores.copy()
    np.fill_diagonal(scores, 0.0)
    labels, _ = local_search(scores, np.arange(len(scores)), kicks=len(scores))
    return as_clusters(labels)
