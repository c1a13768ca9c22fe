"""Instances of coreference clustering: validated symmetric score matrices, files and generators."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen import InputError
from colgen.core.array_files import is_archive, read_array, read_arrays
from colgen.core.files import writing
from colgen.problems.coreference.document import Cluster, Document, as_clusters
from colgen.solvers.arrays import ArrayError, as_numbers
from colgen.solvers.scaling import power_of_two

Floats: TypeAlias = NDArray[np.float64]


_MAX_ASYMMETRY = 2.0**-20
"""Largest relative difference between the two scores of a pair that is attributed to float32 rounding."""

_PENALTY_RATIO = 64.0
"""A penalty smaller than this multiple of the scale is left unchanged."""

_REWARD_RATIO = 2.0**10
"""Scores larger than the sum of all smaller ones by this factor do not determine the scale."""

_MAX_MULTIPLES = 2.0**31
"""If the sum of all scores has more multiples of a step than this, floats may not distinguish two multiples."""


@dataclass(frozen=True, eq=False)
class CoreferenceInstance:
    """Mentions (or other items) with a score for each pair, positive if the two seem to belong together.

    The score of a clustering is the sum of the scores of all pairs that share a cluster, *each pair counted once*. (A
    sum over ordered pairs doubles every objective without changing the solutions.) Pairs in different clusters count
    zero. If separating a pair has a score too, subtract it from the score of joining.

    Objectives refer to this matrix. A *reward* is a score so high that every best clustering joins the pair, such as
    10¹² among scores of 1. Plain clustering is solved on :attr:`contracted`, so that rewards do not determine the
    tolerances.

    Parameters
    ----------
    scores
        Symmetric matrix of shape (n, n), n ≥ 1, finite or -inf, which forbids a pair. s_ij and s_ji may differ by
        rounding and are replaced by their mean. The diagonal is set to zero.
    name
        Name of the instance.
    labels
        Labels of the items, such as a graph's nodes or the mentions' texts; by default numbers.
    document
        The text of the mentions, if there is one.
    constant
        Constant to add to the objective of every clustering to get the quantity of interest, such as the contribution
        of single nodes to the modularity.

    Raises
    ------
    InputError
        If the data is invalid.
    """

    scores: Floats
    name: str = ""
    labels: tuple[Hashable, ...] = ()
    document: Document | None = field(default=None, repr=False)
    constant: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", _valid(self.scores, self.name or "the score matrix"))
        object.__setattr__(self, "labels", tuple(self.labels) or tuple(range(len(self.scores))))
        if len(self.labels) != self.num_mentions:
            raise InputError(f"expected {self.num_mentions} labels, one per mention, got {len(self.labels)}")

    @property
    def num_mentions(self) -> int:
        return len(self.scores)

    @cached_property
    def scale(self) -> float:
        """The largest positive score, rounded down to a power of two; tolerances are relative to it."""
        positive = self.scores[self.scores > 0.0]
        return power_of_two(positive if len(positive) else self.scores)

    @cached_property
    def penalties(self) -> NDArray[np.bool_]:
        """Mask of pairs that no best clustering joins: forbidden pairs, and pairs with a large negative score.

        Let A_i be the sum of the positive scores of i. A cluster with i and j improves without i if s_ij < -A_i.
        """
        return np.asarray(self.scores < self._floor)

    @cached_property
    def clipped(self) -> Floats:
        """The scores with penalties raised to the smallest sufficient size, so that all are finite and of similar size.

        The best clusterings and the optima of the relaxation remain the same.
        """
        clipped = np.maximum(self.scores, self._floor) if self.penalties.any() else self.scores
        clipped.setflags(write=False)
        return clipped

    @cached_property
    def lowered(self) -> CoreferenceInstance:
        """The instance with rewards lowered to the smallest sufficient size; it has the same best clusterings.

        The objective of every clustering that splits no unit changes by the same constant. Without rewards, this is the
        instance itself.
        """
        return self if len(self.units) == self.num_mentions else CoreferenceInstance(self._rewards[0], self.name)

    @cached_property
    def units(self) -> tuple[Cluster, ...]:
        """Sets of mentions that rewards keep together in every best clustering; other mentions are units of one."""
        return tuple(as_clusters(self._rewards[1]))

    @cached_property
    def contracted(self) -> CoreferenceInstance:
        """The instance whose mentions are the units; its objective excludes pairs inside units.

        Without rewards, this is the instance itself.
        """
        if len(self.units) == self.num_mentions:
            return self
        order = np.concatenate([np.array(unit, dtype=np.intp) for unit in self.units])
        starts = np.cumsum([0, *map(len, self.units)])[:-1]
        with np.errstate(over="ignore"):  # a sum of penalties that overflows to -inf forbids the pair as well
            between = np.add.reduceat(
                np.add.reduceat(self.scores[np.ix_(order, order)], starts, axis=0), starts, axis=1
            )
        upper = np.triu(between, 1)
        return CoreferenceInstance(upper + upper.T, self.name)

    @cached_property
    def _rewards(self) -> tuple[Floats, NDArray[np.int64]]:
        return lower_rewards(self.scores)

    @property
    def _floor(self) -> Floats:
        attraction = np.maximum(self.scores, 0.0).sum(axis=1)
        alone = np.minimum(attraction[:, None], attraction) + self.scale
        return np.asarray(-np.maximum(alone, _PENALTY_RATIO * self.scale))

    @cached_property
    def step(self) -> float | None:
        """A number of which the score of every clustering without penalties is a multiple, or None if unknown.

        It is the greatest common divisor of the scores without penalties. It is unknown unless these are multiples of a
        power of two that is not much smaller than :attr:`scale`.
        """
        unit = self.scale / _MAX_MULTIPLES
        multiples = self.scores[~self.penalties] / unit
        if not (multiples == np.round(multiples)).all():
            return None
        step = float(np.gcd.reduce(np.abs(multiples).astype(np.int64), axis=None))
        return step * unit if 0.0 < float(np.abs(multiples).sum()) < _MAX_MULTIPLES * step else None

    def objective(self, answer: Iterable[Sequence[int]]) -> float:
        """Return the score of a clustering."""
        return sum(score_cluster(self.scores, members) for members in answer)

    def check(self, answer: Iterable[Sequence[int]]) -> float:
        """Return the score of a clustering after checking that it covers each mention once and has no forbidden pair.

        Raises
        ------
        ValueError
            If it is not a valid clustering.
        """
        cluster_of: dict[int, int] = {}
        answer = list(answer)
        for number, cluster in enumerate(answer):
            if not len(cluster):
                raise ValueError(f"cluster {number} is empty")
            for mention in cluster:
                if not isinstance(mention, (int, np.integer)) or not 0 <= mention < self.num_mentions:
                    raise ValueError(
                        f"cluster {number} has mention {mention}, expected numbers from 0 to {self.num_mentions - 1}"
                    )
                if mention in cluster_of:
                    raise ValueError(f"mention {mention} is in cluster {cluster_of[mention]} and in cluster {number}")
                cluster_of[mention] = number
        if len(cluster_of) < self.num_mentions:
            missing = next(i for i in range(self.num_mentions) if i not in cluster_of)
            raise ValueError(f"mention {missing} is in no cluster")
        score = self.objective(answer)
        if score == -np.inf:
            self._raise_forbidden(answer)
        return score

    def _raise_forbidden(self, answer: Iterable[Sequence[int]]) -> None:
        """Raise ValueError that names two mentions of a cluster whose pair is forbidden."""
        for number, cluster in enumerate(answer):
            members = np.asarray(cluster, dtype=np.intp)
            forbidden = np.argwhere(np.isneginf(self.scores[members[:, None], members]))
            if len(forbidden):
                i, j = members[forbidden[0]].tolist()
                raise ValueError(f"cluster {number} has mentions {i} and {j}, which are forbidden to be together")

    def restricted_to(self, mentions: Sequence[int]) -> CoreferenceInstance:
        """Return the instance of some of the mentions, renumbered in the given order."""
        chosen = np.asarray(mentions, dtype=np.intp)
        return CoreferenceInstance(
            self.scores[np.ix_(chosen, chosen)], self.name, tuple(self.labels[i] for i in mentions)
        )


def score_cluster(scores: Floats, cluster: Sequence[int] | NDArray[np.int64]) -> float:
    """Return the sum of the scores of the pairs in a cluster."""
    if len(cluster) < 2:
        return 0.0
    members = np.asarray(cluster, dtype=np.intp)
    return 0.5 * float(scores[members[:, None], members].sum())


def _valid(scores: ArrayLike, what: str) -> Floats:
    """Return a read-only copy of the scores after checking them."""
    try:
        matrix = np.array(as_numbers(scores, what))  # a copy
    except ArrayError as error:
        raise InputError(str(error)) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{what}: expected a square matrix, got shape {matrix.shape}")
    if not len(matrix):
        raise InputError(f"{what}: expected at least one mention, got none")
    np.fill_diagonal(matrix, 0.0)
    one_sided = np.isneginf(matrix) & ~np.isneginf(matrix.T)
    for bad, found in ((np.isnan(matrix), "not a number (NaN)"), (np.isposinf(matrix) | one_sided, "infinite")):
        if bad.any():
            i, j = np.argwhere(bad)[0].tolist()
            raise InputError(
                f"{what}: the score of ({i}, {j}) is {found}, expected a finite number, "
                f"or -inf for both ({i}, {j}) and ({j}, {i})"
            )
    positive = matrix[matrix > 0.0]
    with np.errstate(over="ignore"):
        too_large = not positive.sum() <= np.finfo(np.float64).max / 4.0
    if too_large:
        raise InputError(f"{what}: expected positive scores whose sum does not overflow a float")
    unequal = matrix != matrix.T
    if unequal.any():
        # Small scores may differ by the rounding error of the largest.
        size = np.maximum(
            np.maximum(np.abs(matrix), np.abs(matrix.T)), power_of_two(positive if len(positive) else matrix)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            unequal &= ~(np.abs(matrix - matrix.T) <= _MAX_ASYMMETRY * size)
        if unequal.any():
            i, j = np.argwhere(unequal)[0].tolist()
            raise InputError(
                f"{what}: expected a symmetric matrix, but the score of ({i}, {j}) is {matrix[i, j]:.17g} "
                f"and that of ({j}, {i}) is {matrix[j, i]:.17g}"
            )
        matrix = 0.5 * matrix + 0.5 * matrix.T
    matrix.setflags(write=False)
    return matrix


def lower_rewards(scores: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Lower the largest scores to the smallest sufficient size; return the scores, and the unit number of each mention.

    Let R be the pairs whose scores exceed all smaller scores together by a large factor, and U a connected component of
    R. A clustering that splits a pair of R in U improves if U becomes a cluster of its own. It gains at least that
    pair's score, and loses at most the positive scores between U and other mentions plus the negative ones inside U. If
    the scores of R exceed this loss, every best clustering joins all pairs of R in U. Lowering them to twice the loss
    changes all best clusterings by the same amount and makes no other one best, so U is a unit. If a component contains
    a forbidden pair or negative scores of the same size, only mentions connected by larger scores may form a unit.
    """
    unit, lowered = np.arange(len(scores)), scores.copy()
    for level, scale in _levels(scores):
        rewards = scores >= level
        number, component = connected_components(sparse.csr_array(rewards), directed=False)
        for c in np.flatnonzero(np.bincount(component, minlength=number) > 1):
            inside = component == c
            if (unit[inside] == unit[inside][0]).all():
                continue
            within = np.ix_(inside, inside)
            lost = np.maximum(scores[np.ix_(inside, ~inside)], 0.0).sum() - 0.5 * np.minimum(scores[within], 0.0).sum()
            enough = max(2.0 * float(lost), scale)
            if enough < level:
                lowered[within] = np.where(rewards[within], enough, scores[within])
                unit[inside] = unit[inside][0]
    return lowered, unit


def _levels(scores: Floats) -> list[tuple[float, float]]:
    """Return the sizes from which scores may be rewards, ascending, each with the scale of smaller scores.

    Both positive scores only and all scores are considered.
    """
    upper = scores[np.triu_indices(len(scores), 1)]
    positive, other = upper[upper > 0.0], np.abs(upper[(upper != 0.0) & np.isfinite(upper)])
    levels: dict[float, float] = {}
    for sizes in (positive, other):
        if not len(positive) or positive.max() <= _REWARD_RATIO * sizes.min():
            continue
        values = np.sort(sizes)
        with np.errstate(over="ignore"):
            large = np.flatnonzero(values[1:] > _REWARD_RATIO * np.cumsum(values[:-1]))
        for k in large.tolist():
            levels[float(values[1 + k])] = power_of_two(values[: 1 + k])
    return sorted(levels.items())


# --- files and graphs ------------------------------------------------------------------------------------------------


_MATRIX = "a matrix written by numpy.save or numpy.savez"


def read_matrix(path: Path | str) -> CoreferenceInstance:
    """Read a score matrix from ``.npy``, or from ``.npz`` with one array or an array named ``scores``.

    Raises
    ------
    InputError
        If the file has other contents; the message names it.
    """
    path = Path(path)
    arrays = read_arrays(path, expected=_MATRIX) if is_archive(path) else {"scores": read_array(path, _MATRIX)}
    wanted = "scores" if "scores" in arrays or len(arrays) != 1 else next(iter(arrays))
    if wanted not in arrays:
        raise InputError(f"{path}: expected one array or an array named 'scores', found {', '.join(arrays) or 'none'}")
    try:
        return CoreferenceInstance(arrays[wanted], path.stem)
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix(f'{path.stem}: ')}") from None


def write_matrix(instance: CoreferenceInstance, path: Path | str) -> None:
    """Write the score matrix as ``.npy`` or ``.npz``, depending on the suffix of ``path``."""
    path = Path(path)
    if path.suffix not in (".npz", ".npy"):
        raise InputError(f"{path}: expected a file name that ends in .npy or .npz")
    with writing(path, "wb") as file:
        if path.suffix == ".npz":
            np.savez_compressed(file, scores=instance.scores)
        else:
            np.save(file, instance.scores)


def from_graph(graph: nx.Graph, *, score: str = "weight", absent: float = 0.0, name: str = "") -> CoreferenceInstance:
    """Return the instance of a networkx graph with edge scores; its labels are the nodes.

    Parameters
    ----------
    score
        Edge attribute with the score; edges without it have score 1, as in networkx.
    absent
        Score of pairs without an edge: 0 for correlation clustering on a sparse graph, -1 for cluster editing.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise InputError("expected an undirected graph with at most one edge between two nodes")
    nodes = list(graph)
    position = {node: i for i, node in enumerate(nodes)}
    scores = np.full((len(nodes), len(nodes)), float(absent))
    for first, second, value in graph.edges(data=score, default=1.0):
        i, j = position[first], position[second]
        try:
            scores[i, j] = scores[j, i] = float(value)
        except (TypeError, ValueError):
            raise InputError(f"edge ({first!r}, {second!r}): expected a number as {score}, not {value!r}") from None
    return CoreferenceInstance(scores, name or graph.name, tuple(nodes))


def modularity(
    graph: nx.Graph, *, weight: str | None = "weight", resolution: float = 1.0, name: str = ""
) -> CoreferenceInstance:
    """Return modularity clustering as an instance; the modularity is the objective plus ``constant``.

    The score of nodes i and j is (A_ij - γ k_i k_j / 2m) / m. This is twice the contribution of an ordered pair,
    because each pair counts once here. The constant Σ_i (A_ii - γ k_i² / 2m) / 2m is the contribution of the diagonal,
    which is the same for all clusterings.

    Parameters
    ----------
    weight
        Edge attribute with the weight; None for weights of 1.
    resolution
        γ; larger values give smaller communities.

    References
    ----------
    M. E. J. Newman, *Modularity and community structure in networks*, PNAS 103 (2006).
    """
    if graph.is_directed() or not graph.size(weight=weight) > 0:
        raise InputError("modularity needs an undirected graph of positive total weight")
    adjacency = nx.to_numpy_array(graph, weight=weight)
    degree = adjacency.sum(axis=1) + np.diag(adjacency)  # a loop counts twice
    total = 0.5 * float(degree.sum())
    scores = (adjacency - resolution * np.outer(degree, degree) / (2.0 * total)) / total
    # networkx counts a loop once in its matrix; the modularity counts both ends.
    alone = 0.5 * float(scores.diagonal().sum() + adjacency.diagonal().sum() / total)
    return CoreferenceInstance(scores, name or graph.name, tuple(graph), constant=alone)


# --- generators ------------------------------------------------------------------------------------------------------


def random_signs(num_mentions: int, seed: int) -> CoreferenceInstance:
    """Return an instance with independent scores, +1 or -1 with probability 1/2 each."""
    rng = np.random.default_rng([11, seed])
    upper = np.triu(rng.choice([-1.0, 1.0], size=(num_mentions, num_mentions)), 1)
    return CoreferenceInstance(upper + upper.T, f"signs-{num_mentions}-{seed}")


def communities(
    num_mentions: int, seed: int, *, num_communities: int = 5, noise: float = 0.1, spread: float = 0.0
) -> CoreferenceInstance:
    """Return an instance of communities of equal size: scores are +1 within and -1 between them, with random errors.

    Parameters
    ----------
    noise
        Probability that the sign of a score is flipped.
    spread
        Standard deviation of normal noise added to each score.
    """
    rng = np.random.default_rng([12, seed])
    member = rng.permutation(np.arange(num_mentions) % num_communities)
    signs = np.where(member[:, None] == member[None, :], 1.0, -1.0)
    signs *= np.where(rng.random((num_mentions, num_mentions)) < noise, -1.0, 1.0)
    upper = np.triu(signs + spread * rng.standard_normal((num_mentions, num_mentions)), 1)
    return CoreferenceInstance(upper + upper.T, f"communities-{num_mentions}-{seed}")


def random(num_mentions: int, seed: int, *, positive: float = 0.3) -> CoreferenceInstance:
    """Return an instance with uniform scores in [-1, 1], like those of a pairwise classifier.

    Parameters
    ----------
    positive
        Probability that a score is positive.
    """
    rng = np.random.default_rng([13, seed])
    shape = (num_mentions, num_mentions)
    values = np.where(rng.random(shape) < positive, rng.random(shape), -rng.random(shape))
    upper = np.triu(values, 1)
    return CoreferenceInstance(upper + upper.T, f"random-{num_mentions}-{seed}")
