"""How well a clustering of mentions agrees with the annotated one: MUC, B-cubed, CEAF-e and their mean.

Each measure is a quotient of sums for recall and another for precision.  Over a corpus numerators and denominators are
summed over the documents before they are divided, as the scorer of the CoNLL shared tasks does.

The clusterings may hold different mentions.  A cluster of one mention counts in B-cubed and in CEAF-e as any other
does; MUC counts links and sees none in it.  Corpora that annotate such mentions (LitBank) therefore give higher B-cubed
and CEAF-e than those that leave them out (OntoNotes), and figures of the two kinds must not be compared.

References
----------
M. Vilain et al., *A model-theoretic coreference scoring scheme*, MUC-6 (1995); A. Bagga and B. Baldwin, *Algorithms
for scoring coreference chains*, LREC (1998); X. Luo, *On coreference resolution performance metrics*, HLT (2005);
S. Pradhan et al., *Scoring coreference partitions of predicted mentions: a reference implementation*, ACL (2014).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

Clustering: TypeAlias = Iterable[Collection[Hashable]]


@dataclass(frozen=True)
class Measure:
    """Recall and precision as two quotients, of one document or summed over several.

    Where there is nothing to find recall is 0, and where nothing was found precision is 0, as the shared tasks have it.

    Attributes
    ----------
    found, findable
        Numerator and denominator of the recall.
    right, given
        Numerator and denominator of the precision.
    """

    found: float = 0.0
    findable: float = 0.0
    right: float = 0.0
    given: float = 0.0

    def __add__(self, other: Measure) -> Measure:
        return Measure(
            self.found + other.found, self.findable + other.findable, self.right + other.right, self.given + other.given
        )

    @property
    def recall(self) -> float:
        return self.found / self.findable if self.findable else 0.0

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2.0 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True)
class Agreement:
    """The three measures; sums of them are those of a corpus."""

    muc: Measure = field(default_factory=Measure)
    b_cubed: Measure = field(default_factory=Measure)
    ceaf_e: Measure = field(default_factory=Measure)

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.muc + other.muc, self.b_cubed + other.b_cubed, self.ceaf_e + other.ceaf_e)

    @property
    def conll(self) -> float:
        """The CoNLL score: mean of the three F1."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3.0


def agreement(gold: Clustering, predicted: Clustering) -> Agreement:
    """All measures of one document.

    Parameters
    ----------
    gold, predicted
        Clusters of mentions; a mention is anything hashable, in at most one cluster of each.

    Raises
    ------
    ValueError
        If a mention is in two clusters of one clustering.
    """
    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
    return Agreement(muc(keys, responses), b_cubed(keys, responses), ceaf_e(keys, responses))


def muc(gold: Clustering, predicted: Clustering) -> Measure:
    """Links: a cluster of n mentions has n - 1, of which the other clustering keeps n less the parts it makes of it."""
    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
    return Measure(*_links(keys, responses), *_links(responses, keys))


def _links(clusters: list[set[Hashable]], other: list[set[Hashable]]) -> tuple[float, float]:
    cluster_of = _cluster_of(other)
    kept = sum(len(c) - len({cluster_of.get(mention, (mention,)) for mention in c}) for c in clusters)
    return float(kept), float(sum(max(len(cluster) - 1, 0) for cluster in clusters))


def b_cubed(gold: Clustering, predicted: Clustering) -> Measure:
    """Mentions: for each one the share of its cluster that is in its cluster of the other clustering."""
    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
    return Measure(*_shares(keys, responses), *_shares(responses, keys))


def _shares(clusters: list[set[Hashable]], other: list[set[Hashable]]) -> tuple[float, float]:
    cluster_of = _cluster_of(other)
    total = 0.0
    for cluster in clusters:
        sizes = Counter(cluster_of[mention] for mention in cluster if mention in cluster_of)
        total += sum(size * size for size in sizes.values()) / max(len(cluster), 1)
    return total, float(sum(map(len, clusters)))


def ceaf_e(gold: Clustering, predicted: Clustering) -> Measure:
    """Entities: the best one-to-one alignment of clusters, K with R worth 2 |K ∩ R| / (|K| + |R|) (Luo's φ4)."""
    from scipy.optimize import linear_sum_assignment

    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
    cluster_of = _cluster_of(responses)
    _cluster_of(keys)  # checks them
    similarity = np.zeros((len(keys), len(responses)))
    for k, key in enumerate(keys):
        for r, common in Counter(cluster_of[mention] for mention in key if mention in cluster_of).items():
            similarity[k, r] = 2.0 * common / (len(key) + len(responses[r]))
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    total = float(similarity[rows, columns].sum())
    return Measure(total, float(len(keys)), total, float(len(responses)))


def _cluster_of(clusters: list[set[Hashable]]) -> dict[Hashable, int]:
    """The number of each mention's cluster."""
    cluster_of: dict[Hashable, int] = {}
    for number, cluster in enumerate(clusters):
        for mention in cluster:
            if mention in cluster_of:
                raise ValueError(f"mention {mention!r} is in clusters {cluster_of[mention]} and {number}")
            cluster_of[mention] = number
    return cluster_of
