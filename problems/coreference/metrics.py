"""Agreement of a clustering with the annotated one: MUC, B-cubed, CEAF-e, CEAF-m, LEA and BLANC.

Each measure is one quotient of sums for recall and another for precision. Over a corpus, numerators and denominators
are summed over the documents before division, as in the scorer of the CoNLL shared tasks.

The clusterings may contain different mentions. Singletons count normally in B-cubed, CEAF-e and CEAF-m, and as a link
to themselves in LEA; MUC and the coreference links of BLANC ignore them. So corpora that annotate singletons (LitBank)
give higher B-cubed and CEAF-e than corpora that do not (OntoNotes), and the two must not be compared.
``singletons=False`` removes them from both clusterings.

References
----------
M. Vilain et al., *A model-theoretic coreference scoring scheme*, MUC-6 (1995); A. Bagga and B. Baldwin, *Algorithms for
scoring coreference chains*, LREC (1998); X. Luo, *On coreference resolution performance metrics*, HLT (2005); S.
Pradhan et al., *Scoring coreference partitions of predicted mentions: a reference implementation*, ACL (2014); X. Luo
et al., *An extension of BLANC to system mentions*, ACL (2014); N. S. Moosavi and M. Strube, *Which coreference
evaluation metric do you trust? A proposal for a link-based entity aware metric*, ACL (2016).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Clustering: TypeAlias = Iterable[Collection[Hashable]]


@dataclass(frozen=True)
class Measure:
    """Recall and precision as quotients, of one document or summed over several.

    Recall is 0 if there is nothing to find, and precision is 0 if nothing was found, as in the shared tasks.
    """

    found: float = 0.0  # numerator of the recall
    findable: float = 0.0  # its denominator
    right: float = 0.0  # numerator of the precision
    given: float = 0.0  # its denominator

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
class Blanc:
    """BLANC: the mean agreement on coreference links and on other pairs of mentions."""

    links: Measure = field(default_factory=Measure)  # pairs of mentions in one cluster
    others: Measure = field(default_factory=Measure)  # pairs of mentions in two clusters

    def __add__(self, other: Blanc) -> Blanc:
        return Blanc(self.links + other.links, self.others + other.others)

    @property
    def recall(self) -> float:
        return self._mean("recall")

    @property
    def precision(self) -> float:
        return self._mean("precision")

    @property
    def f1(self) -> float:
        """Mean of both F1 values; it is not the F1 of mean recall and precision."""
        return self._mean("f1")

    def _mean(self, name: str) -> float:
        """Return the mean over links and others; a kind without pairs in both clusterings is ignored."""
        used = [m for m in (self.links, self.others) if m.findable or m.given]
        return sum(float(getattr(m, name)) for m in used) / max(len(used), 1)


@dataclass(frozen=True)
class Agreement:
    """All measures; the sum over documents gives those of the corpus."""

    muc: Measure = field(default_factory=Measure)
    b_cubed: Measure = field(default_factory=Measure)
    ceaf_e: Measure = field(default_factory=Measure)
    ceaf_m: Measure = field(default_factory=Measure)
    lea: Measure = field(default_factory=Measure)
    blanc: Blanc = field(default_factory=Blanc)

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(*(getattr(self, name) + getattr(other, name) for name in MEASURES))

    @property
    def conll(self) -> float:
        """The CoNLL score: mean F1 of MUC, B-cubed and CEAF-e."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3.0


MEASURES = ("muc", "b_cubed", "ceaf_e", "ceaf_m", "lea", "blanc")
"""Names of the measures of :class:`Agreement`."""


def agreement(gold: Clustering, predicted: Clustering, *, singletons: bool = True) -> Agreement:
    """Return all measures of one document.

    Parameters
    ----------
    gold, predicted
        Clusters of mentions. A mention is any hashable, in at most one cluster of each clustering.
    singletons
        Whether clusters of one mention count; otherwise they are removed from both clusterings.

    Raises
    ------
    ValueError
        If a mention is in two clusters of one clustering.
    """
    least = 1 if singletons else 2
    keys, responses = ([c for c in map(set, clusters) if len(c) >= least] for clusters in (gold, predicted))
    return Agreement(
        muc(keys, responses),
        b_cubed(keys, responses),
        ceaf_e(keys, responses),
        ceaf_m(keys, responses),
        lea(keys, responses),
        blanc(keys, responses),
    )


def _as_sets(clusters: Clustering) -> list[set[Hashable]]:
    return [set(cluster) for cluster in clusters]


def muc(gold: Clustering, predicted: Clustering) -> Measure:
    """Count links: a cluster of n mentions has n - 1.

    If the other clustering splits it into p parts, n - p of them are found.
    """
    keys, responses = _as_sets(gold), _as_sets(predicted)
    return Measure(*_links(keys, responses), *_links(responses, keys))


def _links(clusters: list[set[Hashable]], other: list[set[Hashable]]) -> tuple[float, float]:
    cluster_of = _cluster_of(other)
    kept = sum(len(c) - len({cluster_of.get(mention, (mention,)) for mention in c}) for c in clusters)
    return float(kept), float(sum(max(len(cluster) - 1, 0) for cluster in clusters))


def b_cubed(gold: Clustering, predicted: Clustering) -> Measure:
    """Sum, over mentions, the share of the mention's cluster that is in its cluster of the other clustering."""
    keys, responses = _as_sets(gold), _as_sets(predicted)
    return Measure(*_shares(keys, responses), *_shares(responses, keys))


def _shares(clusters: list[set[Hashable]], other: list[set[Hashable]]) -> tuple[float, float]:
    cluster_of = _cluster_of(other)
    total = 0.0
    for cluster in clusters:
        sizes = Counter(cluster_of[mention] for mention in cluster if mention in cluster_of)
        total += sum(size * size for size in sizes.values()) / max(len(cluster), 1)
    return total, float(sum(map(len, clusters)))


def ceaf_e(gold: Clustering, predicted: Clustering) -> Measure:
    """Score entities by the best one-to-one alignment of clusters, with weight 2 |K ∩ R| / (|K| + |R|) (Luo's φ4)."""
    keys, responses = _as_sets(gold), _as_sets(predicted)
    common = _common(keys, responses)
    sizes = np.add.outer([len(key) for key in keys], [len(response) for response in responses])
    total = _aligned(2.0 * common / np.maximum(sizes, 1))
    return Measure(total, float(len(keys)), total, float(len(responses)))


def ceaf_m(gold: Clustering, predicted: Clustering) -> Measure:
    """Score mentions by the best one-to-one alignment of clusters, with weight |K ∩ R| (Luo's φ3)."""
    keys, responses = _as_sets(gold), _as_sets(predicted)
    total = _aligned(_common(keys, responses))
    return Measure(total, float(sum(map(len, keys))), total, float(sum(map(len, responses))))


def _common(keys: list[set[Hashable]], responses: list[set[Hashable]]) -> NDArray[np.float64]:
    """Return the number of mentions that each key shares with each response."""
    cluster_of = _cluster_of(responses)
    _cluster_of(keys)  # raises if a mention is in two clusters
    common = np.zeros((len(keys), len(responses)))
    for k, key in enumerate(keys):
        for mention in key:
            if mention in cluster_of:
                common[k, cluster_of[mention]] += 1.0
    return common


def _aligned(similarity: NDArray[np.float64]) -> float:
    from scipy.optimize import linear_sum_assignment

    return float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def lea(gold: Clustering, predicted: Clustering) -> Measure:
    """Sum, over clusters, the share of its links that the other clustering has, times its number of mentions.

    A singleton has one link, to itself, which is found if the mention is a singleton in the other clustering too.
    """
    keys, responses = _as_sets(gold), _as_sets(predicted)
    return Measure(*_resolved(keys, responses), *_resolved(responses, keys))


def _resolved(clusters: list[set[Hashable]], other: list[set[Hashable]]) -> tuple[float, float]:
    cluster_of = _cluster_of(other)
    total = 0.0
    for cluster in clusters:
        sizes = Counter(cluster_of[mention] for mention in cluster if mention in cluster_of)
        if len(cluster) == 1:
            total += sum(len(other[number]) == 1 for number in sizes)
        else:
            total += len(cluster) * sum(map(_pairs, sizes.values())) / max(_pairs(len(cluster)), 1)
    return total, float(sum(map(len, clusters)))


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def blanc(gold: Clustering, predicted: Clustering) -> Blanc:
    """Compare pairs of mentions within and between clusters; the clusterings may have different mentions."""
    keys, responses = _as_sets(gold), _as_sets(predicted)
    common = _common(keys, responses)
    shared = int(common.sum())  # mentions of both clusterings

    def kinds(clusters: list[set[Hashable]]) -> tuple[int, int]:
        links = sum(_pairs(len(cluster)) for cluster in clusters)
        return links, _pairs(sum(map(len, clusters))) - links

    def linked(counts: NDArray[np.float64]) -> int:
        return int((counts * (counts - 1.0)).sum()) // 2

    (links, others), (given_links, given_others) = kinds(keys), kinds(responses)
    both = linked(common)
    # Pairs of shared mentions that neither clustering links, by inclusion and exclusion.
    neither = _pairs(shared) - linked(common.sum(axis=1)) - linked(common.sum(axis=0)) + both
    return Blanc(
        Measure(float(both), float(links), float(both), float(given_links)),
        Measure(float(neither), float(others), float(neither), float(given_others)),
    )


def _cluster_of(clusters: list[set[Hashable]]) -> dict[Hashable, int]:
    """Return the cluster number of each mention."""
    cluster_of: dict[Hashable, int] = {}
    for number, cluster in enumerate(clusters):
        for mention in cluster:
            if mention in cluster_of:
                raise ValueError(f"mention {mention!r} is in clusters {cluster_of[mention]} and {number}")
            cluster_of[mention] = number
    return cluster_of
