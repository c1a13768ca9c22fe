"""Instances: a sentence's scores of arcs, grandparent parts and consecutive sibling parts, and what a tree is worth."""

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
    known_once = property  # which a protocol's property can be met by
else:
    known_once = cached_property

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@runtime_checkable
class PartScores(Protocol):
    """Scores of a sentence's parts: what a parser asks for.

    :class:`GrandparentInstance` has them in arrays, :class:`~colgen.problems.dependency.scorer.SentenceScorer` computes
    those that are asked for from a trained model; a class of your own may do anything else.
    """

    def __len__(self) -> int:
        """The number of tokens."""
        ...

    @property
    def arcs(self) -> Floats:
        """By head and modifier, shape (n + 1, n + 1); -inf where there is no arc, in column 0 and on the diagonal."""
        ...

    def grandparents(self, triples: ArrayLike) -> Floats:
        """Of (grandparent, parent, child), shape (parts, 3)."""
        ...

    def siblings(self, triples: ArrayLike) -> Floats:
        """Of (head, sibling, modifier), consecutive on one side, the sibling nearer to the head, shape (parts, 3).

        sibling = head: the modifier is the first on its side; modifier = head: the sibling is the last.
        """
        ...

    @property
    def parent_child_bounds(self) -> Floats:
        """No grandparent part scores more, by parent and child; shape (n + 1, n + 1)."""
        ...

    @property
    def grandparent_parent_bounds(self) -> Floats:
        """No grandparent part scores more, by grandparent and parent."""
        ...

    @property
    def head_modifier_bounds(self) -> Floats:
        """No sibling part scores more, by head and modifier, whatever the sibling is."""
        ...

    @property
    def head_sibling_bounds(self) -> Floats:
        """No sibling part scores more, by head and sibling, whatever the modifier is."""
        ...


@dataclass(frozen=True, eq=False)
class GrandparentInstance:
    """Scores in arrays, indexed by vertices: 0 is the root, tokens are counted from 1.

    Parameters
    ----------
    arc_scores
        By head and modifier, shape (n + 1, n + 1); -inf where the arc is no candidate.  Column 0 and the diagonal are
        not looked at.
    grandparent_scores
        By grandparent, parent, child, shape (n + 1, n + 1, n + 1), -inf where no tree may have the part; None: all
        are 0.
    sibling_scores
        By head, sibling, modifier, likewise; see :class:`PartScores`.
    single_root
        Whether exactly one token must hang from the root.
    pair_scores
        By head h and any two of its modifiers s < m, adjacent or not, on any sides, likewise; other places are not
        looked at.  With them an instance is one of :class:`~colgen.problems.grandparent_parsing.pairs.PairParsing`.
    projective
        Whether the tree must be projective.

    Raises
    ------
    InputError
        If shapes do not agree, there is no token, or a score is NaN or +inf; or one of a pair is -inf, or there are
        pairs where a part is ruled out.

    Notes
    -----
    Parts that are ruled out are kept as penalties so large that every tree without them is better than all that have
    one: dual values stay finite.  A best tree that has one says that there is none without.
    """

    arc_scores: Floats
    grandparent_scores: Floats | None = None
    sibling_scores: Floats | None = None
    single_root: bool = False
    name: str = ""
    scored: list[int] = field(default_factory=lambda: [0, 0], repr=False)
    ruled_out: tuple[Mask | None, Mask | None] = field(default=(None, None), init=False, repr=False)
    """Which grandparent and sibling parts no tree may have; None: it may have any."""
    pair_scores: Floats | None = field(default=None, kw_only=True)
    projective: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        arcs = np.array(_numbers(self.arc_scores, "arc_scores"))
        if arcs.ndim != 2 or arcs.shape[0] != arcs.shape[1] or len(arcs) < 2:
            raise InputError(f"expected arc scores of shape (n + 1, n + 1) with n ≥ 1 tokens, not {arcs.shape}")
        arcs[:, 0] = -np.inf
        np.fill_diagonal(arcs, -np.inf)
        if np.isnan(arcs).any() or (arcs == np.inf).any():
            raise InputError("expected arc scores that are numbers, or -inf where there is no arc, not NaN or +inf")
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
                raise InputError(f"expected {name} that are numbers, or -inf of parts ruled out, not NaN or +inf")
            object.__setattr__(self, name, scores)
        self._rule_out()
        if self.pair_scores is not None:
            object.__setattr__(self, "pair_scores", self._pairs(self.pair_scores))
        for table in (self.grandparent_scores, self.sibling_scores, self.pair_scores):
            if table is not None:
                table.setflags(write=False)

    def with_pairs(self, pair_scores: ArrayLike) -> GrandparentInstance:
        """The instance with these scores of pairs."""
        self._require_finite_parts()  # which penalties, once they are there, look like
        return replace(self, pair_scores=_numbers(pair_scores, "pair_scores"))

    def _require_finite_parts(self) -> None:
        if any(mask is not None for mask in self.ruled_out):
            raise InputError("pairs of modifiers need finite scores of grandparent and sibling parts: rule out arcs")

    def _pairs(self, given: ArrayLike) -> Floats:
        """Scores of pairs, checked; 0 where there is none."""
        self._require_finite_parts()
        scores = _numbers(given, "pair_scores")
        size = len(self.arc_scores)
        if scores.shape != (size,) * 3:
            raise InputError(f"expected pair_scores of shape {(size,) * 3}, not {scores.shape}")
        there = self.arc_scores > -np.inf
        real = there[:, :, None] & there[:, None, :] & np.triu(np.ones((size, size), dtype=np.bool_), 1)
        if not np.isfinite(scores[real]).all():
            raise InputError("expected pair_scores that are finite numbers")
        return np.where(real, scores, 0.0)

    def _rule_out(self) -> None:
        """Put penalties in the place of -inf."""
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
        """Whether a tree is without parts that are ruled out; ``siblings``: whether those of siblings count."""
        vertices = np.array([-1, *heads], dtype=np.int64)
        for kind, mask in enumerate(self.ruled_out[: 1 + siblings]):
            if mask is not None and mask[tuple(tree_triples(vertices, kind).T)].any():
                return False
        return True

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.arc_scores) - 1

    @property
    def arcs(self) -> Floats:
        """Scores of the arcs."""
        return self.arc_scores

    def grandparents(self, triples: ArrayLike) -> Floats:
        """Scores of (grandparent, parent, child), shape (parts, 3)."""
        return self._triples(0, self.grandparent_scores, triples)

    def siblings(self, triples: ArrayLike) -> Floats:
        """Scores of (head, sibling, modifier), shape (parts, 3)."""
        return self._triples(1, self.sibling_scores, triples)

    def _triples(self, kind: int, scores: Floats | None, triples: ArrayLike) -> Floats:
        parts = np.asarray(triples, dtype=np.int64).reshape(-1, 3)
        self.scored[kind] += len(parts)
        return np.zeros(len(parts)) if scores is None else scores[parts[:, 0], parts[:, 1], parts[:, 2]]

    @known_once
    def parent_child_bounds(self) -> Floats:
        """The largest grandparent score by parent and child."""
        return self._largest(self.grandparent_scores, 0)

    @known_once
    def grandparent_parent_bounds(self) -> Floats:
        """The largest grandparent score by grandparent and parent."""
        return self._largest(self.grandparent_scores, 2)

    @known_once
    def head_modifier_bounds(self) -> Floats:
        """The largest sibling score by head and modifier."""
        return self._largest(self.sibling_scores, 1)

    @known_once
    def head_sibling_bounds(self) -> Floats:
        """The largest sibling score by head and sibling."""
        return self._largest(self.sibling_scores, 2)

    def _largest(self, scores: Floats | None, axis: int) -> Floats:
        return np.zeros(self.arc_scores.shape) if scores is None else scores.max(axis=axis)

    # --- trees -------------------------------------------------------------------------------------------------------

    def objective(self, heads: Sequence[int]) -> float:
        """The score of a tree, given the head of each token."""
        score = tree_objective(self, heads)
        return score if self.pair_scores is None else score + pair_objective(self.pair_scores, heads)

    def check(self, heads: Sequence[int]) -> float:
        """The score of a tree, after checking that it is one and of candidate arcs alone.

        Raises
        ------
        InputError
            Saying what is wrong.
        """
        check_tree(heads, len(self), single_root=self.single_root)
        for token, head in enumerate(heads, 1):
            if self.arc_scores[head, token] == -np.inf:
                raise InputError(f"the arc from {head} to {token} is no candidate")
        if self.projective and not is_projective(heads):
            raise InputError("the tree is not projective")
        if not self.allows(heads):
            raise InputError("the tree has a part that is ruled out")
        return self.objective(heads)


def tree_objective(scores: PartScores, heads: Sequence[int], *, siblings: bool = True) -> float:
    """The score of a tree: its arcs, its grandparent parts, and, unless they do not count, its sibling parts."""
    vertices = np.array([-1, *heads], dtype=np.int64)
    total = scores.arcs[vertices[1:], np.arange(1, len(vertices))].sum()
    total += scores.grandparents(tree_triples(vertices, 0)).sum()
    if siblings:
        total += scores.siblings(tree_triples(vertices, 1)).sum()
    return float(total)


def pairs_of(scores: Floats, heads: Sequence[int]) -> Ints:
    """The pairs of modifiers of one head that have a score other than 0, shape (pairs, 3)."""
    vertices = np.array([-1, *heads], dtype=np.int64)
    s, m = np.nonzero(np.triu(vertices[:, None] == vertices, 1))
    found = np.stack([vertices[s], s, m], axis=1)
    scored: Ints = found[scores[tuple(found.T)] != 0.0]
    return scored


def pair_objective(scores: Floats, heads: Sequence[int]) -> float:
    """What all pairs of modifiers of one head score in a tree."""
    return float(scores[tuple(pairs_of(scores, heads).T)].sum())


def has_siblings(scores: PartScores) -> bool:
    """Whether consecutive siblings are scored."""
    if isinstance(scores, GrandparentInstance):
        return scores.sibling_scores is not None
    return "siblings" in getattr(getattr(scores, "weights", None), "parts", ("siblings",))


def wants_projective(scores: object) -> bool:
    """Whether the scores say that the tree must be projective."""
    return bool(getattr(scores, "projective", False))


def refuse_projective(scores: object, name: str) -> None:
    """Say that what is called by this name finds trees of all kinds, where an instance wants projective ones."""
    if wants_projective(scores):
        raise InputError(f"{name} knows no projective trees: AutomataParsing does, and parse")


def refuse_pairs(scores: object, name: str) -> None:
    """Say that what is called by this name would leave out the pairs of an instance that has them."""
    if isinstance(scores, GrandparentInstance) and scores.pair_scores is not None:
        raise InputError(f"{name} knows no scores of pairs of modifiers: PairParsing does, and parse")


def allowed(scores: PartScores, result: Result[Heads], *, siblings: bool = True) -> Result[Heads]:
    """A run's result; none of its answer where that has a part that is ruled out, which all are worse than."""
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


def allowed_trees(scores: PartScores, result: Result[Any]) -> Result[Any]:
    """The same for a list of trees, best first: those that have such a part are left out, and the last is another."""
    if not isinstance(scores, GrandparentInstance) or result.answer is None:
        return result
    kept = [heads for heads in result.answer if scores.allows(heads)]
    if len(kept) == len(result.answer):
        return result
    if not kept:
        return allowed(scores, replace(result, answer=result.answer[0]))
    last = tree_objective(scores, kept[-1])
    return replace(result, answer=kept, objective=last, dual_bound=last if result.is_optimal else result.dual_bound)


def as_heads(vertices: Ints) -> Heads:
    """Heads of the tokens, from heads of all vertices."""
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
    """Random scores: arcs favour near heads, parts are ``strength`` times as large, and half as large those of pairs.

    Parts of one sign pattern repeat between tokens of the same kind, as those of a trained model do.
    """
    if tokens < 1:
        raise InputError(f"expected one token or more, not {tokens}")
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


def from_scores(
    scores: PartScores, *, siblings: bool = True, single_root: bool = False, name: str = ""
) -> GrandparentInstance:
    """All scores of a lazy scorer in arrays: n³ of either kind."""
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
    """As :func:`from_scores`; None if ``expired`` says that time is up."""
    size = len(scores) + 1
    vertices = np.arange(size)
    grandparents, consecutive = np.zeros((2, size, size, size))
    for i in range(size):  # of each grandparent or head
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
        raise InputError("expected scores of parts that are finite numbers; those of an Instance alone may be -inf")
    return GrandparentInstance(
        np.array(scores.arcs), grandparents, consecutive if siblings else None, single_root, name
    )


def _fill(table: Floats, real: Mask, first: int, find: Callable[[Ints], Floats]) -> None:
    """Put the scores of the parts that begin with a vertex into their table."""
    second, third = np.nonzero(real)
    table[second, third] = find(np.stack([np.full(len(second), first), second, third], axis=1))


# --- files -----------------------------------------------------------------------------------------------------------


def _numbers(given: ArrayLike, name: str) -> Floats:
    try:
        return as_numbers(given, name)
    except ArrayError as error:
        raise InputError(str(error)) from None


def write(instance: GrandparentInstance, path: Path | str) -> None:
    """Write an instance as numpy's ``.npz``."""
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
    """Read an instance that :func:`write` has written, or any ``.npz`` with ``arcs`` and maybe more.

    ``arcs[h, m]`` is the score of the arc from h to m, tokens from 1, the root 0; ``grandparents[g, h, m]`` that of two
    arcs in a row, ``siblings`` and ``pairs`` as :class:`GrandparentInstance` has them, ``single_root`` and
    ``projective`` too.

    Raises
    ------
    InputError
        If the file is something else.
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
    """Return a text that distinguishes scores from others: what ``digest()`` returns, if their class defines it.

    Raises
    ------
    InputError
        If scores of another class are no data.
    """
    return str(scores.digest()) if hasattr(scores, "digest") else digest_of_object(scores)
