r"""Steps that decide part of a clustering, and functions that verify them from the scores alone.

    max Σ_{clusters S} Σ_{i<j in S} w_ij,        w symmetric, of any sign.

:mod:`colgen.solvers.clusters.persistency` returns the steps that led to its decisions.  A step holds dual values,
multipliers and groups, but no conclusions; applying it recomputes them.  Each step acts on the *items* that earlier
steps have left, which are groups of original items.  There are four kinds:

* :class:`Settled`: dual values π of the items of some connected components of the graph of positive scores.  An exact
  search for each component gives the value z of the best packing of clusters S worth w(S) - π(S) each
  (:func:`price_packing`).  No clustering of them scores more than Σ π + z.  They are removed.
* :class:`Bounded`: multipliers λ ≥ 0 of triangle inequalities or stars of a component, and a clustering of it with
  score z.  The bound B(λ) is recomputed (:mod:`colgen.solvers.clusters.triangle_dual`,
  :mod:`colgen.solvers.clusters.star_dual`).  If it equals z the component is removed.  Otherwise the reduced scores
  decide which pairs are together, and which apart, in all clusterings with score at least z.  The given clustering is
  one of them, so the optimum is unchanged.
* :class:`Probed`: pairs of a component in sequence, each with multipliers of stars.  These prove that every clustering
  that separates the pair scores less than a given one that joins it (:mod:`colgen.solvers.clusters.probing`).  The
  pairs are joined.
* :class:`Contracted`: groups that pass the test of :mod:`colgen.solvers.clusters.contraction`.

Complexity: O(n²) per step and O(rows) for multipliers.  Each component with dual values takes one search, as long as
the last search that found them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.clusters.contraction import components, merge_scores, passes
from colgen.solvers.clusters.probing import Join, join_numbers, part_pair, required_bound
from colgen.solvers.clusters.star_dual import recompute_bound as recompute_star_bound
from colgen.solvers.clusters.subset_search import anchored
from colgen.solvers.clusters.triangle_dual import Rows, keep_apart, recompute_bound
from colgen.solvers.kernel_cache import njit
from colgen.solvers.stopping import Expired

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


_MORE_NODES = 8
"""Node limit relative to the original search: exact treatment of rounding errors needs more nodes."""


class Settled(NamedTuple):
    """Items of complete components, their dual values, and the node limit of the search of one component."""

    items: Ints
    duals: Floats
    nodes: int


class Triangles(NamedTuple):
    """Items of one component, triangle inequalities with multipliers, and a clustering of these items."""

    items: Ints
    rows: Rows
    duals: Floats
    labels: Ints


class Stars(NamedTuple):
    """Items of one component, stars with multipliers, and a clustering of these items."""

    items: Ints
    stars: Rows
    duals: Floats
    labels: Ints


class Bounded(NamedTuple):
    """Bounds of several components."""

    parts: tuple[Triangles | Stars, ...]


class Probed(NamedTuple):
    """Items of one component, a clustering of them, and pairs that are together in all clusterings at least as good."""

    items: Ints
    labels: Ints
    joins: tuple[Join, ...]


class Round(NamedTuple):
    """One round of contraction in one component."""

    items: Ints  # items of the component, each named by its first item at the start of the step
    groups: Ints  # (n,) array of group numbers


class Contracted(NamedTuple):
    """Rounds of contraction in sequence."""

    rounds: tuple[Round, ...]


Step: TypeAlias = Settled | Bounded | Probed | Contracted


class UnprovedError(ValueError):
    """A step does not prove its conclusion."""


class State(NamedTuple):
    """The remaining instance, and the bounds proved so far."""

    groups: list[Ints]  # original items of each item, in the order of their first ones
    # scores: scores of pairs of items, zero diagonal.  A pair decided apart has a large negative score, not a sum
    scores: Floats
    within: Floats  # sum of the scores inside each item
    worth: float  # upper bound on the score of any clustering of the removed items
    bound: float  # upper bound on the score of any clustering of all original items


def initial_state(scores: Floats) -> State:
    """Return the state in which nothing is decided."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    n = len(scores)
    return State([np.array([i]) for i in range(n)], scores, np.zeros(n), 0.0, positive_sum(scores))


def apply_steps(scores: Floats, steps: Sequence[Step], *, expired: Expired) -> tuple[State, bool]:
    """Apply steps and recompute their conclusions while time permits.  Return the state and whether all were applied.

    A step that does not hold raises UnprovedError.
    """
    state = initial_state(scores)
    for step in steps:
        if expired():
            return state, False
        state = apply_step(state, step)
    return state, True


def apply_step(state: State, step: Step, *, verify: bool = True) -> State:
    """Apply one step.  ``verify`` is False right after finding it, to skip the verification of its conclusions."""
    if isinstance(step, Settled):
        state = _apply_settled(state, step, verify)
    elif isinstance(step, Bounded):
        state = _apply_bounded(state, step)
    elif isinstance(step, Probed):
        state = _apply_probed(state, step, verify)
    else:
        state = _apply_contracted(state, step, verify)
    rest = state.worth + float(state.within.sum()) + positive_sum(state.scores)
    return state._replace(bound=min(state.bound, rest))


def positive_sum(scores: Floats) -> float:
    """Return the sum of the positive scores of all pairs, an upper bound on the score of any clustering."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    return 0.5 * float(np.maximum(scores, 0.0).sum())


def restrict(state: State, chosen: Ints) -> State:
    """Return the state restricted to some items."""
    if len(chosen) == len(state.groups):
        return state
    return state._replace(
        groups=[state.groups[k] for k in chosen.tolist()],
        scores=np.ascontiguousarray(state.scores[np.ix_(chosen, chosen)]),
        within=state.within[chosen],
    )


# --- the steps -------------------------------------------------------------------------------------------------------


def _apply_settled(state: State, step: Settled, verify: bool) -> State:
    _check_components(state.scores, step.items)
    more = 0.0
    if verify:
        here = np.ascontiguousarray(state.scores[np.ix_(step.items, step.items)])
        more = price_packing(here, step.duals, _MORE_NODES * step.nodes)
        if not math.isfinite(more):
            raise UnprovedError(f"the search of a settled component exceeds {_MORE_NODES * step.nodes} nodes")
    worth = state.worth + float(state.within[step.items].sum()) + float(step.duals.sum()) + more
    return restrict(state._replace(worth=worth), _others(state, step.items))


def _apply_bounded(state: State, step: Bounded) -> State:
    n = len(state.groups)
    scores, together, done = state.scores.copy(), np.arange(n), np.zeros(n, dtype=np.bool_)
    worth, bound = state.worth, state.worth + float(state.within.sum()) + positive_sum(scores)
    for component in step.parts:
        here = component.items
        _check_components(state.scores, here)
        inner = np.ascontiguousarray(state.scores[np.ix_(here, here)])
        if isinstance(component, Stars):
            found = recompute_star_bound(inner, component.stars, component.duals, component.labels)
        else:
            found = recompute_bound(inner, component.rows, component.duals, component.labels)
        bound += found.bound - positive_sum(inner)
        groups, apart = found.decisions
        together[here] = here[np.unique(groups, return_index=True)[1]][groups]
        scores[np.ix_(here, here)] = keep_apart(inner, apart)
        if found.closed:
            done[here] = True
            worth += float(state.within[here].sum()) + max(found.bound, found.score)
    rest = np.flatnonzero(~done)
    left = restrict(state._replace(scores=scores, worth=worth, bound=min(bound, state.bound)), rest)
    return _join(left, renumber(together[rest]))


def _apply_probed(state: State, step: Probed, verify: bool) -> State:
    here = step.items
    _check_components(state.scores, here)
    scores = np.ascontiguousarray(state.scores[np.ix_(here, here)])
    labels, group = renumber(step.labels), np.arange(len(here))
    for join in step.joins:
        i, j = join.first, join.second
        if not 0 <= i < j < len(scores) or labels[i] != labels[j]:
            raise UnprovedError(f"items {i} and {j} cannot be joined: the given clustering separates them")
        if verify:
            bound = recompute_star_bound(part_pair(scores, i, j), join.stars, join.duals, labels).bound
            if not bound < required_bound(scores, labels):
                raise UnprovedError(f"items {i} and {j}: the bound {bound:g} allows clusterings that part them")
        numbers = join_numbers(len(scores), i, j)
        scores, labels, group = merge_scores(scores, numbers), renumber(np.delete(labels, j)), numbers[group]
    together = np.arange(len(state.groups))
    together[here] = here[np.unique(group, return_index=True)[1]][group]
    return _join(state, renumber(together))


def _apply_contracted(state: State, step: Contracted, verify: bool) -> State:
    firsts = np.arange(len(state.groups))
    sizes: Floats = np.ones(len(firsts))
    for items, groups in step.rounds:
        here = np.searchsorted(firsts, items)
        if verify:
            _check_components(state.scores, here)
            if not passes(np.ascontiguousarray(state.scores[np.ix_(here, here)]), sizes[here], groups):
                raise UnprovedError("a group does not pass the test of contraction")
        together = np.arange(len(firsts))
        together[here] = here[np.unique(groups, return_index=True)[1]][groups]
        labels = renumber(together)
        state = _join(state, labels)
        firsts = firsts[np.unique(labels, return_index=True)[1]]
        sizes = np.bincount(labels, weights=sizes).astype(np.float64)
    return state


def _join(state: State, joined: Ints) -> State:
    """Merge items; ``joined`` holds group numbers by first item."""
    count = int(joined.max(initial=-1)) + 1
    if count == len(joined):
        return state
    members = [np.flatnonzero(joined == k) for k in range(count)]
    within = [float(state.within[here].sum()) + 0.5 * float(state.scores[np.ix_(here, here)].sum()) for here in members]
    return state._replace(
        groups=[np.sort(np.concatenate([state.groups[k] for k in here.tolist()])) for here in members],
        scores=merge_scores(state.scores, joined),
        within=np.array(within),
    )


def renumber(labels: Ints) -> Ints:
    """Return consecutive numbers from zero in the order of the labels."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _others(state: State, items: Ints) -> Ints:
    left = np.ones(len(state.groups), dtype=np.bool_)
    left[items] = False
    return np.flatnonzero(left)


def _check_components(scores: Floats, items: Ints) -> None:
    """Raise an error if a positive score joins the items to others."""
    outside = np.ones(len(scores), dtype=np.bool_)
    outside[items] = False
    if outside.any() and (scores[np.ix_(items, np.flatnonzero(outside))] > 0.0).any():
        raise UnprovedError("a step decides items that positive scores join to others; expected complete components")


def price_packing(scores: Floats, duals: Floats, nodes: int) -> float:
    """Return the value of the best packing of clusters priced at dual values, summed over components.

    It is infinite if a search exceeds ``nodes`` nodes.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    duals = as_floats(duals, "duals", shape=(len(scores),))
    return float(_price_packing(np.ascontiguousarray(scores, dtype=np.float64), duals, components(scores), nodes))


@njit(cache=True)
def _price_packing(scores: Floats, duals: Floats, component: Ints, nodes: int) -> float:
    count = 0
    for i in range(len(component)):
        count = max(count, component[i] + 1)
    sizes = np.zeros(count, dtype=np.int64)
    for c in component:
        sizes[c] += 1
    total = 0.0
    for c in range(count):
        m = sizes[c]
        items = np.empty(m, dtype=np.int64)
        size = 0
        for i in range(len(component)):
            if component[i] == c:
                items[size] = i
                size += 1
        if m == 1:
            total += max(0.0, -duals[items[0]])
            continue
        if m == 2:
            i, j = items[0], items[1]
            apart = max(0.0, -duals[i]) + max(0.0, -duals[j])
            total += max(apart, scores[i, j] - duals[i] - duals[j])
            continue
        inner, profits = np.empty((m, m)), np.empty(m)
        for a in range(m):
            profits[a] = -duals[items[a]]
            for b in range(m):
                inner[a, b] = scores[items[a], items[b]]
        values, _, unfinished = anchored(inner, profits, np.zeros(m), nodes)
        if unfinished.any():
            return np.inf
        for v in range(m):
            total += values[v]
    return total
