"""Shortest paths with resource constraints, by labelling."""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solvers.arrays import ArrayError, as_booleans, as_floats, as_integer
from solvers.paths.labelling import joining, memory, search
from solvers.paths.labelling.layout import (
    BUCKET,
    COST,
    MADE,
    NUMBER,
    POOLED,
    SETTLED,
    VALUES,
    WANTED,
    Floats,
    Ints,
    Labels,
    Rule,
    Side,
    begun,
    grown,
)
from solvers.paths.labelling.network import Network
from solvers.paths.labelling.rank_one import Fields, RankOneDuals, coefficients, fields
from solvers.paths.labelling.resources import CustomResource, Functions, Limits, Resource, functions, limits, progresses
from solvers.paths.labelling.routes import Completion, Routes, gathered, trace
from solvers.paths.labelling.walks import walk_bounds
from solvers.stopping import Expired, never

Mask = NDArray[np.bool_]
Mode = Literal["exact", "relaxed", "sparse"]

_EFFORT = 3_000_000
"""Arcs and pairs of labels that are looked at between two looks at the clock: some hundredths of a second."""

_FINEST, _COARSEST = 512, 64
"""Buckets of the critical resource."""

_FIRST = 1 << 12
"""Labels that there is room for at first."""

_SMALL = 30_000
"""What a search may take that has no bounds at all: as much as it takes to compute some."""

_SIZES, _WORTH = (4, 8, 12, 16), (2e6, 1e7, 4e7, 2e8)
"""Neighbourhoods of which bounds are computed, and what a search without them may take before."""

_DEARER = 4
"""What bounds may take, relative to the search before."""

_LISTED = 1_000
"""Routes that are written down between two looks at the clock."""

_SPARSE = 8
"""Arcs a vertex that the sparse mode leaves."""


class LabelLimitError(MemoryError):
    """A search needs more labels than it may hold."""


class _OutOfTimeError(Exception):
    """The deadline has come, or the caller wants to end."""


_Found: TypeAlias = tuple[list[tuple[float, Ints]], bool, int]
"""Routes with their costs, whether all were looked at, and how many labels it took."""


class _OutOfEffortError(Exception):
    """An attempt has taken what it was worth."""


class _Clock:
    """When to end, and what an attempt may take."""

    def __init__(self, deadline: float, expired: Expired) -> None:
        self.deadline, self.expired, self.left = deadline, expired, math.inf

    @property
    def effort(self) -> int:
        """Of the next call of a kernel."""
        return int(min(self.left, _EFFORT))

    def charge(self, given: int, left: int) -> None:
        """Count what a call took, and look whether that was all."""
        self.left -= given - left
        if time.monotonic() >= self.deadline or self.expired():
            raise _OutOfTimeError
        if self.left <= 0:
            raise _OutOfEffortError


class _Direction(NamedTuple):
    """What a direction knows before costs are.

    ``order`` are the arcs' numbers by their tails; the limits are those of the direction.
    """

    origin: int
    order: Ints
    tails: Ints
    heads: Ints
    skipped: Mask
    limits: Limits
    common: NDArray[np.uint64]
    returning: NDArray[np.uint64]
    unreachable: NDArray[np.uint64]
    lowest: float
    width: float
    buckets: int
    custom_start: Floats


class _Mirror(NamedTuple):
    """A network that is its own reversal: which arc is which, and how values differ at the vertices."""

    arcs: Ints
    shift: Floats
    total: float


class Labelling:
    """The shortest path problem with resource constraints on a network: elementary, with neighbourhoods, or relaxed.

    Nothing is kept between calls: one object may be used by several threads.

    Parameters
    ----------
    network, resources
        Where paths lead, and what they consume.
    neighbourhoods
        ``"elementary"``; or by two vertices i, j whether a path at i remembers that it visited j, and must not visit it
        again from there (ng-routes); or None: nothing is remembered.
    direction
        ``"both"`` joins paths from the source with paths to the sink where the two searches meet.
    max_labels
        Labels that a search may hold.

    Raises
    ------
    ArrayError
        If the resources do not fit the network, or paths could become longer and longer.
    """

    def __init__(
        self,
        network: Network,
        resources: Sequence[Resource | CustomResource],
        *,
        neighbourhoods: ArrayLike | Literal["elementary"] | None = "elementary",
        direction: Literal["both", "forward"] = "both",
        max_labels: int = 20_000_000,
    ) -> None:
        if direction not in ("both", "forward"):
            raise ArrayError(f"direction: expected 'both' or 'forward', got {direction!r}")
        self.network = network
        self.max_labels = as_integer(max_labels, "max_labels", low=1)
        own = [resource for resource in resources if isinstance(resource, CustomResource)]
        if len(own) > 1:
            raise ArrayError(f"resources: expected at most one CustomResource, got {len(own)}")
        self.custom = own[0] if own else None
        self.both = direction == "both" and (self.custom is None or self.custom.both)
        self._limits = limits(network, tuple(each for each in resources if isinstance(each, Resource)))
        self._set_neighbourhoods(neighbourhoods)

    def with_neighbourhoods(self, neighbourhoods: ArrayLike | Literal["elementary"] | None) -> Labelling:
        """The same problem with another memory."""
        other = copy.copy(self)
        other._set_neighbourhoods(neighbourhoods)
        return other

    def enlarged(self, routes: Routes, limit: int | None = None) -> Mask:
        """Neighbourhoods that forbid the cycles of routes as well: everybody on a cycle remembers where it began.

        Parameters
        ----------
        limit
            A cycle is left alone if it would make a neighbourhood larger than this.
        """
        matrix = self.neighbourhoods.copy()
        for k in range(len(routes)):
            seen: dict[int, int] = {}
            route = routes.route(k)
            for place, vertex in enumerate(map(int, route)):
                if vertex in seen:
                    between = route[seen[vertex] : place]
                    sizes = matrix[between].sum(axis=1) + ~matrix[between, vertex]
                    if limit is None or sizes.max() <= limit:
                        matrix[between, vertex] = True
                seen[vertex] = place
        return matrix

    # --- what is asked -----------------------------------------------------------------------------------------------

    def price(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        forbidden: ArrayLike | None = None,
        mode: Mode = "exact",
        routes: int = 1,
        cutoff: float = math.inf,
        deadline: float = math.inf,
        expired: Expired = never,
    ) -> Routes:
        """The cheapest routes.

        Parameters
        ----------
        arc_costs
            One number an arc.
        rank_one
            Cuts whose dual values routes pay for.
        forbidden
            Whether each arc may not be used.
        mode
            ``"exact"``; ``"relaxed"``: of the paths to a vertex only those that are cheap for what they consume of the
            critical resource are kept; ``"sparse"``: that, over the cheapest arcs of each vertex.  The latter two prove
            nothing, and are quick.
        routes
            How many, at most: the cheapest one, and others that end differently; no two with the same vertices.
        cutoff
            Only routes cheaper than this are looked for.
        deadline, expired
            Value of ``time.monotonic()``, and a question asked some ten times a second: when to end with what is found.

        Raises
        ------
        LabelLimitError
            If there are more labels than this object may hold.
        """
        if mode not in ("exact", "relaxed", "sparse"):
            raise ArrayError(f"mode: expected 'exact', 'relaxed' or 'sparse', got {mode!r}")
        costs, usable = self._costs(arc_costs, forbidden)
        cuts = fields(rank_one, self.network.num_vertices)
        wanted = as_integer(routes, "routes", low=1)
        if not cutoff > -math.inf:
            raise ArrayError(f"cutoff: expected a number, got {cutoff!r}")
        clock = _Clock(deadline, expired)
        if mode == "sparse":
            usable = usable & self._cheap(costs, usable)
        attempt = self._heuristic if mode != "exact" else self._exact
        found, finished, labels = attempt(costs, usable, cuts, wanted, cutoff, clock)
        bound = None
        if mode == "exact" and finished:
            bound = min(cutoff, min((cost for cost, _ in found), default=math.inf))
        return self._routes(found, costs, rank_one, bound, finished, labels, wanted)

    def completion(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        forbidden: ArrayLike | None = None,
        cutoff: float = math.inf,
        deadline: float = math.inf,
        expired: Expired = never,
    ) -> Completion:
        """The least cost of a route through each arc: an arc for which it is above the gap is in no better solution.

        Parameters
        ----------
        arc_costs, rank_one, forbidden, deadline, expired
            As of :meth:`price`.
        cutoff
            Of an arc whose routes cost this or more it is enough to say so, which is sooner known.

        Raises
        ------
        ArrayError
            If there is a resource that is extended forward only.
        """
        if self.custom is not None and not self.custom.both:
            raise ArrayError("completion: expected a CustomResource with backward and joins")
        costs, usable = self._costs(arc_costs, forbidden)
        cuts = fields(rank_one, self.network.num_vertices)
        if not cutoff > -math.inf:
            raise ArrayError(f"cutoff: expected a number, got {cutoff!r}")
        clock = _Clock(deadline, expired)
        cheapest = np.full(self.network.num_arcs, np.inf)
        try:
            ahead, back = self._narrowed(costs, usable, cuts, cutoff, clock)
            held, other = self._whole(ahead, back, costs, usable, clock)
            found, finished = self._joined(
                ahead, held, back, other, self._functions(), ahead.buckets, len(ahead.heads), math.inf, True, clock
            )
        except _OutOfTimeError:
            finished = False
        if not finished:
            return Completion(np.full(self.network.num_arcs, -np.inf), None, False)
        cheapest[ahead.numbers] = cutoff  # where nothing is left, all was dropped for its cost
        for cost, _, _, arc in found:
            cheapest[arc] = min(cost, cutoff)
        return Completion(cheapest, float(cheapest.min(initial=math.inf)), True)

    def enumerate(
        self,
        arc_costs: ArrayLike,
        gap: float,
        *,
        limit: int = 1_000_000,
        rank_one: RankOneDuals | None = None,
        forbidden: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        deadline: float = math.inf,
        expired: Expired = never,
    ) -> Routes:
        """All elementary routes cheaper than a gap; of those with the same vertices the one of least ``costs``.

        Paths are dropped that cannot become cheap enough, by bounds from a search backwards with the neighbourhoods of
        this object.

        Parameters
        ----------
        arc_costs, rank_one, forbidden, deadline, expired
            As of :meth:`price`.
        gap
            What routes must cost less than.
        limit
            Routes at most.
        costs
            What the routes with the same vertices are compared by; ``arc_costs`` by default.

        Returns
        -------
        Routes
            Without a bound; ``finished`` is False if there are more routes than the limit, or the time was over.
        """
        reduced, usable = self._costs(arc_costs, forbidden)
        limit = as_integer(limit, "limit", low=0)
        cuts = fields(rank_one, self.network.num_vertices)
        compared = reduced if costs is None else as_floats(costs, "costs", shape=reduced.shape)
        clock, written = _Clock(deadline, expired), self._functions()
        held = None
        try:
            bounds = self._bounds(reduced, usable, cuts, gap, clock)
            side = self.with_neighbourhoods("elementary")._listing(reduced, usable, cuts, compared, bounds, gap)
            held = begun(side, _FIRST)
            held = self._advance(side, held, written, side.buckets, clock, most=20 * limit + 1_000_000)
        except (_OutOfTimeError, LabelLimitError):
            return gathered([], self.network.tails, self.network.heads, np.zeros(0), None, False, 0)
        sink = self.network.sink
        first, size = int(held.pool_first[sink]), int(held.pool_size[sink])
        ends = held.pool_words[first : first + size, NUMBER].astype(np.int64)
        paid = held.pool_numbers[first : first + size, COST]
        best: dict[bytes, tuple[float, float, Ints]] = {}
        finished = True
        for k, (label, cost) in enumerate(zip(ends[paid < gap], paid[paid < gap], strict=True)):
            if len(best) > limit or (k % _LISTED == 0 and (time.monotonic() >= deadline or expired())):
                finished = False
                break
            path = np.array(trace(held, int(label))[::-1], dtype=np.int64)
            visited, own = np.sort(self.network.heads[path]).tobytes(), float(compared[path].sum())
            if visited not in best or (own, cost) < best[visited][:2]:
                best[visited] = (own, float(cost), path)
        found = [(cost, path) for _, cost, path in best.values()]
        finished = finished and len(found) <= limit
        return self._routes(found, reduced, rank_one, None, finished, int(held.at[SETTLED]), limit)

    # --- the search --------------------------------------------------------------------------------------------------

    def _heuristic(
        self, costs: Floats, usable: Mask, cuts: Fields, wanted: int, cutoff: float, clock: _Clock
    ) -> _Found:
        """Routes from a search that keeps few labels."""
        ahead, back = (
            self._side(direction, costs, usable, cuts, relaxed=True) for direction in (self._ahead, self._back)
        )
        return self._solve(ahead, back, costs, usable, wanted, cutoff, clock)

    def _exact(self, costs: Floats, usable: Mask, cuts: Fields, wanted: int, cutoff: float, clock: _Clock) -> _Found:
        """Routes from a search that drops what cannot become cheap enough, by bounds that get tighter while it lasts.

        A small network needs none.  The first bounds are those of walks.  If they do not end the search soon then those
        of smaller neighbourhoods are computed with their help, of larger ones with the help of these, and so on.
        """
        ahead, back = (self._side(direction, costs, usable, cuts) for direction in (self._ahead, self._back))
        network, sides = self.network, (ahead, back)
        clock.left = _SMALL
        with contextlib.suppress(_OutOfEffortError):
            return self._solve(ahead, back, costs, usable, wanted, cutoff, clock)
        clock.left = math.inf
        bounds = [walk_bounds(ahead, self.neighbourhoods, network.sink), None]
        if bounds[0] is None or (cutoff == math.inf and wanted > 1):
            return self._solve(ahead, back, costs, usable, wanted, cutoff, clock)
        mirrored = self.both and self._mirrored(costs, usable) is not None
        if self.both and not mirrored:
            bounds[1] = walk_bounds(back, self.neighbourhoods, network.source)
        known: list[tuple[float, Ints]] = []
        labels = 0
        if wanted == 1:
            # the cheaper a route is known, the more is dropped
            for compared in (0, 1):
                rough = [
                    _bounded(side, bound, cutoff)._replace(
                        rule=side.rule._replace(compared=compared, custom=0, words=0, state_words=0, plain=False)
                    )
                    for side, bound in zip(sides, bounds, strict=True)
                ]
                found, finished, made = self._solve(rough[0], rough[1], costs, usable, 1, cutoff, clock)
                labels += made
                if found and found[0][0] < cutoff:
                    known, cutoff = found, found[0][0]
                if not finished:
                    return known, False, labels
        sizes = [size for size in _SIZES if size < self.neighbourhoods.sum(axis=1).max()]
        for size, worth in zip([*sizes, None], [*_WORTH, math.inf], strict=False):
            if size is None:
                worth = math.inf
            clock.left = worth
            try:
                narrowed = [_bounded(side, bound, cutoff) for side, bound in zip(sides, bounds, strict=True)]
                found, finished, made = self._solve(narrowed[0], narrowed[1], costs, usable, wanted, cutoff, clock)
                return found or known, finished, labels + made
            except _OutOfEffortError:
                pass
            clock.left = _DEARER * worth
            with contextlib.suppress(_OutOfEffortError):
                try:
                    bounds = self._tighter(narrowed, costs, usable, size or 1, mirrored, clock)
                except _OutOfTimeError:
                    return known, False, labels
        raise AssertionError("the last attempt may take whatever it wants")

    def _tighter(
        self, sides: list[Side], costs: Floats, usable: Mask, size: int, mirrored: bool, clock: _Clock
    ) -> list[Floats | None]:
        """Bounds from smaller neighbourhoods: of each the vertices that are cheapest to come to."""
        network = self.network
        matrix = self.neighbourhoods & memory.nearest(network, np.where(usable, costs, np.inf), size, finite=False)
        np.fill_diagonal(matrix, self.neighbourhoods.diagonal())
        written = self._functions()
        smaller = []
        for side, ends in zip(sides, ((network.tails, network.heads), (network.heads, network.tails)), strict=True):
            tails, heads = (end[side.numbers] for end in ends)
            common, returning = memory.arc_bits(matrix, self._own, tails, heads)
            free = fields(None, network.num_vertices)
            smaller.append(side._replace(common=common, returning=returning, cuts=free, rule=_free(side.rule)))
        held = self._advance(smaller[0], begun(smaller[0], _FIRST), written, smaller[0].buckets, clock)
        if mirrored:
            mirror = self._mirror
            assert mirror is not None
            return [joining.completions(smaller[1], _reflected(held, mirror, costs, network, sides[0]), sides[0]), None]
        other = self._advance(smaller[1], begun(smaller[1], _FIRST), written, smaller[1].buckets, clock)
        return [
            joining.completions(smaller[1], other, sides[0]),
            joining.completions(smaller[0], held, sides[1]),
        ]

    def _whole(self, ahead: Side, back: Side, costs: Floats, usable: Mask, clock: _Clock) -> tuple[Labels, Labels]:
        """All labels of both directions."""
        written, mirror = self._functions(), self._mirrored(costs, usable)
        held = self._advance(ahead, begun(ahead, _FIRST), written, ahead.buckets, clock)
        if mirror is not None:
            return held, _reflected(held, mirror, costs, self.network, ahead)
        return held, self._advance(back, begun(back, _FIRST), written, back.buckets, clock)

    def _narrowed(self, costs: Floats, usable: Mask, cuts: Fields, cutoff: float, clock: _Clock) -> tuple[Side, Side]:
        """Both directions, with bounds that drop what cannot become cheaper than a cutoff.

        The bounds are those of walks first, then those without cuts over the smallest neighbourhoods.
        """
        ahead, back = (self._side(direction, costs, usable, cuts) for direction in (self._ahead, self._back))
        first = None if cutoff == math.inf else walk_bounds(ahead, self.neighbourhoods, self.network.sink)
        if first is None:
            return ahead, back
        mirrored = self._mirrored(costs, usable) is not None
        second = None if mirrored else walk_bounds(back, self.neighbourhoods, self.network.source)
        sides = [_bounded(ahead, first, cutoff), _bounded(back, second, cutoff)]
        first, second = self._tighter(sides, costs, usable, _SIZES[0], mirrored, clock)
        return _bounded(ahead, first, cutoff), _bounded(back, second, cutoff)

    def _bounds(self, costs: Floats, usable: Mask, cuts: Fields, cutoff: float, clock: _Clock) -> Floats:
        """By bucket and vertex: no completion of a path there costs less, of those that make a route below a cutoff."""
        ahead, back = self._narrowed(costs, usable, cuts, cutoff, clock)
        if self.custom is not None:
            return np.full((ahead.buckets, self.network.num_vertices), -np.inf)
        mirror = self._mirrored(costs, usable)
        if mirror is None:
            other = self._advance(back, begun(back, _FIRST), self._functions(), back.buckets, clock)
        else:
            held = self._advance(ahead, begun(ahead, _FIRST), self._functions(), ahead.buckets, clock)
            other = _reflected(held, mirror, costs, self.network, ahead)
        return joining.completions(back, other, ahead)

    def _listing(self, costs: Floats, usable: Mask, cuts: Fields, compared: Floats, bounds: Floats, gap: float) -> Side:
        """The direction ahead for listing routes: paths are compared with those that visit the same vertices alone."""
        side = self._side(self._ahead, costs, usable, cuts)
        place, n = side.rule.compared, self.network.num_vertices
        everybody = np.bitwise_or.reduce(self._own, axis=0)
        common = side.common.copy()
        common[side.heads == self.network.sink] = everybody
        rule = side.rule._replace(
            compared=place + 1,
            custom=side.rule.custom + bool(side.rule.custom),
            memory=side.rule.memory + 1,
            same_set=True,
            states=side.rule.states + 1,
            plain=False,
        )
        return side._replace(
            end=np.append(side.first[1:], len(side.heads)),
            consumption=np.insert(side.consumption, place, compared[side.numbers], axis=1),
            lower=np.insert(side.lower, place, -np.inf, axis=1),
            upper=np.insert(side.upper, place, np.inf, axis=1),
            start=np.insert(side.start, place, 0.0),
            slack=np.insert(side.slack, place, 0.0),
            critical=side.critical + (side.critical >= place),
            common=common,
            unreachable=np.zeros((0, n, common.shape[1]), dtype=np.uint64),
            rule=rule,
            bounds=bounds,
            cutoff=gap,
        )

    def _solve(
        self, ahead: Side, back: Side, costs: Floats, usable: Mask, wanted: int, cutoff: float, clock: _Clock
    ) -> _Found:
        """Routes with their costs as the labels say, whether all were looked at, and how many labels it took."""
        written = self._functions()
        held, other = begun(ahead, _FIRST), begun(back, _FIRST)
        mirror = self._mirrored(costs, usable) if self.both else None
        try:
            if mirror is not None:
                held = self._advance(ahead, held, written, ahead.buckets // 2 + 1, clock)
                middle = int(held.at[BUCKET])
                held = self._advance(ahead, held, written, ahead.buckets, clock, extending=False)
                other = _reflected(held, mirror, costs, self.network, ahead)
            elif self.both:
                held, other = self._advance_both(ahead, held, back, other, written, clock)
                middle = int(held.at[BUCKET])
            else:
                held = self._advance(ahead, held, written, ahead.buckets, clock)
                other = self._advance(back, other, written, back.buckets, clock, extending=False)
                middle = ahead.buckets
        except _OutOfTimeError:
            return [], False, int(held.at[SETTLED] + other.at[SETTLED])
        labels = int(held.at[SETTLED] + other.at[SETTLED])
        every = self.custom is not None and self.custom.order is not None
        pairs, finished = self._joined(ahead, held, back, other, written, middle, wanted, cutoff, every, clock)
        found = []
        for cost, one, another, arc in pairs:
            onwards = trace(held, another) if mirror is not None else trace(other, another)
            if mirror is not None:
                onwards = [int(mirror.arcs[k]) for k in onwards]
            found.append((cost, np.array([*reversed(trace(held, one)), arc, *onwards], dtype=np.int64)))
        return found, finished, labels

    def _advance(
        self, side: Side, held: Labels, written: tuple[Functions, Functions], end: int, clock: _Clock, *,
        extending: bool = True, most: int | None = None,
    ) -> Labels:  # fmt: skip
        mine = written[0] if side.origin == self.network.source else written[1]
        while True:
            given = clock.effort
            status, left, _ = search.advance(
                mine.extend, mine.dominates, mine.extend, mine.dominates, side, held, side, held, end, 0,
                2 * end + 1, extending, given,
            )  # fmt: skip
            if status == search.DONE:
                clock.left -= given - left
                return held
            clock.charge(given, left)
            held = self._more_room(held, status, most)

    def _advance_both(
        self, ahead: Side, held: Labels, back: Side, other: Labels, written: tuple[Functions, Functions], clock: _Clock
    ) -> tuple[Labels, Labels]:
        mine, theirs = written
        while True:
            given = clock.effort
            status, left, backwards = search.advance(
                mine.extend, mine.dominates, theirs.extend, theirs.dominates, ahead, held, back, other, ahead.buckets,
                back.buckets, ahead.buckets + 2, True, given,
            )  # fmt: skip
            if status == search.DONE:
                clock.left -= given - left
                return held, other
            clock.charge(given, left)
            if backwards:
                other = self._more_room(other, status)
            else:
                held = self._more_room(held, status)

    def _more_room(self, held: Labels, status: int, most: int | None = None) -> Labels:
        if status == search.PAUSED:
            return held
        most = self.max_labels if most is None else min(most, self.max_labels)
        if max(held.at[SETTLED], held.at[MADE]) > most:
            raise LabelLimitError(f"max_labels: the search needs more than {most} labels")
        return grown(held, status - search.MORE_LABELS, int(held.at[WANTED]))

    def _joined(
        self, ahead: Side, held: Labels, back: Side, other: Labels, written: tuple[Functions, Functions], middle: int,
        wanted: int, cutoff: float, every: bool, clock: _Clock,
    ) -> tuple[list[tuple[float, int, int, int]], bool]:  # fmt: skip
        """Pairs of labels: cost, label ahead, label back, arc of the network; and whether all were looked at."""
        tails = _tails(ahead)
        one, another = (
            np.where(each.pool_size > 0, each.pool_numbers[each.pool_first, COST], np.inf) for each in (held, other)
        )
        hoped = one[tails] + ahead.costs + another[ahead.heads]
        order = np.argsort(hoped, kind="stable")
        order = order[: np.searchsorted(hoped[order], cutoff)]
        at = np.zeros(4, dtype=np.int64)
        found_costs, found = np.full(wanted, np.inf), np.zeros((wanted, 3), dtype=np.int64)
        finished = False
        while not finished:
            given = clock.effort
            finished, left = joining.join(
                ahead, held, other, written[0].joins, back.origin, tails, order, middle, cutoff, every, at, found_costs,
                found, given,
            )  # fmt: skip
            if not finished:
                try:
                    clock.charge(given, left)
                except _OutOfTimeError:
                    break
        count = int(at[joining.FOUND])
        pairs = [
            (float(found_costs[k]), int(found[k, 0]), int(found[k, 1]), int(ahead.numbers[found[k, 2]]))
            for k in np.argsort(found_costs[:count], kind="stable")
        ]
        return pairs, finished

    def _routes(
        self, found: list[tuple[float, Ints]], costs: Floats, rank_one: RankOneDuals | None, bound: float | None,
        finished: bool, labels: int, wanted: int,
    ) -> Routes:  # fmt: skip
        """The routes, those with the same vertices once, at the costs of their arcs."""
        network = self.network
        kept: dict[bytes, tuple[float, Ints]] = {}
        for cost, path in found:
            visited = np.sort(network.heads[path]).tobytes()
            if visited not in kept or cost < kept[visited][0]:
                kept[visited] = (cost, path)
        paths = [path for _, path in sorted(kept.values(), key=lambda pair: pair[0])[:wanted]]
        routes = gathered(paths, network.tails, network.heads, np.zeros(len(paths)), bound, finished, labels)
        paid = np.array([costs[path].sum() for path in paths])
        if rank_one is not None and paths:
            rank_one = RankOneDuals(*rank_one)
            counted = coefficients(rank_one, routes.starts, routes.vertices)
            paid = paid + counted @ np.asarray(rank_one.penalties, dtype=float)
        routes.costs[:] = paid
        return routes

    # --- what the kernels are told -----------------------------------------------------------------------------------

    def _set_neighbourhoods(self, neighbourhoods: ArrayLike | str | None) -> None:
        network, n = self.network, self.network.num_vertices
        if isinstance(neighbourhoods, str) and neighbourhoods != "elementary":
            raise ArrayError(f"neighbourhoods: expected 'elementary', a matrix or None, got {neighbourhoods!r}")
        if neighbourhoods is None:
            matrix = np.zeros((n, n), dtype=bool)
        elif isinstance(neighbourhoods, str):
            matrix = memory.checked(network, memory.complete(network))
        else:
            matrix = memory.checked(network, neighbourhoods)
        inner = np.arange(n)[(np.arange(n) != network.source) & (np.arange(n) != network.sink)]
        self.elementary = bool(matrix[np.ix_(inner, inner)].all())
        if not self.elementary and (self.custom is None or self.custom.order is None):
            self._require_progress()
        self.neighbourhoods = matrix
        self._own = memory.bits(matrix)
        self._ahead = self._direction(network.source, network.tails, network.heads, self._limits, True)
        reversed_limits = self._limits.reversed(network.sink)
        self._back = self._direction(network.sink, network.heads, network.tails, reversed_limits, False)
        self._mirror = self._reflection()

    def _require_progress(self) -> None:
        """Refuse paths that can go round and round for nothing."""
        mine = self._limits
        if mine.critical == mine.compared or not progresses(self.network, mine.consumption[:, mine.critical]):
            raise ArrayError(
                "resources: expected one that never decreases, ends at a finite limit and is consumed on every cycle, "
                "since routes that are not elementary could become longer and longer"
            )

    def _direction(self, origin: int, tails: Ints, heads: Ints, mine: Limits, forwards: bool) -> _Direction:
        network, n = self.network, self.network.num_vertices
        end = network.sink if forwards else network.source
        order = np.lexsort((heads == end, tails))
        custom = self.custom
        lowest, highest, step = mine.lowest, mine.highest, mine.step
        if custom is not None and custom.order is not None:
            lowest, highest, step = custom.order[1], custom.order[2], 0.0
            if not forwards:
                lowest, highest = -highest, -lowest
        length = highest - lowest
        width = min(max(step, length / _FINEST), length / _COARSEST) if length > 0 else 1.0
        common, returning = memory.arc_bits(self.neighbourhoods, self._own, tails[order], heads[order])
        unreachable = np.zeros((0, n, self._own.shape[1]), dtype=np.uint64)
        buckets = int(length / width) + 1
        if mine.critical < mine.compared and (custom is None or custom.order is None):
            c = mine.critical
            between = memory.distances(n, tails, heads, mine.consumption[:, c])
            slack = 1e-9 * (abs(lowest) + abs(highest))
            latest = np.ascontiguousarray(mine.upper[:, c])
            unreachable = memory.unreachable(
                self.neighbourhoods, self._own, between, latest, lowest, width, buckets, slack
            )
        return _Direction(
            origin,
            order,
            tails[order],
            heads[order],
            heads[order] == end,
            mine,
            common,
            returning,
            unreachable,
            lowest,
            width,
            buckets,
            np.zeros(0) if custom is None else custom.start if forwards else custom.start_backward,
        )

    def _side(self, direction: _Direction, costs: Floats, usable: Mask, cuts: Fields, *, relaxed: bool = False) -> Side:
        n, mine, custom = self.network.num_vertices, direction.limits, self.custom
        kept = np.flatnonzero(usable[direction.order])
        tails, order = direction.tails[kept], direction.order[kept]
        first = np.searchsorted(tails, np.arange(n + 1))
        last = np.bincount(tails[direction.skipped[kept]], minlength=n)
        none = np.zeros((self.network.num_arcs, 0)), np.zeros((n, 0))
        components = 0 if custom is None else len(custom.start)
        values = VALUES + mine.consumption.shape[1]
        data = none if custom is None else (custom.arc_data, custom.vertex_data)
        return Side(
            origin=direction.origin,
            first=first[:-1].astype(np.int64),
            end=(first[1:] - last).astype(np.int64),
            heads=direction.heads[kept],
            costs=costs[order],
            numbers=order.astype(np.int64),
            consumption=mine.consumption[order],
            lower=mine.lower,
            upper=mine.upper,
            start=mine.start,
            slack=mine.slack,
            critical=mine.critical,
            rule=_rule(
                compared=min(mine.compared, 1) if relaxed else mine.compared,
                custom=values if components and not relaxed else 0,
                memory=values + components,
                memory_words=self._own.shape[1],
                words=0 if relaxed else self._own.shape[1],
                same_set=False,
                states=values + components + self._own.shape[1],
                state_words=0 if relaxed else cuts.keep.shape[1],
            ),
            lowest=float(direction.lowest),
            width=float(direction.width),
            buckets=direction.buckets,
            own=self._own,
            common=direction.common[kept],
            returning=direction.returning[kept],
            unreachable=direction.unreachable,
            cuts=cuts,
            bounds=np.zeros((0, n)),
            cutoff=math.inf,
            custom=components,
            order=-1 if custom is None or custom.order is None else custom.order[0],
            arc_data=none[0] if data[0] is None else data[0],
            vertex_data=none[1] if data[1] is None else data[1],
            custom_start=direction.custom_start,
        )

    def _functions(self) -> tuple[Functions, Functions]:
        if self.custom is None:
            return functions(), functions()
        mine = self.custom
        return (
            Functions(mine.extend, mine.dominates, mine.joins),
            Functions(mine.backward, mine.dominates_backward, mine.joins),
        )

    def _costs(self, arc_costs: ArrayLike, forbidden: ArrayLike | None) -> tuple[Floats, Mask]:
        network = self.network
        costs = as_floats(arc_costs, "arc_costs", shape=(network.num_arcs,))
        if forbidden is None:
            return costs, np.ones(network.num_arcs, dtype=bool)
        return costs, ~as_booleans(forbidden, "forbidden", shape=(network.num_arcs,))

    def _cheap(self, costs: Floats, usable: Mask) -> Mask:
        """The cheapest arcs out of and into each vertex, and all at the ends."""
        network = self.network
        kept = (network.tails == network.source) | (network.heads == network.sink)
        priced = np.where(usable, costs, np.inf)
        for ends in (network.tails, network.heads):
            order = np.lexsort((priced, ends))
            place = np.arange(len(order)) - np.searchsorted(ends[order], ends[order])
            kept[order[place < _SPARSE]] = True
        return np.asarray(kept)

    # --- networks that are their own reversal ------------------------------------------------------------------------

    def _reflection(self) -> _Mirror | None:
        """Whether the network with its one resource is its own reversal, up to what is counted at which end."""
        network, mine = self.network, self._limits
        if self.custom is not None or mine.consumption.shape[1] != 1 or mine.critical or not mine.compared:
            return None
        upper, lower, start = mine.upper[:, 0], mine.lower[:, 0], mine.start[0]
        if (upper != upper[0]).any() or (lower > start).any():
            return None
        n = network.num_vertices
        swap = np.arange(n)
        swap[[network.source, network.sink]] = network.sink, network.source
        key, mirrored = network.tails * n + network.heads, swap[network.heads] * n + swap[network.tails]
        order = np.argsort(key)
        if (np.diff(key[order]) == 0).any():
            return None
        places = np.searchsorted(key[order], mirrored)
        if (places == len(key)).any() or (key[order[np.minimum(places, len(key) - 1)]] != mirrored).any():
            return None
        arcs = order[places]
        consumption = mine.consumption[:, 0]
        shift = _potential(network, arcs, consumption)
        if shift is None or (shift < 0).any() or (consumption < shift[network.heads]).any():
            return None
        return _Mirror(arcs, shift, float(upper[0] - mine.slack[0]))

    def _mirrored(self, costs: Floats, usable: Mask) -> _Mirror | None:
        mirror = self._mirror
        if mirror is None or (usable != usable[mirror.arcs]).any():
            return None
        return None if _potential(self.network, mirror.arcs, costs) is None else mirror


def _bounded(side: Side, bounds: Floats | None, cutoff: float) -> Side:
    """The same with bounds on what completes a path."""
    return side if bounds is None else side._replace(bounds=bounds, cutoff=cutoff)


def _free(rule: Rule) -> Rule:
    """The rule without cuts."""
    return _rule(**{**rule._asdict(), "state_words": 0})


def _tails(side: Side) -> Ints:
    """Of the arcs as a direction has them."""
    return np.repeat(np.arange(len(side.first)), np.diff(np.append(side.first, len(side.heads))))


def _rule(**what: int) -> Rule:
    """The rule, with a word on whether it is the usual one."""
    what.pop("plain", None)
    usual = what["compared"] == what["words"] == 1 and not (what["custom"] or what["same_set"] or what["state_words"])
    return Rule(**what, plain=usual)  # type: ignore[arg-type]


def _potential(network: Network, mirror: Ints, values: Floats) -> Floats | None:
    """Return p with value(i, j) + p_i = value(j, i) + p_j at all arcs, and 0 at the ends; None if there is none."""
    n = network.num_vertices
    shift = np.zeros(n)
    outer = network.tails == network.source
    shift[network.heads[outer]] = values[outer] - values[mirror[outer]]
    shift[[network.source, network.sink]] = 0.0
    differences = values + shift[network.tails] - values[mirror] - shift[network.heads]
    scale = np.abs(values).max(initial=0.0)
    return shift if np.abs(differences).max(initial=0.0) <= 1e-12 * scale else None


def _reflected(held: Labels, mirror: _Mirror, costs: Floats, network: Network, side: Side) -> Labels:
    """The labels backwards, of those forward, where the network is its own reversal."""
    shift = _potential(network, mirror.arcs, costs)
    assert shift is not None
    end = int(held.at[POOLED])
    words = held.pool_words[:end].copy()
    numbers = words.view(np.float64)
    first, size = held.pool_first.copy(), held.pool_size.copy()
    for vertex in np.flatnonzero(size):
        rows = slice(first[vertex], first[vertex] + size[vertex])
        numbers[rows, 0] -= shift[vertex]
        numbers[rows, VALUES] -= mirror.shift[vertex] + mirror.total + side.start[0]
    ends = [network.source, network.sink]
    first[ends], size[ends] = first[ends[::-1]], size[ends[::-1]]
    return held._replace(pool_words=words, pool_numbers=numbers, pool_first=first, pool_size=size)
