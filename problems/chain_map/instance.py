"""Instances: chains and trees with scores of labels and of pairs of neighbouring labels."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.array_files import reading
from colgen.core.errors import InputError
from colgen.core.files import writing
from colgen.core.lazy_imports import LazyModule
from colgen.core.tolerances import ROUNDING
from colgen.problems.chain_map.kernels.tree_labels import score_labels
from colgen.problems.chain_map.pairwise import Pairwise, Scores, as_scores, check_scores
from colgen.solvers.arrays import ArrayError, as_floats, as_indices, as_integers
from colgen.solvers.chains.forest import NONE, Forest, chains, check_forest, from_parents, one_chain
from colgen.solvers.chains.magnitudes import low_step
from colgen.solvers.scaling import power_of_two

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = LazyModule("networkx")

Ints = NDArray[np.int32]

_SAMPLE = 16
"""Number of nodes, and of rows of pairs, that are sampled to estimate typical differences."""


@dataclass(frozen=True, eq=False)
class ChainInstance:
    """One or several chains or trees to be labelled, with their scores.

        max  Σ_i θ_i(x_i) + Σ_{i, p = parent(i)} τ_i(x_i, x_p)

    Most users call :meth:`from_chain`, :meth:`from_chains` or :meth:`from_tree`.

    Attributes
    ----------
    forest
        The graph. A chain is a tree whose root is its last token.
    scores
        θ, shape (nodes, labels), float32 or float64; -inf forbids a label.
    pairwise
        τ, of the same type. If the types differ, both become float32 if that is exact, otherwise float64.
    labels
        Names of the labels; empty if they are numbers.
    nodes
        Names of the nodes (words, nodes of a graph) in the order of the rows of ``scores``.
    size
        Largest absolute value of the finite entries of ``scores``.

    Raises
    ------
    InputError
        If shapes do not match, the forest is invalid, or a score is NaN, +inf, or so large that sums could overflow.
    """

    forest: Forest
    scores: Scores
    pairwise: Pairwise
    labels: tuple[Hashable, ...] = ()
    nodes: tuple[Hashable, ...] = field(default=(), repr=False)

    size: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "forest", check_forest(self.forest, len(self.pairwise.tables)))
        except ArrayError as error:
            raise InputError(str(error)) from None
        self._check_scores()

    def _check_scores(self) -> None:
        object.__setattr__(self, "scores", as_scores(self.scores, "scores of labels"))
        num = self.forest.num_nodes
        if self.scores.ndim != 2 or len(self.scores) != num or not num:
            raise InputError(f"expected scores of shape ({num}, labels), got the shape {self.scores.shape}")
        if self.scores.shape[1] != self.pairwise.num_labels:
            raise InputError(
                f"expected as many labels in the scores of nodes as in those of pairs, got {self.scores.shape[1]} "
                f"and {self.pairwise.num_labels}"
            )
        longest = num if self.num_trees == 1 else int(np.diff(self.forest.starts).max())
        object.__setattr__(self, "size", check_scores(self.scores, "scores of labels", longest))
        if self.labels and len(self.labels) != self.num_labels:
            raise InputError(f"expected {self.num_labels} names of labels, got {len(self.labels)}")
        if self.nodes and len(self.nodes) != num:
            raise InputError(f"expected {num} names of nodes, got {len(self.nodes)}")
        # No score is rounded: both arrays get the higher precision unless float32 holds the pairs exactly.
        if self.scores.dtype == np.float64:
            object.__setattr__(self, "pairwise", self.pairwise.double)
        elif self.pairwise.single is not None:
            object.__setattr__(self, "pairwise", self.pairwise.single)
        else:
            object.__setattr__(self, "scores", self.scores.astype(np.float64))
        self.pairwise.check_sums(longest)

    # --- constructors ------------------------------------------------------------------------------------------------

    @classmethod
    def from_chain(
        cls,
        scores: ArrayLike,
        transitions: ArrayLike | Pairwise,
        *,
        labels: Sequence[Hashable] = (),
        nodes: Sequence[Hashable] = (),
    ) -> ChainInstance:
        """Return the instance of one chain.

        Parameters
        ----------
        scores
            θ, shape (tokens, labels).
        transitions
            τ, shape (labels, labels); rows are the earlier labels. Shape (tokens - 1, labels, labels) if transitions
            differ by step. A :class:`Pairwise` shares its bounds between instances.
        """
        stepwise = not isinstance(transitions, Pairwise) and np.ndim(transitions) == 3
        steps: Any = [transitions] if stepwise else transitions
        return cls.from_chains([scores], steps, labels=labels, nodes=nodes)

    @classmethod
    def from_chains(
        cls,
        scores: Sequence[ArrayLike],
        transitions: ArrayLike | Pairwise | Sequence[ArrayLike],
        *,
        labels: Sequence[Hashable] = (),
        nodes: Sequence[Hashable] = (),
    ) -> ChainInstance:
        """Return the instance of several chains.

        Parameters
        ----------
        scores
            θ, one array of shape (tokens, labels) per chain.
        transitions
            As in :meth:`from_chain`; if they differ by step, a list with one array per chain.
        nodes
            Names of all tokens, chain by chain.
        """
        parts = [as_scores(part) for part in scores]
        if not parts:
            raise InputError("expected scores of at least one chain, got none")
        for part in parts:
            if part.ndim != 2 or not part.size or part.shape[1] != parts[0].shape[1]:
                raise InputError(
                    "expected scores of shape (tokens, labels) for each chain, with at least one token and the same "
                    f"labels everywhere, got the shape {part.shape}"
                )
        forest = one_chain(len(parts[0])) if len(parts) == 1 else chains(np.array([len(part) for part in parts]))
        if isinstance(transitions, Pairwise):
            pairwise = transitions
        elif isinstance(transitions, Sequence) and np.ndim(transitions[0]) == 3:
            pairwise = Pairwise(_steps(parts, transitions))
            forest = forest._replace(table=np.arange(forest.num_nodes, dtype=np.int32))
        else:
            pairwise = Pairwise(transitions)  # type: ignore[arg-type]
        together = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if forest.table.any():
            return cls(forest, together, pairwise, tuple(labels), tuple(nodes))
        return cls._from_valid(forest, together, pairwise, tuple(labels), tuple(nodes))

    @classmethod
    def from_lengths(
        cls,
        lengths: NDArray[np.int64],
        scores: Scores,
        pairwise: Pairwise,
        labels: tuple[Hashable, ...] = (),
        nodes: tuple[Hashable, ...] = (),
    ) -> ChainInstance:
        """Return chains of these lengths whose scores are concatenated in one array."""
        forest = one_chain(int(lengths[0])) if len(lengths) == 1 else chains(lengths)
        return cls._from_valid(forest, scores, pairwise, labels, nodes)

    @classmethod
    def _from_valid(
        cls,
        forest: Forest,
        scores: Scores,
        pairwise: Pairwise,
        labels: tuple[Hashable, ...],
        nodes: tuple[Hashable, ...],
    ) -> ChainInstance:
        """Return chains that use table 0, without the check of the forest: it takes longer than a short sentence."""
        instance = object.__new__(cls)
        given = {"forest": forest, "scores": scores, "pairwise": pairwise, "labels": labels, "nodes": nodes}
        for name, value in given.items():
            object.__setattr__(instance, name, value)
        instance._check_scores()
        return instance

    @classmethod
    def from_tree(
        cls,
        graph: nx.Graph[Any],
        scores: Mapping[Any, ArrayLike] | str = "scores",
        transitions: ArrayLike | str = "transitions",
        *,
        labels: Sequence[Hashable] = (),
    ) -> ChainInstance:
        """Return the instance of a tree or forest.

        Parameters
        ----------
        graph
            Undirected or directed, without loops and without cycles of any kind.
        scores
            θ of each node, or the name of the node attribute that holds it. Nodes may have fewer labels than others:
            the missing ones are forbidden.
        transitions
            τ of each edge (u, v); rows are labels of u. Either the name of the edge attribute with the array, or one
            array for all edges. In an undirected graph, u is the first end in ``graph.edges``, so one array for all
            edges should be symmetric.
        """
        if not len(graph) or not nx.is_forest(graph.to_undirected(as_view=True)):
            raise InputError("expected a graph without cycles and with at least one node")
        given = {node: data.get(scores) for node, data in graph.nodes(data=True)} if isinstance(scores, str) else scores
        missing = [node for node in graph if given.get(node) is None]
        if missing:
            raise InputError(f"expected scores for each node, found none for {missing[0]!r}")
        theta = {node: as_scores(given[node]) for node in graph}
        for node, row in theta.items():
            if row.ndim != 1 or not row.size:
                raise InputError(f"expected one row of scores for node {node!r}, got the shape {row.shape}")
        num = max(map(len, theta.values()))
        order, parent, starts = _post_order(graph)
        place = {node: k for k, node in enumerate(order)}
        shared = None if isinstance(transitions, str) else as_scores(transitions)
        tables: dict[tuple[int, bool], int] = {}
        arrays: list[Scores] = []
        table = np.zeros(len(order), dtype=np.int32)
        for u, v, data in graph.edges(data=True):
            tau = shared if shared is not None else data.get(transitions)
            if tau is None:
                raise InputError(f"expected scores of pairs for each edge, found none for {u!r} - {v!r}")
            upwards = parent[place[u]] == place[v]
            key = (id(tau), upwards)
            if key not in tables:
                pairs = as_scores(tau)
                if pairs.ndim != 2 or (shared is None and pairs.shape != (len(theta[u]), len(theta[v]))):
                    raise InputError(
                        f"expected scores of pairs of shape ({len(theta[u])}, {len(theta[v])}) for the edge {u!r} - "
                        f"{v!r}, got {pairs.shape}"
                    )
                tables[key] = len(arrays)
                arrays.append(_widen(pairs if upwards else pairs.T, num, num))
            table[place[u] if upwards else place[v]] = tables[key]
        together = np.stack([_widen(theta[node][np.newaxis], 1, num)[0] for node in order])
        forest = from_parents(starts, parent, table)
        pairwise = Pairwise(np.stack(arrays or [np.zeros((num, num), dtype=together.dtype)]))
        return cls(forest, together, pairwise, tuple(labels), tuple(order))

    # --- properties --------------------------------------------------------------------------------------------------

    @property
    def num_labels(self) -> int:
        return int(self.scores.shape[1])

    @property
    def num_trees(self) -> int:
        return len(self.forest.starts) - 1

    @cached_property
    def scale(self) -> float:
        """Scale of score differences, a power of two near the lowest decile of the losses of labels in a sample.

        The loss of a label is the best score of its row minus its own. If all sampled scores are equal, the losses of
        all labels are used.
        """
        scores, pairwise = self.scores, self.pairwise
        rows = np.ascontiguousarray(scores[:: max(1, len(scores) // _SAMPLE)])
        step = low_step(rows, pairwise.tables[0, :_SAMPLE])
        # Pairs may differ by their second label, by their first, or by both.
        step = step or low_step(scores, pairwise.rows, pairwise.transposed_rows)
        return power_of_two(step or max(self.size, pairwise.size))  # all scores are equal, so no labels differ

    @cached_property
    def rounding(self) -> float:
        """Bound on the rounding error of a tree's score, even if the scores in the sum cancel out."""
        return ROUNDING * max(self.size, self.pairwise.size) * float(np.diff(self.forest.starts).max())

    @cached_property
    def is_chains(self) -> bool:
        """Whether every tree is a chain with its tokens in order."""
        return bool((chains(np.diff(self.forest.starts)).parent == self.forest.parent).all())

    def table_of(self, node: int) -> Scores:
        """Return τ of the edge from a node to its parent."""
        table: Scores = self.pairwise.tables[int(self.forest.table[node])]
        return table

    def objective(self, labels: ArrayLike) -> float:
        """Return the score of a labelling of all nodes, summed in double precision."""
        return math.fsum(self.values(labels).tolist())

    def values(self, labels: ArrayLike) -> NDArray[np.float64]:
        """Return the score of each tree under a labelling of all nodes.

        Raises
        ------
        InputError
            If there is not one label per node, or a label is out of range.
        """
        chosen = np.asarray(labels)
        num = self.forest.num_nodes
        if chosen.shape != (num,) or not np.issubdtype(chosen.dtype, np.integer):
            raise InputError(f"expected {num} labels, as numbers, got an array of shape {chosen.shape}")
        if chosen.min() < 0 or chosen.max() >= self.num_labels:
            raise InputError(f"expected labels from 0 to {self.num_labels - 1}, got {chosen.min()} to {chosen.max()}")
        values = np.empty(self.num_trees)
        score_labels(self.forest, self.scores, self.pairwise.rows, chosen.astype(np.int32), values)
        return values

    def check(self, labels: ArrayLike) -> float:
        """Return the score of a labelling after checking that it uses no forbidden label or pair.

        Raises
        ------
        InputError
            If it uses one.
        """
        objective = self.objective(labels)
        if objective == -math.inf:
            raise InputError("the labelling has a label or a pair of labels whose score is -inf")
        return objective

    def name(self, label: int) -> Hashable:
        """Return the name of a label."""
        return self.labels[label] if self.labels else label

    def write(self, path: str | Path) -> None:
        """Write an ``.npz`` file for :func:`read`."""
        with writing(path, "wb") as file:
            np.savez_compressed(
                file,
                kind="colgen chain_map instance 1",
                starts=self.forest.starts,
                parent=self.forest.parent,
                table=self.forest.table,
                scores=self.scores,
                tables=self.pairwise.tables,
                labels=np.array([str(label) for label in self.labels]),
                nodes=np.array([str(node) for node in self.nodes]),
            )


def read(path: str | Path) -> ChainInstance:
    """Read an instance from an ``.npz`` file.

    The file has the arrays that :meth:`ChainInstance.write` writes, or ``scores`` of shape (tokens, labels),
    ``transitions`` of shape (labels, labels) and, for several chains, their ``lengths``. Runs have no checkpoints.

    Raises
    ------
    InputError
        If arrays are missing or do not match.
    """
    with reading(path, "an instance of chain_map") as arrays:
        instance = _trees(arrays) if set(arrays) >= _TREES else _chains(arrays)
    return instance


_TREES = {"starts", "parent", "table", "scores", "tables"}


def _chains(arrays: Mapping[str, NDArray[Any]]) -> ChainInstance:
    if not {"scores", "transitions"} <= set(arrays):
        raise InputError(f"expected the arrays scores and transitions, found {', '.join(arrays) or 'none'}")
    scores = _local(arrays)
    lengths = as_integers(arrays.get("lengths", [len(scores)]), "lengths", shape=("chains",), low=1, high=2**31)
    if lengths.sum() != len(scores):
        raise InputError(f"expected lengths of at least 1 that sum to {len(scores)}, the number of rows of scores")
    return ChainInstance(chains(lengths), scores, Pairwise(_pairs(arrays["transitions"], "transitions")))


def _trees(arrays: Mapping[str, NDArray[Any]]) -> ChainInstance:
    """Return the instance that :meth:`ChainInstance.write` has written."""
    scores, tables = _local(arrays), _pairs(arrays["tables"], "tables")
    forest = from_parents(arrays["starts"], arrays["parent"], arrays["table"])
    as_indices(forest.table, "table", upper=len(tables) if tables.ndim == 3 else 1)
    names = (tuple(map(str, arrays[name].ravel().tolist())) if name in arrays else () for name in ("labels", "nodes"))
    return ChainInstance(forest, scores, Pairwise(tables), *names)


def _local(arrays: Mapping[str, NDArray[Any]]) -> Scores:
    shape = ("tokens", "labels")
    return as_floats(arrays["scores"], "scores", shape=shape, minus_infinity=True, dtype=None)


def _pairs(array: NDArray[Any], name: str) -> Scores:
    shape = ("labels", "labels") if array.ndim < 3 else ("tables", "labels", "labels")
    return as_floats(array, name, shape=shape, minus_infinity=True, dtype=None)


def random(
    seed: int,
    *,
    chains: int = 1,
    length: int = 12,
    labels: int = 49,
    evidence: float = 4.0,
    dtype: Any = np.float64,
) -> ChainInstance:
    """Return random chains.

    Parameters
    ----------
    length
        Mean number of tokens per chain; lengths differ by up to a half.
    evidence
        Strength of local scores relative to transitions: 0 for no evidence, 4 for chains like those of a tagger.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(max(1, length // 2), length + length // 2 + 1, size=chains)
    scores = [(evidence * rng.standard_normal((n, labels))).astype(dtype) for n in lengths.tolist()]
    return ChainInstance.from_chains(scores, rng.standard_normal((labels, labels)).astype(dtype))


# --- helpers ----------------------------------------------------------------------------------------------------------


def _steps(parts: Sequence[Scores], stepwise: Sequence[ArrayLike]) -> Scores:
    """Return one table per token from one table per step of each chain; zeros for last tokens."""
    num = parts[0].shape[1]
    if len(stepwise) != len(parts):
        raise InputError(f"expected transitions for each of {len(parts)} chains, got {len(stepwise)}")
    tables = []
    for part, steps in zip(parts, map(as_scores, stepwise), strict=True):
        if steps.shape != (len(part) - 1, num, num):
            raise InputError(
                f"expected transitions of shape ({len(part) - 1}, {num}, {num}) for a chain of {len(part)} tokens, got "
                f"{steps.shape}"
            )
        tables += [steps, np.zeros((1, num, num), dtype=steps.dtype)]
    return np.concatenate(tables)


def _widen(array: Scores, rows: int, columns: int) -> Scores:
    """Return the array enlarged and padded by -inf."""
    out = np.full((rows, columns), -np.inf, dtype=array.dtype)
    out[: len(array), : array.shape[1]] = array
    return out


def _post_order(graph: nx.Graph[Any]) -> tuple[list[Any], Ints, NDArray[np.int64]]:
    """Return the nodes in post-order, tree by tree; their parents; and where trees begin."""
    undirected = graph.to_undirected(as_view=True)
    order: list[Any] = []
    above: dict[Any, Any] = {}
    starts = [0]
    for component in nx.connected_components(undirected):
        root = next(node for node in graph if node in component)
        above[root] = None
        for p, c in nx.dfs_edges(undirected, root):
            above[c] = p
        order += nx.dfs_postorder_nodes(undirected, root)
        starts.append(len(order))
    place = {node: k for k, node in enumerate(order)}
    parent = np.array([NONE if above[node] is None else place[above[node]] for node in order], dtype=np.int32)
    return order, parent, np.array(starts, dtype=np.int64)
