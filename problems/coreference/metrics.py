"""How well a clustering of mentions agrees with the annotated one: MUC, B-cubed, CEAF-e, CEAF-m, LEA and BLANC.

Each measure is a quotient of sums for recall and another for precision.  Over a corpus numerators and denominators are
summed over the documents before they are divided, as the scorer of the CoNLL shared tasks does.

The clusterings may hold different mentions.  A cluster of one mention counts in B-cubed, CEAF-e and CEAF-m as any other
does, in LEA by a link to itself; MUC and the coreference links of BLANC see none in it.  Corpora that annotate such
mentions (LitBank) therefore give higher B-cubed and CEAF-e than those that leave them out (OntoNotes), and figures of
the two kinds must not be compared: ``singletons=False`` leaves them out of both clusterings.

References
----------
M. Vilain et al., *A model-theoretic coreference scoring scheme*, MUC-6 (1995); A. Bagga and B. Baldwin, *Algorithms
for scoring coreference chains*, LREC (1998); X. Luo, *On coreference resolution performance metrics*, HLT (2005);
S. Pradhan et al., *Scoring coreference partitions of predicted mentions: a reference implementation*, ACL (2014);
X. Luo et al., *An extension of BLANC to system mentions*, ACL (2014); N. S. Moosavi and M. Strube, *Which coreference
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
class Blanc:
    """BLANC: the mean of how well coreference links and other pairs of mentions agree.

    Attributes
    ----------
    links, others
        Pairs of mentions in one cluster, and in two.
    """

    links: Measure = field(default_factory=Measure)
    others: Measure = field(default_factory=Measure)

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
        """Mean of the two F1, not of recall and precision."""
        return self._mean("f1")

    def _mean(self, name: str) -> float:
        """Where neither clustering has pairs of one kind, the other kind decides alone."""
        told = [m for m in (self.links, self.others) if m.findable or m.given]
        return sum(float(getattr(m, name)) for m in told) / max(len(told), 1)


@dataclass(frozen=True)
class Agreement:
    """All measures; sums of them are those of a corpus."""

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
        """The CoNLL score: mean of the F1 of MUC, B-cubed and CEAF-e."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3.0


MEASURES = ("muc", "b_cubed", "ceaf_e", "ceaf_m", "lea", "blanc")
"""Names of the measures of :class:`Agreement`."""


def agreement(gold: Clustering, predicted: Clustering, *, singletons: bool = True) -> Agreement:
    """All measures of one document.

    Parameters
    ----------
    gold, predicted
        Clusters of mentions; a mention is anything hashable, in at most one cluster of each.
    singletons
        Whether clusters of one mention count; otherwise they are left out of either clustering.

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
    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
    common = _common(keys, responses)
    sizes = np.add.outer([len(key) for key in keys], [len(response) for response in responses])
    total = _aligned(2.0 * common / np.maximum(sizes, 1))
    return Measure(total, float(len(keys)), total, float(len(responses)))


def ceaf_m(gold: Clustering, predicted: Clustering) -> Measure:
    """Mentions of the best one-to-one alignment of clusters, K with R worth |K ∩ R| (Luo's φ3)."""
    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
    total = _aligned(_common(keys, responses))
    return Measure(total, float(sum(map(len, keys))), total, float(sum(map(len, responses))))


def _common(keys: list[set[Hashable]], responses: list[set[Hashable]]) -> NDArray[np.float64]:
    """How many mentions each key shares with each response."""
    cluster_of = _cluster_of(responses)
    _cluster_of(keys)  # checks them
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
    """Links, entity by entity: for each the share of its links that the other clustering has, times its mentions.

    A cluster of one mention has one link, to itself, which the other clustering has if the mention is alone there too.
    """
    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
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
    """Pairs of mentions, those of one cluster and those of two, as extended to clusterings of different mentions."""
    keys, responses = [set(cluster) for cluster in gold], [set(cluster) for cluster in predicted]
    common = _common(keys, responses)
    shared = int(common.sum())  # mentions of both

    def kinds(clusters: list[set[Hashable]]) -> tuple[int, int]:
        links = sum(_pairs(len(cluster)) for cluster in clusters)
        return links, _pairs(sum(map(len, clusters))) - links

    def linked(counts: NDArray[np.float64]) -> int:
        return int((counts * (counts - 1.0)).sum()) // 2

    (links, others), (given_links, given_others) = kinds(keys), kinds(responses)
    both = linked(common)
    # Of the pairs of shared mentions, those that neither clustering links: inclusion and exclusion.
    neither = _pairs(shared) - linked(common.sum(axis=1)) - linked(common.sum(axis=0)) + both
    return Blanc(
        Measure(float(both), float(links), float(both), float(given_links)),
        Measure(float(neither), float(others), float(neither), float(given_others)),
    )


def _cluster_of(clusters: list[set[Hashable]]) -> dict[Hashable, int]:
    """The number of each mention's cluster."""
    cluster_of: dict[Hashable, int] = {}
    for number, cluster in enumerate(clusters):
        for mention in cluster:
            if mention in cluster_of:
                raise ValueError(f"mention {mention!r} is in clusters {cluster_of[mention]} and {number}")
            cluster_of[mention] = number
    return cluster_of
