"""One problem: a state graph with costs, memory and limits."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from colgen.solvers.paths.acyclic import distances, labels
from colgen.solvers.paths.acyclic.labels import Labels, Memory, Search
from colgen.solvers.paths.acyclic.states import Floats, Graph, Ints, Shorts
from colgen.solvers.paths.labelling.boxes import Boxes, box_charge, lay_out
from colgen.solvers.paths.labelling.clock import Clock, LabelLimitError, OutOfEffortError
from colgen.solvers.paths.labelling.directions import rule
from colgen.solvers.paths.labelling.layout import Words
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import Fields, fields

Found = tuple[list[tuple[float, Ints]], int]
"""Routes as arcs between states, with costs, and the number of labels."""

_SMALL = 20_000_000
"""Effort of a search with bounds from paths without memory: some tenths of a second."""

_CHUNKS = 64
"""Number of parts in which each direction of a search advances."""

_LABELS_PER_ROUTE = 20
"""Most labels of an enumeration, relative to the most routes."""

_ROUNDING = 1e-9
"""Relative rounding error of the cost of a path."""


class Remembered(NamedTuple):
    """What paths remember of the network's vertices; see :class:`colgen.solvers.paths.acyclic.labels.Memory`."""

    own: Words
    kept: Words
    kept_after: Words
    joint: Words


class Bounds(NamedTuple):
    """Least costs of paths from the source to each state, and from each state to the sink."""

    ahead: Floats
    back: Floats


class Task(NamedTuple):
    """A state graph, the costs of its arcs, memory and limits."""

    network: Network
    graph: Graph
    costs: Floats
    remembered: Remembered
    boxes: Boxes
    cuts: Fields
    clock: Clock
    max_labels: int

    # --- without memory ----------------------------------------------------------------------------------------------

    def shortest(self) -> tuple[Bounds, Shorts, Shorts]:
        """Return the distances without memory, and the last and first arcs of shortest paths."""
        count = len(self.graph.vertices)
        ahead, back = np.empty(count), np.empty(count)
        over, onwards = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        if count:
            distances.distances_from_source(self.graph, self.costs, ahead, over)
            distances.distances_to_sink(self.graph, self.costs, back, onwards)
        return Bounds(ahead, back), over, onwards

    @property
    def plain(self) -> bool:
        """Whether neither vertices, boxes nor cuts are remembered."""
        return not (self.remembered.own.shape[1] or self.boxes.own.shape[1] or self.cuts.keep.shape[1])

    # --- searches ----------------------------------------------------------------------------------------------------

    def price(self, wanted: int, cutoff: float, exact: bool) -> Found:
        """Return routes below a cutoff; not the cheapest unless ``exact``."""
        bounds, over, onwards = self.shortest()
        if not len(bounds.ahead) or bounds.ahead[-1] >= cutoff:
            return [], 0
        if self.plain:
            through = bounds.ahead + bounds.back
            order = np.flatnonzero(through < cutoff)
            order = order[np.argsort(through[order], kind="stable")]
            paths = distances.paths_through(self.graph, over, onwards, order, wanted)
            return [(float(self.costs[path].sum()), path) for path in paths], 0
        if not exact:
            return self._meet(self.memory(relaxed=True), bounds, wanted, cutoff)
        rough, made = self._meet(self.memory(relaxed=True), bounds, 1, cutoff) if wanted == 1 else ([], 0)
        if rough:
            cutoff = min(cutoff, rough[0][0] + _ROUNDING * (1.0 + abs(rough[0][0])))
        left, self.clock.left = self.clock.left, min(self.clock.left, _SMALL)
        try:
            found, more = self._meet(self.memory(), bounds, wanted, cutoff)
        except OutOfEffortError:
            self.clock.left = left - _SMALL
            found, more = self._meet(self.memory(), self.tighten(bounds, cutoff), wanted, cutoff)
        return found or rough, made + more

    def tighten(self, bounds: Bounds, cutoff: float) -> Bounds:
        """Return bounds from paths with memory, but without cuts and boxes."""
        if not self.remembered.own.shape[1] or cutoff == math.inf:
            return bounds
        free = lay_out(None, self.network, 0), fields(None, self.network.num_vertices)
        memory = self._replace(boxes=free[0], cuts=free[1]).memory()
        held, rest = (self._settle(memory, bounds, cutoff, backward) for backward in (False, True))
        least = (
            np.where(each.size > 0, each.costs[np.minimum(each.first, each.at[labels.USED] - 1)], math.inf)
            for each in (held, rest)
        )
        return Bounds(*least)

    def through(self, cutoff: float) -> Floats:
        """Return the least cost of a route over each arc, at most the cutoff."""
        found = np.full(len(self.graph.tails), cutoff)
        bounds, _, _ = self.shortest()
        if self.plain:
            if len(found):
                distances.least_through(self.graph, self.costs, bounds.ahead, bounds.back, found)
            return found
        if not len(found) or bounds.ahead[-1] >= cutoff:
            return found
        bounds, memory = self.tighten(bounds, cutoff), self.memory()
        held, rest = (self._settle(memory, bounds, cutoff, backward) for backward in (False, True))
        found[:], _ = self._join(memory, held, rest, np.arange(len(found)), cutoff)
        return found

    def enumerate(self, compared: Floats, gap: float, limit: int, elementary: Remembered) -> tuple[Found, bool]:
        """Return elementary routes below a gap, per vertex set the one with least ``compared``; and if all are there.

        ``elementary`` has no words, or those of the task's own memory.
        """
        bounds, _, _ = self.shortest()
        if not len(bounds.ahead) or bounds.ahead[-1] >= gap:
            return ([], 0), True
        if self.plain:
            paths = distances.paths_below(self.graph, self.costs, bounds.back, gap, limit)
            cheapest: dict[bytes, tuple[float, Ints]] = {}
            for path in paths:
                visited = np.sort(self.graph.vertices[self.graph.heads[path]]).tobytes()
                own = float(compared[path].sum())
                if visited not in cheapest or own < cheapest[visited][0]:
                    cheapest[visited] = own, path
            listed = [(float(self.costs[path].sum()), path) for _, path in cheapest.values()]
            return (listed, 0), len(paths) <= limit
        rest, memory = None, self._replace(remembered=elementary).memory()
        if elementary.own.shape[1]:
            bounds = self.tighten(bounds, gap)
            rest = self._settle(self.memory(), bounds, gap, backward=True)
        bits, number = memory.own.copy(), 0 if elementary.own.shape[1] else -1
        bits[self.network.sink] = 0  # bits of boxes that no visit has cleared
        memory = memory._replace(own=bits, rule=memory.rule._replace(same_set=True, compared=number))
        most = _LABELS_PER_ROUTE * limit + 1_000_000
        held = self._settle(memory, bounds, gap, rest=rest, compared=compared, most=most, last=True)
        ends = range(int(held.first[-1]), int(held.first[-1] + held.size[-1]))
        best: dict[bytes, tuple[float, float, Ints]] = {}
        for label in ends:
            if len(best) > limit:
                break
            own_cost, cost = float(held.compared[label]), float(held.costs[label])
            if len(memory.boxes.charge):
                cost += box_charge(memory.boxes, 0, held.words, label, held.words, label)
            path = _trace(held, self.graph.tails, label)
            visited = np.sort(self.graph.vertices[self.graph.heads[path]]).tobytes()
            if cost < gap and (visited not in best or (own_cost, cost) < best[visited][:2]):
                best[visited] = own_cost, cost, path
        found = [(cost, path) for _, cost, path in best.values()]
        return (found, int(held.at[labels.USED])), len(best) <= limit

    # --- labels ------------------------------------------------------------------------------------------------------

    def memory(self, *, relaxed: bool = False) -> Memory:
        """Return what labels remember; ``relaxed`` keeps one label per state."""
        mine, boxes, cuts = self.remembered, self.boxes, self.cuts
        words = mine.own.shape[1] + boxes.own.shape[1]
        every = np.full_like(boxes.own, ~np.uint64(0))
        return Memory(
            own=np.hstack([mine.own, boxes.own]),
            refused=np.hstack([mine.own, boxes.refused]),
            kept=np.hstack([mine.kept, boxes.kept]),
            kept_after=np.hstack([mine.kept_after, every]),
            joint=np.hstack([mine.joint, np.zeros_like(boxes.own)]),
            cuts=cuts,
            boxes=boxes.fields,
            rule=rule(
                compared=0, custom=0, memory=0, memory_words=words, words=0 if relaxed else words, same_set=False,
                states=words, state_words=0 if relaxed else cuts.keep.shape[1],
            ),
        )  # fmt: skip

    def _meet(self, memory: Memory, bounds: Bounds, wanted: int, cutoff: float) -> Found:
        """Return routes joined from labels of both directions, at most one per arc between them."""
        count = len(self.graph.vertices)
        held, rest = (labels.start(self.graph, memory, backward, False) for backward in (False, True))
        step = max(1, count // _CHUNKS)
        while held.at[labels.STATE] <= rest.at[labels.STATE]:
            left = int(rest.at[labels.STATE] - held.at[labels.STATE]) + 1
            if held.at[labels.USED] <= rest.at[labels.USED]:
                held = self._advance(memory, held, bounds, cutoff, False, int(held.at[labels.STATE]) + min(step, left))
            else:
                rest = self._advance(memory, rest, bounds, cutoff, True, int(rest.at[labels.STATE]) - min(step, left))
        middle = held.at[labels.STATE]
        crossing = np.flatnonzero((self.graph.tails < middle) & (self.graph.heads >= middle))
        costs, pairs = self._join(memory, held, rest, crossing, cutoff)
        best = np.argsort(costs, kind="stable")[: min(4 * wanted, int((costs < cutoff).sum()))]
        found = []
        for k in best.tolist():
            onwards = _trace(rest, self.graph.heads, int(pairs[k, 1]))[::-1]
            path = np.concatenate([_trace(held, self.graph.tails, int(pairs[k, 0])), crossing[k : k + 1], onwards])
            found.append((float(costs[k]), path))
        return found, int(held.at[labels.USED] + rest.at[labels.USED])

    def _settle(
        self, memory: Memory, bounds: Bounds, cutoff: float, backward: bool = False, *, rest: Labels | None = None,
        compared: Floats | None = None, most: float = math.inf, last: bool = False,
    ) -> Labels:  # fmt: skip
        """Return the labels of all states, the last one only if ``last``."""
        held = labels.start(self.graph, memory, backward, compared is not None)
        until = 0 if backward else len(self.graph.vertices) - 1 + last
        return self._advance(memory, held, bounds, cutoff, backward, until, rest=rest, compared=compared, most=most)

    def _advance(
        self, memory: Memory, held: Labels, bounds: Bounds, cutoff: float, backward: bool, until: int, *,
        rest: Labels | None = None, compared: Floats | None = None, most: float = math.inf,
    ) -> Labels:  # fmt: skip
        none = np.zeros(0) if compared is None else compared
        search = Search(self.costs, none, bounds.ahead if backward else bounds.back, cutoff, backward)
        others = labels.nothing(memory) if rest is None else rest
        while True:
            given = self.clock.effort
            status, left = labels.advance(self.graph, memory, search, held, others, until, given)
            if status == labels.DONE:
                self.clock.spend(given, left)
                return held
            self.clock.charge(given, left)
            if status == labels.MORE_LABELS:
                if len(held.costs) > min(most, self.max_labels):
                    raise LabelLimitError(f"max_labels: the search needs more than {len(held.costs)} labels")
                held = labels.enlarge(held)

    def _join(self, memory: Memory, held: Labels, rest: Labels, arcs: Ints, cutoff: float) -> tuple[Floats, Ints]:
        """Return the least cost of joined labels over each arc, at most the cutoff, and the two labels."""
        found, pairs = np.full(len(arcs), cutoff), np.zeros((len(arcs), 2), dtype=np.int64)
        at = np.zeros(1, dtype=np.int64)
        while True:
            given = self.clock.effort
            status, left = labels.join(
                self.graph, memory, self.costs, held, rest, arcs, cutoff, at, found, pairs, given
            )
            if status == labels.DONE:
                self.clock.spend(given, left)
                return found, pairs
            self.clock.charge(given, left)


def _trace(held: Labels, ends: Shorts, label: int) -> Ints:
    """Return the arcs of a label's path, in the order of the network."""
    arcs = []
    while held.arcs[label] >= 0:
        arcs.append(int(held.arcs[label]))
        label = int(held.previous[label])
    return np.array(arcs[::-1], dtype=np.int64)
