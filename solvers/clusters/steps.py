r"""Steps that decide a clustering in part, and what each of them proves when it is taken again.

    max Σ_{clusters S} Σ_{i<j in S} w_ij,        w symmetric, of any sign.

Whoever has decided something (:mod:`colgen.solvers.clusters.persistency`) hands over the steps that led there.  They
hold dual values, multipliers and groups, and no claims: taking them again, from the scores alone, recomputes what they
prove. Four kinds of steps take turns, each on the *items* that the ones before have left, groups of those of the
beginning.

* :class:`Settled`: dual values π of the items of some connected components of the graph of positive scores.  The
  components price separately: with z the value of the best packing of clusters S worth w(S) - π(S) each, no clustering
  of them scores more than Σ π + z (:func:`overpriced`, an exact search).  They are done with.
* :class:`Bounded`: multipliers λ ≥ 0 of triangle inequalities or stars of a component, and one of its clusterings, of
  score z.  The bound B(λ) is recomputed (:mod:`colgen.solvers.clusters.triangle_dual`,
  :mod:`colgen.solvers.clusters.star_dual`). Where it meets z the component is done with; elsewhere the reduced scores
  say which pairs are together, and which apart, in all clusterings that score z or more. The given one is one of those,
  so that what is left has the same optimum.
* :class:`Probed`: pairs of a component, one after the other, each with multipliers of stars at which all clusterings
  that part it score less than a given one, which does not (:mod:`colgen.solvers.clusters.probing`).  They are joined.
* :class:`Contracted`: groups that pass the test of :mod:`colgen.solvers.clusters.contraction`.

Complexity: O(n²) for a step, O(rows) for multipliers, and one search for each component with dual values, as long as
the last one that was made in finding them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.clusters.contraction import components, merged, passes
from colgen.solvers.clusters.probing import Join, enough, in_one, parted
from colgen.solvers.clusters.star_dual import proved_by as stars_proved_by
from colgen.solvers.clusters.subset_search import anchored
from colgen.solvers.clusters.triangle_dual import Rows, kept_apart, proved_by
from colgen.solvers.kernel_cache import njit
from colgen.solvers.stopping import Expired

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


_MORE_NODES = 8
"""A search that counts every rounding error looks at more nodes than one that does not."""


class Settled(NamedTuple):
    """Items of whole components, and their dual values; nodes that the search of a component has taken at most."""

    items: Ints
    duals: Floats
    nodes: int


class Triangles(NamedTuple):
    """Items of one component, triangle inequalities with their multipliers, and a clustering of these items."""

    items: Ints
    rows: Rows
    duals: Floats
    labels: Ints


class Stars(NamedTuple):
    """The same with stars, as :func:`colgen.solvers.clusters.star_dual.proved_by` takes them."""

    items: Ints
    stars: Rows
    duals: Floats
    labels: Ints


class Bounded(NamedTuple):
    """Several components at once."""

    parts: tuple[Triangles | Stars, ...]


class Probed(NamedTuple):
    """Items of one component, a clustering of them, and pairs that all clusterings as good have together."""

    items: Ints
    labels: Ints
    joins: tuple[Join, ...]


class Round(NamedTuple):
    """One round of contraction in one component.

    Attributes
    ----------
    items
        Its items, each named by the first item of the step that it holds.
    groups
        The number of each one's group.
    """

    items: Ints
    groups: Ints


class Contracted(NamedTuple):
    """Rounds of contraction, one after the other."""

    rounds: tuple[Round, ...]


Step: TypeAlias = Settled | Bounded | Probed | Contracted


class UnprovedError(ValueError):
    """A step does not prove what it should."""


class State(NamedTuple):
    """What is left, and what is proved of what is not.

    Attributes
    ----------
    groups
        The items of the beginning that each item holds, in the order of their first ones.
    scores
        Of pairs of items, zero diagonal; where the two are apart the score is bad enough, and no longer a sum.
    within
        Of each item: the scores inside it.
    worth
        No clustering of what is done with scores more.
    bound
        No clustering of everything scores more.
    """

    groups: list[Ints]
    scores: Floats
    within: Floats
    worth: float
    bound: float


def beginning(scores: Floats) -> State:
    """Nothing is decided."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    n = len(scores)
    return State([np.array([i]) for i in range(n)], scores, np.zeros(n), 0.0, positive_sum(scores))


def take_in_time(scores: Floats, steps: Sequence[Step], *, expired: Expired) -> tuple[State, bool]:
    """Take steps again, and recompute what they prove; as many as there is time for, and whether these are all.

    Raises
    ------
    UnprovedError
        If one of them does not hold.
    """
    state = beginning(scores)
    for step in steps:
        if expired():
            return state, False
        state = take(state, step)
    return state, True


def take(state: State, step: Step, *, priced: bool = True) -> State:
    """Take one step.

    Parameters
    ----------
    priced
        False for whoever has just found the step: dual values are then believed to price all clusters out, groups to
        pass the test, and pairs to be together.
    """
    if isinstance(step, Settled):
        state = _settled(state, step, priced)
    elif isinstance(step, Bounded):
        state = _bounded(state, step)
    elif isinstance(step, Probed):
        state = _probed(state, step, priced)
    else:
        state = _contracted(state, step, priced)
    rest = state.worth + float(state.within.sum()) + positive_sum(state.scores)
    return state._replace(bound=min(state.bound, rest))


def positive_sum(scores: Floats) -> float:
    """What all pairs with positive scores are worth: no clustering scores more."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    return 0.5 * float(np.maximum(scores, 0.0).sum())


def part(state: State, chosen: Ints) -> State:
    """What is left of some items alone."""
    if len(chosen) == len(state.groups):
        return state
    return state._replace(
        groups=[state.groups[k] for k in chosen.tolist()],
        scores=np.ascontiguousarray(state.scores[np.ix_(chosen, chosen)]),
        within=state.within[chosen],
    )


# --- the steps -------------------------------------------------------------------------------------------------------


def _settled(state: State, step: Settled, priced: bool) -> State:
    _check_whole(state.scores, step.items)
    more = 0.0
    if priced:
        here = np.ascontiguousarray(state.scores[np.ix_(step.items, step.items)])
        more = overpriced(here, step.duals, _MORE_NODES * step.nodes)
        if not math.isfinite(more):
            raise UnprovedError("a search does not come to its end at dual values that settle a component")
    worth = state.worth + float(state.within[step.items].sum()) + float(step.duals.sum()) + more
    return part(state._replace(worth=worth), _others(state, step.items))


def _bounded(state: State, step: Bounded) -> State:
    n = len(state.groups)
    scores, together, done = state.scores.copy(), np.arange(n), np.zeros(n, dtype=np.bool_)
    worth, bound = state.worth, state.worth + float(state.within.sum()) + positive_sum(scores)
    for component in step.parts:
        here = component.items
        _check_whole(state.scores, here)
        inner = np.ascontiguousarray(state.scores[np.ix_(here, here)])
        if isinstance(component, Stars):
            found = stars_proved_by(inner, component.stars, component.duals, component.labels)
        else:
            found = proved_by(inner, component.rows, component.duals, component.labels)
        bound += found.bound - positive_sum(inner)
        groups, apart = found.decided
        together[here] = here[np.unique(groups, return_index=True)[1]][groups]
        scores[np.ix_(here, here)] = kept_apart(inner, apart)
        if found.closed:
            done[here] = True
            worth += float(state.within[here].sum()) + max(found.bound, found.score)
    rest = np.flatnonzero(~done)
    left = part(state._replace(scores=scores, worth=worth, bound=min(bound, state.bound)), rest)
    return _joined(left, renumbered(together[rest]))


def _probed(state: State, step: Probed, priced: bool) -> State:
    here = step.items
    _check_whole(state.scores, here)
    scores = np.ascontiguousarray(state.scores[np.ix_(here, here)])
    labels, group = renumbered(step.labels), np.arange(len(here))
    for join in step.joins:
        i, j = join.first, join.second
        if not 0 <= i < j < len(scores) or labels[i] != labels[j]:
            raise UnprovedError("a pair that is said to be together is apart in the clustering that is to prove it")
        if priced:
            bound = stars_proved_by(parted(scores, i, j), join.stars, join.duals, labels).bound
            if not bound < enough(scores, labels):
                raise UnprovedError("a clustering that parts a pair may be as good as one that does not")
        numbers = in_one(len(scores), i, j)
        scores, labels, group = merged(scores, numbers), renumbered(np.delete(labels, j)), numbers[group]
    together = np.arange(len(state.groups))
    together[here] = here[np.unique(group, return_index=True)[1]][group]
    return _joined(state, renumbered(together))


def _contracted(state: State, step: Contracted, priced: bool) -> State:
    firsts = np.arange(len(state.groups))
    sizes: Floats = np.ones(len(firsts))
    for items, groups in step.rounds:
        here = np.searchsorted(firsts, items)
        if priced:
            _check_whole(state.scores, here)
            if not passes(np.ascontiguousarray(state.scores[np.ix_(here, here)]), sizes[here], groups):
                raise UnprovedError("a group does not pass the test of contraction")
        together = np.arange(len(firsts))
        together[here] = here[np.unique(groups, return_index=True)[1]][groups]
        labels = renumbered(together)
        state = _joined(state, labels)
        firsts = firsts[np.unique(labels, return_index=True)[1]]
        sizes = np.bincount(labels, weights=sizes).astype(np.float64)
    return state


def _joined(state: State, joined: Ints) -> State:
    """Items put together; ``joined`` numbers them by first items."""
    count = int(joined.max(initial=-1)) + 1
    if count == len(joined):
        return state
    members = [np.flatnonzero(joined == k) for k in range(count)]
    within = [float(state.within[here].sum()) + 0.5 * float(state.scores[np.ix_(here, here)].sum()) for here in members]
    return state._replace(
        groups=[np.sort(np.concatenate([state.groups[k] for k in here.tolist()])) for here in members],
        scores=merged(state.scores, joined),
        within=np.array(within),
    )


def renumbered(labels: Ints) -> Ints:
    """Numbers from zero, in the order of the labels."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _others(state: State, items: Ints) -> Ints:
    left = np.ones(len(state.groups), dtype=np.bool_)
    left[items] = False
    return np.flatnonzero(left)


def _check_whole(scores: Floats, items: Ints) -> None:
    """Refuse items that a positive score joins to others."""
    outside = np.ones(len(scores), dtype=np.bool_)
    outside[items] = False
    if outside.any() and (scores[np.ix_(items, np.flatnonzero(outside))] > 0.0).any():
        raise UnprovedError("items that are decided on their own are joined to others by a positive score")


def overpriced(scores: Floats, duals: Floats, nodes: int) -> float:
    """What the best packing of clusters gains beyond dual values, component by component; infinite if that is not said.

    Parameters
    ----------
    nodes
        The search of a component ends after so many.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    duals = as_floats(duals, "duals", shape=(len(scores),))
    return float(_overpriced(np.ascontiguousarray(scores, dtype=np.float64), duals, components(scores), nodes))


@njit(cache=True)
def _overpriced(scores: Floats, duals: Floats, component: Ints, nodes: int) -> float:
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
