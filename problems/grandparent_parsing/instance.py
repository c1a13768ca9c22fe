"""Instances: scores of arcs, grandparent parts and consecutive sibling parts of a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen import InputError, Result, Termination
from colgen.core.array_files import reading
from colgen.core.files import writing
from colgen.core.serialization import digest_of_object
from colgen.problems.dependency.features.factored_scores import tree_triples
from colgen.problems.dependency.sentence import Heads, check_tree, is_projective
from colgen.solvers.arrays import ArrayError, as_booleans, as_numbers
from colgen.solvers.scaling import power_of_two
from colgen.solvers.stopping import Expired, never

if TYPE_CHECKING:
    cached_bound = property  # mypy accepts a property, not a cached one, as a member of a protocol
else:
    cached_bound = cached_property

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@runtime_checkable
class PartScores(Protocol):
    """Scores of a sentence's parts, as parsers need them.

    :class:`GrandparentInstance` stores them in arrays; :class:`~colgen.problems.dependency.scorer.SentenceScorer`
    computes them from a trained model on request.  Your own class can implement the protocol too.
    """

    def __len__(self) -> int: ...

    @property
    def arcs(self) -> Floats:
        """Arc scores by head and modifier, shape (n + 1, n + 1); -inf: no arc, as in column 0 and on the diagonal."""
        ...

    def grandparents(self, triples: ArrayLike) -> Floats:
        """Return scores of (grandparent, parent, child) triples, shape (parts, 3)."""
        ...

    def siblings(self, triples: ArrayLike) -> Floats:
        """Return scores of (head, sibling, modifier) triples, shape (parts, 3).

        Both are on one side of the head with no modifier between them; the sibling is nearer to the head.  sibling =
        head: the modifier is the first on its side; modifier = head: the sibling is the last.
        """
        ...

    @property
    def parent_child_bounds(self) -> Floats:
        """Upper bounds on grandparent scores by parent and child, shape (n + 1, n + 1)."""
        ...

    @property
    def grandparent_parent_bounds(self) -> Floats:
        """Upper bounds on grandparent scores by grandparent and parent."""
        ...

    @property
    def head_modifier_bounds(self) -> Floats:
        """Upper bounds on sibling scores by head and modifier."""
        ...

    @property
    def head_sibling_bounds(self) -> Floats:
        """Upper bounds on sibling scores by head and sibling."""
        ...


@dataclass(frozen=True, eq=False)
class GrandparentInstance:
    """Scores in arrays, indexed by vertices: 0 is the root, tokens are numbered from 1.

    Parameters
    ----------
    arc_scores
        Scores by head and modifier, shape (n + 1, n + 1); -inf where there is no arc.  Column 0 and the diagonal are
        ignored.
    grandparent_scores
        Scores by grandparent, parent, child, shape (n + 1, n + 1, n + 1); -inf forbids a part.  None: all are 0.
    sibling_scores
        Scores by head, sibling, modifier, with the same shape and conventions; see :class:`PartScores`.
    single_root
        Whether exactly one token must be attached to the root.
    pair_scores
        Scores by head h and any two of its modifiers s < m, adjacent or not, on either side; other entries are ignored.
        Instances with pairs are solved by :class:`~colgen.problems.grandparent_parsing.pairs.PairParsing`.
    projective
        Whether the tree must be projective.

    Raises
    ------
    InputError
        If shapes disagree, there is no token, a score is NaN or +inf, or a pair score is -inf; or if there are pairs
        and a part is forbidden.

    Notes
    -----
    Forbidden parts are stored as penalties, so that dual values stay finite.  The penalties are so large that any tree
    without forbidden parts beats all trees with one.  So if a best tree has a forbidden part, every tree has one.
    """

    arc_scores: Floats
    grandparent_scores: Floats | None = None
    sibling_scores: Floats | None = None
    single_root: bool = False
    name: str = ""
    scored: list[int] = field(default_factory=lambda: [0, 0], repr=False)
    ruled_out: tuple[Mask | None, Mask | None] = field(default=(None, None), init=False, repr=False)
    """Which grandparent and sibling parts are forbidden; None: none."""
    pair_scores: Floats | None = field(default=None, kw_only=True)
    projective: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        arcs = np.array(_numbers(self.arc_scores, "arc_scores"))
        if arcs.ndim != 2 or arcs.shape[0] != arcs.shape[1] or len(arcs) < 2:
            raise InputError(f"expected arc scores of shape (n + 1, n + 1) with n ≥ 1 tokens, not {arcs.shape}")
        arcs[:, 0] = -np.inf
        np.fill_diagonal(arcs, -np.inf)
        if np.isnan(arcs).any() or (arcs == np.inf).any():
            raise InputError("arc_scores contain NaN or +inf: expected finite numbers, or -inf where there is no arc")
        arcs.setflags(write=False)
        object.__setattr__(self, "arc_scores", arcs)
        for name in ("grandparent_scores", "sibling_scores"):
            given = getattr(self, name)
            if given is None:
                continue
            scores = np.array(_numbers(given, name))
            if scores.shape != (len(arcs),) * 3:
                raise InputError(f"expected {name} of shape {(len(arcs),) * 3}, not {scores.shape}")
            if np.isnan(scores).any() or (scores == np.inf).any():
                raise InputError(f"{name} contain NaN or +inf: expected finite numbers, or -inf for forbidden parts")
            object.__setattr__(self, name, scores)
        self._rule_out()
        if self.pair_scores is not None:
            object.__setattr__(self, "pair_scores", self._pairs(self.pair_scores))
        for table in (self.grandparent_scores, self.sibling_scores, self.pair_scores):
            if table is not None:
                table.setflags(write=False)

    def with_pairs(self, pair_scores: ArrayLike) -> GrandparentInstance:
        """Return the instance with these pair scores."""
        self._require_finite_parts()  # the copy made by ``replace`` would see penalties, which are finite
        return replace(self, pair_scores=_numbers(pair_scores, "pair_scores"))

    def _require_finite_parts(self) -> None:
        if any(mask is not None for mask in self.ruled_out):
            raise InputError(
                "pair_scores need finite grandparent_scores and sibling_scores, but some are -inf: forbid arcs instead"
            )

    def _pairs(self, given: ArrayLike) -> Floats:
        """Return the pair scores after checking them; 0 where there is no pair."""
        self._require_finite_parts()
        scores = _numbers(given, "pair_scores")
        size = len(self.arc_scores)
        if scores.shape != (size,) * 3:
            raise InputError(f"expected pair_scores of shape {(size,) * 3}, not {scores.shape}")
        there = self.arc_scores > -np.inf
        real = there[:, :, None] & there[:, None, :] & np.triu(np.ones((size, size), dtype=np.bool_), 1)
        if not np.isfinite(scores[real]).all():
            raise InputError("pair_scores contain NaN or infinity: expected finite numbers")
        return np.where(real, scores, 0.0)

    def _rule_out(self) -> None:
        """Replace -inf by penalties."""
        tables = [self.grandparent_scores, self.sibling_scores]
        masks = [None if table is None or np.isfinite(table).all() else np.isinf(table) for table in tables]
        if all(mask is None for mask in masks):
            return
        object.__setattr__(self, "ruled_out", tuple(masks))
        # A tree has n arcs, no more grandparent parts, and a sibling part for each arc and each end of a side.
        n, spread = len(self), 0.0
        for table, most in ((self.arc_scores, n), (tables[0], n), (tables[1], 3 * n + 2)):
            if table is not None:
                spread += 2.0 * most * float(np.abs(table).max(initial=0.0, where=np.isfinite(table)))
        penalty = 4.0 * power_of_two(spread) if spread else 1.0
        for table, mask in zip(tables, masks, strict=True):
            if table is not None and mask is not None:
                table[mask] = -penalty

    def allows(self, heads: Sequence[int], *, siblings: bool = True) -> bool:
        """Return whether a tree contains no forbidden part; ``siblings``: check sibling parts too."""
        vertices = np.array([-1, *heads], dtype=np.int64)
        for kind, mask in enumerate(self.ruled_out[: 1 + siblings]):
            if mask is not None and mask[tuple(tree_triples(vertices, kind).T)].any():
                return False
        return True

    def __len__(self) -> int:
        return len(self.arc_scores) - 1

    @property
    def arcs(self) -> Floats:
        return self.arc_scores

    def grandparents(self, triples: ArrayLike) -> Floats:
        return self._triples(0, self.grandparent_scores, triples)

    def siblings(self, triples: ArrayLike) -> Floats:
        return self._triples(1, self.sibling_scores, triples)

    def _triples(self, kind: int, scores: Floats | None, triples: ArrayLike) -> Floats:
        parts = np.asarray(triples, dtype=np.int64).reshape(-1, 3)
        self.scored[kind] += len(parts)
        return np.zeros(len(parts)) if scores is None else scores[parts[:, 0], parts[:, 1], parts[:, 2]]

    @cached_bound
    def parent_child_bounds(self) -> Floats:
        return self._largest(self.grandparent_scores, 0)

    @cached_bound
    def grandparent_parent_bounds(self) -> Floats:
        return self._largest(self.grandparent_scores, 2)

    @cached_bound
    def head_modifier_bounds(self) -> Floats:
        return self._largest(self.sibling_scores, 1)

    @cached_bound
    def head_sibling_bounds(self) -> Floats:
        return self._largest(self.sibling_scores, 2)

    def _largest(self, scores: Floats | None, axis: int) -> Floats:
        return np.zeros(self.arc_scores.shape) if scores is None else scores.max(axis=axis)

    # --- trees -------------------------------------------------------------------------------------------------------

    def objective(self, heads: Sequence[int]) -> float:
        """Return the score of a tree, given the head of each token."""
        score = tree_objective(self, heads)
        return score if self.pair_scores is None else score + pair_objective(self.pair_scores, heads)

    def check(self, heads: Sequence[int]) -> float:
        """Return the score of a tree; raise :class:`InputError` if it is not an allowed tree."""
        check_tree(heads, len(self), single_root=self.single_root)
        for token, head in enumerate(heads, 1):
            if self.arc_scores[head, token] == -np.inf:
                raise InputError(f"the arc from {head} to {token} is not allowed: its score is -inf")
        if self.projective and not is_projective(heads):
            raise InputError("the tree is not projective")
        if not self.allows(heads):
            raise InputError("the tree contains a forbidden part: one whose score is -inf")
        return self.objective(heads)


def tree_objective(scores: PartScores, heads: Sequence[int], *, siblings: bool = True) -> float:
    """Return the score of a tree: arcs, grandparent parts and, if ``siblings``, sibling parts."""
    vertices = np.array([-1, *heads], dtype=np.int64)
    total = scores.arcs[vertices[1:], np.arange(1, len(vertices))].sum()
    total += scores.grandparents(tree_triples(vertices, 0)).sum()
    if siblings:
        total += scores.siblings(tree_triples(vertices, 1)).sum()
    return float(total)


def pairs_of(scores: Floats, heads: Sequence[int]) -> Ints:
    """Return the modifier pairs of a tree with a score other than 0, shape (pairs, 3)."""
    vertices = np.array([-1, *heads], dtype=np.int64)
    s, m = np.nonzero(np.triu(vertices[:, None] == vertices, 1))
    found = np.stack([vertices[s], s, m], axis=1)
    scored: Ints = found[scores[tuple(found.T)] != 0.0]
    return scored


def pair_objective(scores: Floats, heads: Sequence[int]) -> float:
    """Return the total pair score of a tree."""
    return float(scores[tuple(pairs_of(scores, heads).T)].sum())


def has_siblings(scores: PartScores) -> bool:
    """Return whether consecutive siblings are scored."""
    if isinstance(scores, GrandparentInstance):
        return scores.sibling_scores is not None
    return "siblings" in getattr(getattr(scores, "weights", None), "parts", ("siblings",))


def wants_projective(scores: object) -> bool:
    """Return whether the scores require a projective tree."""
    return bool(getattr(scores, "projective", False))


def refuse_projective(scores: object, name: str) -> None:
    """Raise if an instance requires projective trees, which the caller ``name`` does not support."""
    if wants_projective(scores):
        raise InputError(f"{name} does not support projective trees: use AutomataParsing or parse")


def refuse_pairs(scores: object, name: str) -> None:
    """Raise if an instance has pair scores, which the caller ``name`` would ignore."""
    if isinstance(scores, GrandparentInstance) and scores.pair_scores is not None:
        raise InputError(f"{name} does not support pair_scores: use PairParsing or parse")


def drop_forbidden_answer(scores: PartScores, result: Result[Heads], *, siblings: bool = True) -> Result[Heads]:
    """Return the result of a run, without its answer if that contains a forbidden part.

    An optimal tree with a forbidden part proves that no allowed tree exists.
    """
    if (
        not isinstance(scores, GrandparentInstance)
        or result.answer is None
        or scores.allows(result.answer, siblings=siblings)
    ):
        return result
    without = replace(result, objective=-math.inf, solution=None, answer=cast(Heads, None))
    if not result.is_optimal:
        return without
    return replace(without, termination=Termination.INFEASIBLE, dual_bound=-math.inf)


def drop_forbidden_trees(scores: PartScores, result: Result[Any]) -> Result[Any]:
    """Return the result of a run for several trees, without those that contain a forbidden part."""
    if not isinstance(scores, GrandparentInstance) or result.answer is None:
        return result
    kept = [heads for heads in result.answer if scores.allows(heads)]
    if len(kept) == len(result.answer):
        return result
    if not kept:
        return drop_forbidden_answer(scores, replace(result, answer=result.answer[0]))
    last = tree_objective(scores, kept[-1])
    return replace(result, answer=kept, objective=last, dual_bound=last if result.is_optimal else result.dual_bound)


def as_heads(vertices: Ints) -> Heads:
    """Return the heads of the tokens from the heads of all vertices."""
    return tuple(vertices[1:].tolist())


# --- making instances ------------------------------------------------------------------------------------------------


def random(
    tokens: int,
    seed: int,
    *,
    siblings: bool = False,
    strength: float = 0.5,
    single_root: bool = False,
    pairs: bool = False,
) -> GrandparentInstance:
    """Return an instance with random scores.

    Short arcs score higher on average.  Scores of parts are about ``strength`` times as large as those of arcs, and
    scores of pairs half of that.  Each token has one of five types, and parts of the same types have similar scores, as
    in a trained model.
    """
    if tokens < 1:
        raise InputError(f"tokens must be at least 1, not {tokens}")
    rng = np.random.default_rng(seed)
    size = tokens + 1
    kinds = rng.integers(0, 5, size)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    arcs = rng.normal(size=(size, size)) + rng.normal(size=(5, 5))[np.ix_(kinds, kinds)] - 0.5 * np.log1p(distance)
    by_kind = np.ix_(kinds, kinds, kinds)

    def parts() -> Floats:
        return strength * (rng.normal(size=(5, 5, 5))[by_kind] + 0.3 * rng.normal(size=(size, size, size)))

    grandparents, consecutive = parts(), parts() if siblings else None
    return GrandparentInstance(
        arcs,
        grandparents,
        consecutive,
        single_root,
        f"random, {tokens} tokens, seed {seed}",
        pair_scores=0.5 * parts() if pairs else None,
    )


def from_arrays(
    arcs: ArrayLike, siblings: ArrayLike | None = None, grandchildren: ArrayLike | None = None
) -> GrandparentInstance:
    """Return the instance of arrays as losses have them, see :class:`colgen.learning.oracles.SecondOrder`.

    Their grandchildren include arcs from the root, and their siblings do not include the ends of a side.  Entries of no
    part become 0.
    """
    scores = np.array(_numbers(arcs, "scores"))
    size = len(scores)
    i, j, k = np.ogrid[:size, :size, :size]
    between = ((i < j) & (j < k)) | ((i > j) & (j > k) & (k > 0))
    given: dict[str, Floats | None] = {}
    for name, own, real in (
        ("siblings", siblings, between | ((i == j) & (k != i) & (k > 0))),
        ("grandchildren", grandchildren, (j > 0) & (k > 0) & (i != j) & (j != k) & (i != k)),
    ):
        if own is None:
            given[name] = None
            continue
        table = _numbers(own, name)
        if scores.ndim != 2 or table.shape != (size,) * 3:
            raise InputError(f"{name}: expected the shape {(size,) * 3} as the scores of arcs, got {table.shape}")
        if name == "grandchildren":
            scores[0, 1:] += table[0, 0, 1:]
        given[name] = np.where(real, table, 0.0)
    return GrandparentInstance(scores, given["grandchildren"], given["siblings"])


def from_scores(
    scores: PartScores, *, siblings: bool = True, single_root: bool = False, name: str = ""
) -> GrandparentInstance:
    """Return an instance with all scores of a lazy scorer in arrays: n³ of each type."""
    found = dense_scores(scores, siblings=siblings, single_root=single_root, name=name)
    assert found is not None
    return found


def dense_scores(
    scores: PartScores,
    *,
    siblings: bool = True,
    single_root: bool = False,
    name: str = "",
    expired: Expired = never,
) -> GrandparentInstance | None:
    """Return the instance of :func:`from_scores`; None if time runs out (``expired``)."""
    size = len(scores) + 1
    vertices = np.arange(size)
    grandparents, consecutive = np.zeros((2, size, size, size))
    for i in range(size):  # the grandparent, or the head
        j, k = np.meshgrid(vertices, vertices, indexing="ij")
        real = (j > 0) & (k > 0) & (i != j) & (j != k) & (i != k)
        _fill(grandparents[i], real, i, scores.grandparents)
        if siblings:
            # h, s, m: s and m on one side of h, s nearer; s = h, or m = h, but not both.
            between = ((i < j) & (j < k)) | ((i > j) & (j > k) & (k > 0))
            real = between | ((i == j) & (k != i) & (k > 0)) | ((k == i) & (j != i) & (j > 0))
            _fill(consecutive[i], real, i, scores.siblings)
        if expired():
            return None
    if not (np.isfinite(grandparents).all() and np.isfinite(consecutive).all()):
        raise InputError(
            "the scorer returned part scores that are not finite: only a GrandparentInstance may contain -inf"
        )
    return GrandparentInstance(
        np.array(scores.arcs), grandparents, consecutive if siblings else None, single_root, name
    )


def _fill(table: Floats, real: Mask, first: int, find: Callable[[Ints], Floats]) -> None:
    second, third = np.nonzero(real)
    table[second, third] = find(np.stack([np.full(len(second), first), second, third], axis=1))


# --- files -----------------------------------------------------------------------------------------------------------


def _numbers(given: ArrayLike, name: str) -> Floats:
    try:
        return as_numbers(given, name)
    except ArrayError as error:
        raise InputError(str(error)) from None


def write(instance: GrandparentInstance, path: Path | str) -> None:
    """Write an instance as a numpy ``.npz`` file."""
    arrays = {"arcs": instance.arc_scores, "single_root": np.array(instance.single_root)}
    if instance.projective:
        arrays["projective"] = np.array(True)
    tables = (instance.grandparent_scores, instance.sibling_scores)
    for name, table, mask in zip(("grandparents", "siblings"), tables, instance.ruled_out, strict=True):
        if table is not None:
            arrays[name] = table if mask is None else np.where(mask, -np.inf, table)
    if instance.pair_scores is not None:
        arrays["pairs"] = instance.pair_scores
    with writing(path, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read(path: Path | str) -> GrandparentInstance:
    """Read an instance from the file of :func:`write`, or from any ``.npz`` file with at least ``arcs``.

    ``arcs[h, m]`` is the score of the arc from h to m; tokens are numbered from 1 and the root is 0.  Scores of two
    consecutive arcs are ``grandparents[g, h, m]``.  The arrays ``siblings``, ``pairs``, ``single_root`` and
    ``projective`` are as in :class:`GrandparentInstance`.

    Raises
    ------
    InputError
        If the file has another format.
    """
    with reading(path, "arrays 'arcs' and 'grandparents'", required=["arcs"]) as given:
        instance = GrandparentInstance(
            given["arcs"],
            given.get("grandparents"),
            given.get("siblings"),
            bool(as_booleans(given.get("single_root", False), "single_root", shape=())),
            Path(path).stem,
            pair_scores=given.get("pairs"),
            projective=bool(as_booleans(given.get("projective", False), "projective", shape=())),
        )
    return instance


def identity_of_scores(scores: PartScores) -> str:
    """Return the scores' ``digest()``, or a digest of their data; raise :class:`InputError` if that is impossible."""
    return str(scores.digest()) if hasattr(scores, "digest") else digest_of_object(scores)
