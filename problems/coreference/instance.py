"""Instances of coreference clustering: a symmetric score matrix that validates itself, files, generators."""

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


_ASYMMETRY = 2.0**-20
"""The two scores of a pair differ by no more than this share of their size where they were computed in float32."""

_PENALTY = 64.0
"""A score that no best clustering uses is left as it is while it is not so many times the scale."""

_REWARD = 2.0**10
"""Scores that are so many times as large as all smaller ones together are no scale of those."""

_STEPS = 2.0**31
"""More multiples of a step than this in the sum of all scores, and floats may not tell two apart."""


@dataclass(frozen=True, eq=False)
class CoreferenceInstance:
    """Mentions (or any other items) and a score for each pair of them: positive if the two belong together.

    The score of a clustering is the sum of the scores of all pairs that are in one cluster, *each pair counted once*.
    (A sum over ordered pairs counts it twice, which doubles every objective and changes no answer.)  Pairs in different
    clusters count nothing; where separating a pair has a score of its own, subtract it from the score of joining it.

    Objectives are those of this matrix.  Where a score is so high that every best clustering uses it, 10¹² beside
    scores of one, plain clustering is solved on :attr:`contracted`, so that it is not the scale of everything.

    Parameters
    ----------
    scores
        Symmetric matrix of shape (n, n), n ≥ 1, off the diagonal finite or -inf, which forbids a pair.  What rounding
        has left between s_ij and s_ji is taken out by their mean.  The diagonal counts for nothing: it is set to zero,
        whatever it holds.
    name
        What the instance is called.
    labels
        What each item is called: a graph's nodes, or the mentions' texts; by default numbers.
    document
        The text that the mentions are in, if there is one.
    constant
        What every clustering has in addition to its score, in the units of whoever made the instance (such as the
        share of single nodes in the modularity); objectives are without it.

    Raises
    ------
    InputError
        If the data is none of this.
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
            raise InputError(f"expected a label for each of {self.num_mentions} mentions, not {len(self.labels)}")

    @property
    def num_mentions(self) -> int:
        return len(self.scores)

    @cached_property
    def scale(self) -> float:
        """The power of two next below the largest score of two that belong together: what is small is so beside it."""
        positive = self.scores[self.scores > 0.0]
        return power_of_two(positive if len(positive) else self.scores)

    @cached_property
    def penalties(self) -> NDArray[np.bool_]:
        """Pairs that no best clustering has together, by their scores alone: they are forbidden, or as good as that.

        With A_i the sum of the positive scores of i, a score below -A_i is worse than leaving i alone.
        """
        return np.asarray(self.scores < self._floor)

    @cached_property
    def clipped(self) -> Floats:
        """The scores with those of penalties as bad as it takes, and no worse: all of them are of a size, and finite.

        Every best clustering stays one, and so does every optimum of the relaxation.
        """
        clipped = np.maximum(self.scores, self._floor) if self.penalties.any() else self.scores
        clipped.setflags(write=False)
        return clipped

    @cached_property
    def lowered(self) -> CoreferenceInstance:
        """The instance with rewards as high as it takes and no higher: it has the same best clusterings.

        Objectives differ, by the same amount for all clusterings that part none of the units.  This instance itself
        where there is no reward.
        """
        return self if len(self.units) == self.num_mentions else CoreferenceInstance(self._rewards[0], self.name)

    @cached_property
    def units(self) -> tuple[Cluster, ...]:
        """Mentions that a reward keeps in one cluster, in every best clustering; each of the others by itself."""
        return tuple(as_clusters(self._rewards[1]))

    @cached_property
    def contracted(self) -> CoreferenceInstance:
        """The instance whose mentions are the units; objectives are without what pairs inside of units score.

        This instance itself where there is no reward.
        """
        if len(self.units) == self.num_mentions:
            return self
        order = np.concatenate([np.array(unit, dtype=np.intp) for unit in self.units])
        starts = np.cumsum([0, *map(len, self.units)])[:-1]
        with np.errstate(over="ignore"):  # a sum of penalties that no float can hold forbids as well
            between = np.add.reduceat(
                np.add.reduceat(self.scores[np.ix_(order, order)], starts, axis=0), starts, axis=1
            )
        upper = np.triu(between, 1)
        return CoreferenceInstance(upper + upper.T, self.name)

    @cached_property
    def _rewards(self) -> tuple[Floats, NDArray[np.int64]]:
        return without_excess(self.scores)

    @property
    def _floor(self) -> Floats:
        attraction = np.maximum(self.scores, 0.0).sum(axis=1)
        alone = np.minimum(attraction[:, None], attraction) + self.scale
        return np.asarray(-np.maximum(alone, _PENALTY * self.scale))

    @cached_property
    def step(self) -> float | None:
        """Of which every clustering's score is a multiple, if that is known.

        The common divisor of the scores, penalties aside, if they are multiples of a power of two not much smaller.
        """
        unit = self.scale / _STEPS
        multiples = self.scores[~self.penalties] / unit
        if not (multiples == np.round(multiples)).all():
            return None
        step = float(np.gcd.reduce(np.abs(multiples).astype(np.int64), axis=None))
        return step * unit if 0.0 < float(np.abs(multiples).sum()) < _STEPS * step else None

    def objective(self, answer: Iterable[Sequence[int]]) -> float:
        """Score of a clustering."""
        return sum(self._score(members) for members in answer)

    def _score(self, cluster: Sequence[int]) -> float:
        if len(cluster) < 2:
            return 0.0
        members = np.asarray(cluster, dtype=np.intp)
        return 0.5 * float(self.scores[members[:, None], members].sum())

    def check(self, answer: Iterable[Sequence[int]]) -> float:
        """Score of a clustering, after checking that every mention is in exactly one cluster, and no pair is forbidden.

        Raises
        ------
        ValueError
            If it is not a clustering; the message says why.
        """
        cluster_of: dict[int, int] = {}
        answer = list(answer)
        for number, cluster in enumerate(answer):
            if not len(cluster):
                raise ValueError(f"cluster {number} is empty")
            for mention in cluster:
                if not isinstance(mention, (int, np.integer)) or not 0 <= mention < self.num_mentions:
                    raise ValueError(f"cluster {number} has mention {mention}, there are {self.num_mentions}")
                if mention in cluster_of:
                    raise ValueError(f"mention {mention} is in cluster {cluster_of[mention]} and in cluster {number}")
                cluster_of[mention] = number
        if len(cluster_of) < self.num_mentions:
            missing = next(i for i in range(self.num_mentions) if i not in cluster_of)
            raise ValueError(f"mention {missing} is in no cluster")
        score = self.objective(answer)
        if score == -np.inf:
            self._refuse(answer)
        return score

    def _refuse(self, answer: Iterable[Sequence[int]]) -> None:
        """Say which two mentions are together that are forbidden to be."""
        for number, cluster in enumerate(answer):
            members = np.asarray(cluster, dtype=np.intp)
            forbidden = np.argwhere(np.isneginf(self.scores[members[:, None], members]))
            if len(forbidden):
                i, j = members[forbidden[0]].tolist()
                raise ValueError(f"cluster {number} has the mentions {i} and {j}, which are forbidden to be together")

    def restricted_to(self, mentions: Sequence[int]) -> CoreferenceInstance:
        """The instance of some of the mentions, renumbered in the order given."""
        chosen = np.asarray(mentions, dtype=np.intp)
        return CoreferenceInstance(
            self.scores[np.ix_(chosen, chosen)], self.name, tuple(self.labels[i] for i in mentions)
        )


def _valid(scores: ArrayLike, what: str) -> Floats:
    """The scores as an array that nobody can change, after checking them."""
    try:
        matrix = np.array(as_numbers(scores, what))  # a copy
    except ArrayError as error:
        raise InputError(str(error)) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{what}: expected a square matrix, not one of shape {matrix.shape}")
    if not len(matrix):
        raise InputError(f"{what}: expected at least one mention, there is none")
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
        raise InputError(f"{what}: expected positive scores whose sum a float can hold")
    unequal = matrix != matrix.T
    if unequal.any():
        # What is small beside the largest score may differ by as much as the rounding of that.
        size = np.maximum(
            np.maximum(np.abs(matrix), np.abs(matrix.T)), power_of_two(positive if len(positive) else matrix)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            unequal &= ~(np.abs(matrix - matrix.T) <= _ASYMMETRY * size)
        if unequal.any():
            i, j = np.argwhere(unequal)[0].tolist()
            raise InputError(
                f"{what}: expected a symmetric matrix, but the score of ({i}, {j}) is {matrix[i, j]:.17g} "
                f"and that of ({j}, {i}) is {matrix[j, i]:.17g}"
            )
        matrix = 0.5 * matrix + 0.5 * matrix.T
    matrix.setflags(write=False)
    return matrix


def without_excess(scores: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Lower the largest scores to what it takes; return the scores, and the number of each mention's unit.

    Let R be the pairs whose scores are so many times as large as all smaller scores together, and U a connected
    component of R.  A clustering that parts a pair of R in U gets better if U becomes a cluster of its own: it gains
    that pair's score at least, and it loses no more than the positive scores between U and the others and the negative
    ones inside U.  With any score above this every best clustering uses all pairs of R in U, so that lowering them to
    twice as much takes the same from all best clusterings, and makes no other one best: U is a unit.  Of a component
    that holds a forbidden pair, or negative scores of the same size, only what larger scores connect may be a unit.
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
    """Sizes from which on scores may be rewards, ascending, and the scale of smaller ones: positive ones, and all."""
    upper = scores[np.triu_indices(len(scores), 1)]
    positive, other = upper[upper > 0.0], np.abs(upper[(upper != 0.0) & np.isfinite(upper)])
    levels: dict[float, float] = {}
    for sizes in (positive, other):
        if not len(positive) or positive.max() <= _REWARD * sizes.min():
            continue
        values = np.sort(sizes)
        with np.errstate(over="ignore"):
            large = np.flatnonzero(values[1:] > _REWARD * np.cumsum(values[:-1]))
        for k in large.tolist():
            levels[float(values[1 + k])] = power_of_two(values[: 1 + k])
    return sorted(levels.items())


# --- files and graphs ------------------------------------------------------------------------------------------------


_MATRIX = "a matrix as numpy.save or numpy.savez writes it"


def read_matrix(path: Path | str) -> CoreferenceInstance:
    """Read a score matrix: ``.npy``, or ``.npz`` with one array or with an array named ``scores``.

    Raises
    ------
    InputError
        With the file's name, where it is something else.
    """
    path = Path(path)
    arrays = read_arrays(path, expected=_MATRIX) if is_archive(path) else {"scores": read_array(path, _MATRIX)}
    wanted = "scores" if "scores" in arrays or len(arrays) != 1 else next(iter(arrays))
    if wanted not in arrays:
        raise InputError(f"{path}: expected one array, or one named 'scores', not {', '.join(arrays) or 'none'}")
    try:
        return CoreferenceInstance(arrays[wanted], path.stem)
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix(f'{path.stem}: ')}") from None


def write_matrix(instance: CoreferenceInstance, path: Path | str) -> None:
    """Write the score matrix as ``.npy`` or ``.npz``, whichever ``path`` ends in."""
    path = Path(path)
    if path.suffix not in (".npz", ".npy"):
        raise InputError(f"{path}: expected a name that ends in .npy or .npz")
    with writing(path, "wb") as file:
        if path.suffix == ".npz":
            np.savez_compressed(file, scores=instance.scores)
        else:
            np.save(file, instance.scores)


def from_graph(graph: nx.Graph, *, score: str = "weight", absent: float = 0.0, name: str = "") -> CoreferenceInstance:
    """An instance from a networkx graph with edge scores; its labels are the nodes.

    Parameters
    ----------
    score
        The edge attribute that holds the score; an edge without it has score 1, as networkx has it.
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
            raise InputError(f"edge ({first!r}, {second!r}): expected a number as its {score}, not {value!r}") from None
    return CoreferenceInstance(scores, name or graph.name, tuple(nodes))


def modularity(
    graph: nx.Graph, *, weight: str | None = "weight", resolution: float = 1.0, name: str = ""
) -> CoreferenceInstance:
    """Modularity clustering as an instance: the modularity of a clustering is its objective plus ``constant``.

    The score of nodes i and j is (A_ij - γ k_i k_j / 2m) / m, twice each ordered pair's share: pairs count once here.
    The constant, Σ_i (A_ii - γ k_i² / 2m) / 2m, is what each node has with itself, in whatever community it is.

    Parameters
    ----------
    weight
        The attribute of the edges that holds their weights; None: each weighs 1.
    resolution
        γ: the larger, the smaller the communities.

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
    # networkx states a loop once in its matrix, and the modularity counts both of its ends.
    alone = 0.5 * float(scores.diagonal().sum() + adjacency.diagonal().sum() / total)
    return CoreferenceInstance(scores, name or graph.name, tuple(graph), constant=alone)


# --- generators ------------------------------------------------------------------------------------------------------


def random_signs(num_mentions: int, seed: int) -> CoreferenceInstance:
    """A dense graph whose scores are +1 or -1, each with probability one half: nothing to hold on to."""
    rng = np.random.default_rng([11, seed])
    upper = np.triu(rng.choice([-1.0, 1.0], size=(num_mentions, num_mentions)), 1)
    return CoreferenceInstance(upper + upper.T, f"signs-{num_mentions}-{seed}")


def communities(
    num_mentions: int, seed: int, *, num_communities: int = 5, noise: float = 0.1, spread: float = 0.0
) -> CoreferenceInstance:
    """A dense graph of equal communities: +1 within and -1 between them, but each sign flipped with a probability.

    Parameters
    ----------
    noise
        The probability that a pair's sign is wrong.
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
    """Scores uniform in [-1, 1], of which a share ``positive`` is positive, as a pairwise classifier gives them."""
    rng = np.random.default_rng([13, seed])
    shape = (num_mentions, num_mentions)
    values = np.where(rng.random(shape) < positive, rng.random(shape), -rng.random(shape))
    upper = np.triu(values, 1)
    return CoreferenceInstance(upper + upper.T, f"random-{num_mentions}-{seed}")
