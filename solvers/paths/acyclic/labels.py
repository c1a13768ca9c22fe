"""Labels: paths in a state graph that remember vertices.

Labels at a state are sorted by cost.  One dominates another if it costs no more, and remembers no vertex and owes no
cut that the other does not.  The states are settled in topological order, forward from the source or backward from the
sink.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colgen.solvers.kernels import inner, kernel
from colgen.solvers.paths.acyclic.states import Floats, Graph, Ints, Shorts
from colgen.solvers.paths.labelling.boxes import BoxFields, box_charge
from colgen.solvers.paths.labelling.dominance import slack_left
from colgen.solvers.paths.labelling.extension import visit
from colgen.solvers.paths.labelling.joins import overflows
from colgen.solvers.paths.labelling.layout import Rule, Words
from colgen.solvers.paths.labelling.rank_one import Fields

STATE, USED, WANTED = range(3)
"""Entries of ``Labels.at``: the next state, number of labels, and labels that more memory must hold."""

DONE, PAUSED, MORE_LABELS = range(3)


class Memory(NamedTuple):
    """What labels remember, by vertex: words of bits for vertices and boxes, and states of cuts.

    * ``own``: bits that a visit sets.
    * ``refused``: bits that forbid the visit.
    * ``kept``, ``kept_after``: bits kept on arcs into a vertex, and out of it.
    * ``joint``: bits that two joined labels may not share, on arcs into a vertex and out of it.
    * ``cuts``, ``boxes``: rank-1 cuts and boxes.
    * ``rule``: words compared by dominance, and the place of the cuts' states; ``compared`` -1: no dominance.
    """

    own: Words
    refused: Words
    kept: Words
    kept_after: Words
    joint: Words
    cuts: Fields
    boxes: BoxFields
    rule: Rule


class Labels(NamedTuple):
    """The labels of a direction.

    * ``at``: progress.
    * ``first``, ``size``: the labels of each state.
    * ``costs``, ``words``: cost and memory of each label.
    * ``compared``: second cost, which dominance compares in enumerations; empty otherwise.
    * ``previous``, ``arcs``: the label before, and the arc to it; -1 at the start.
    * ``order``, ``spare_costs``, ``spare_words``, ``spare_previous``, ``spare_arcs``: buffers.
    """

    at: Ints
    first: Ints
    size: Shorts
    costs: Floats
    words: Words
    compared: Floats
    previous: Shorts
    arcs: Shorts
    order: Shorts
    spare_costs: Floats
    spare_words: Words
    spare_compared: Floats
    spare_previous: Shorts
    spare_arcs: Shorts


class Search(NamedTuple):
    """Data of a direction: costs of arcs, bounds on the rest of a path by state, and the cutoff.

    * ``compared``: second costs of arcs, or empty.
    """

    costs: Floats
    compared: Floats
    bounds: Floats
    cutoff: float
    backward: bool


_FIRST = 1 << 12


def start(graph: Graph, memory: Memory, backward: bool, comparing: bool) -> Labels:
    """Return the label at the first state of a direction."""
    count, width = len(graph.first) - 1, memory.own.shape[1] + memory.cuts.keep.shape[1]
    origin = count - 1 if backward else 0
    floats, words = (np.empty(_FIRST) for _ in range(2)), (np.empty((_FIRST, width), dtype=np.uint64) for _ in range(2))
    ints = (np.empty(_FIRST, dtype=np.int32) for _ in range(5))
    costs, spare_costs = floats
    mine, spare = words
    previous, arcs, order, spare_previous, spare_arcs = ints
    compared, spare_compared = (np.zeros(_FIRST if comparing else 0) for _ in range(2))
    costs[0], previous[0], arcs[0] = 0.0, -1, -1
    mine[0] = 0
    mine[0, : memory.own.shape[1]] = memory.own[graph.vertices[origin]]
    first, size = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int32)
    size[origin] = 1
    at = np.array([origin - 1 if backward else 1, 1, 0], dtype=np.int64)
    return Labels(
        at, first, size, costs, mine, compared, previous, arcs, order, spare_costs, spare, spare_compared,
        spare_previous, spare_arcs,
    )  # fmt: skip


def nothing(memory: Memory) -> Labels:
    """Return the labels of no state."""
    width = memory.own.shape[1] + memory.cuts.keep.shape[1]
    floats, words, ints = np.zeros(0), np.zeros((0, width), dtype=np.uint64), np.zeros(0, dtype=np.int32)
    wide = np.zeros(0, dtype=np.int64)
    return Labels(wide, wide, ints, floats, words, floats, ints, ints, ints, floats, words, floats, ints, ints)


_GROWING = ("costs", "words", "compared", "previous", "arcs")
_BUFFERS = ("order", "spare_costs", "spare_words", "spare_compared", "spare_previous", "spare_arcs")


def enlarge(held: Labels) -> Labels:
    """Return the labels with more memory."""
    size = max(2 * len(held.costs), int(held.at[WANTED]))
    longer = {}
    for name in _GROWING + _BUFFERS:
        array = getattr(held, name)
        if name.endswith("compared") and not len(array):
            continue
        longer[name] = np.empty((size, *array.shape[1:]), dtype=array.dtype)
        if name in _GROWING:
            longer[name][: held.at[USED]] = array[: held.at[USED]]
    return held._replace(**longer)


@inner
def _dominated(rule: Rule, cuts: Fields, comparing: bool, held: Labels, base: int, end: int, row: int) -> bool:
    """Return whether one of the first ``end`` labels in order, which cost no more, dominates a label."""
    words, cost = held.words, held.costs[row]
    if rule.compared < 0:
        return False
    for k in range(end):
        other = base + held.order[k]
        fits = True
        for w in range(rule.words):
            more = words[other, w] & ~words[row, w]
            if more != 0 or (rule.same_set and words[other, w] != words[row, w]):
                fits = False
                break
        if not fits or (comparing and held.compared[other] > held.compared[row]):
            continue
        if rule.state_words and slack_left(rule, cuts, words, other, words, row, cost - held.costs[other]) < 0.0:
            continue
        return True
    return False


@inner
def _insert(rule: Rule, cuts: Fields, comparing: bool, held: Labels, base: int, count: int, row: int) -> int:
    """Insert a label into the order unless it is dominated; remove those that it dominates.  Return the new count."""
    order, costs, words = held.order, held.costs, held.words
    cost = costs[row]
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if costs[base + order[middle]] <= cost:
            low = middle + 1
        else:
            high = middle
    if _dominated(rule, cuts, comparing, held, base, low, row):
        return -1
    kept = low
    for k in range(low, count):
        other = base + order[k]
        fits = rule.compared >= 0
        for w in range(rule.words):
            more = words[row, w] & ~words[other, w]
            if more != 0 or (rule.same_set and words[other, w] != words[row, w]):
                fits = False
                break
        if fits and comparing and held.compared[row] > held.compared[other]:
            fits = False
        if fits and rule.state_words and slack_left(rule, cuts, words, row, words, other, costs[other] - cost) < 0.0:
            fits = False
        if not fits:
            order[kept] = order[k]
            kept += 1
    for k in range(kept, low, -1):
        order[k] = order[k - 1]
    order[low] = row - base
    return kept + 1


@inner
def _sort(held: Labels, base: int, count: int) -> None:
    """Move the labels of a state to its start, in order."""
    for k in range(count):
        label = base + held.order[k]
        held.spare_costs[k], held.spare_previous[k] = held.costs[label], held.previous[label]
        held.spare_arcs[k] = held.arcs[label]
        for w in range(held.words.shape[1]):
            held.spare_words[k, w] = held.words[label, w]
        if len(held.compared):
            held.spare_compared[k] = held.compared[label]
    for k in range(count):
        label = base + k
        held.costs[label], held.previous[label] = held.spare_costs[k], held.spare_previous[k]
        held.arcs[label] = held.spare_arcs[k]
        for w in range(held.words.shape[1]):
            held.words[label, w] = held.spare_words[k, w]
        if len(held.compared):
            held.compared[label] = held.spare_compared[k]


@inner
def _extend(graph: Graph, memory: Memory, held: Labels, label: int, before: int, state: int, row: int) -> float:
    """Write the memory of a label's extension to a state and return its payment for cuts; infinity if it is refused."""
    words, size = held.words, memory.own.shape[1]
    if not graph.visits[state]:
        for w in range(words.shape[1]):
            words[row, w] = words[label, w]
        return 0.0
    vertex = graph.vertices[state]
    for w in range(size):
        if words[label, w] & memory.refused[vertex, w] != 0:
            return np.inf
    for w in range(size):
        kept = words[label, w] & memory.kept[vertex, w] & memory.kept_after[before, w]
        words[row, w] = kept | memory.own[vertex, w]
    if memory.cuts.keep.shape[1]:
        return visit(memory.cuts, size, vertex, words, label, words, row)
    return 0.0


@inner
def _least_join(
    graph: Graph, memory: Memory, mine: Labels, one: int, tail: int, theirs: Labels, state: int, cost: float,
    best: float,
) -> tuple[float, int, int]:  # fmt: skip
    """Return the least cost below ``best`` of a label joined with one at a state of the other direction.

    ``cost`` includes the arc between them, ``tail`` is the label's vertex.  Also return the other label, -1 if there is
    none, and the number of labels examined.
    """
    found, first, words = -1, theirs.first[state], memory.own.shape[1]
    vertex = graph.vertices[state]
    looked = 0
    for other in range(first, first + theirs.size[state]):
        total = cost + theirs.costs[other]
        if total >= best:
            break
        looked += 1
        fits = True
        for w in range(words):
            shared = mine.words[one, w] & theirs.words[other, w]
            if shared & (memory.joint[tail, w] | memory.joint[vertex, w]) != 0:
                fits = False
                break
        if not fits:
            continue
        if memory.cuts.keep.shape[1]:
            total += overflows(memory.cuts, mine.words, words, one, theirs.words, other, vertex)
        if len(memory.boxes.charge):
            total += box_charge(memory.boxes, np.int64(0), mine.words, one, theirs.words, other)
        if total < best:
            best, found = total, other
    return best, found, looked


@inner
def _settle(
    graph: Graph, memory: Memory, search: Search, held: Labels, rest: Labels, state: int, effort: int
) -> tuple[int, int]:
    """Settle the labels of a state.  Return their number, -1 if they do not fit into memory, and the effort left."""
    rule, cuts = memory.rule, memory.cuts
    comparing, joining = len(held.compared) > 0, len(rest.size) > 0
    costs, compared, base, bound = held.costs, held.compared, held.at[USED], search.bounds[state]
    first, end = graph.first[state], graph.first[state + 1]
    if search.backward:
        first, end = graph.first_out[state], graph.first_out[state + 1]
    row, count = base, 0
    for k in range(first, end):
        arc = np.int64(graph.out[k]) if search.backward else k
        near = np.int64(graph.heads[arc]) if search.backward else np.int64(graph.tails[arc])
        vertex, label = graph.vertices[near], held.first[near]
        more, last = search.costs[arc], held.first[near] + held.size[near]
        while label < last:
            total = costs[label] + more
            if total + bound >= search.cutoff:
                break
            effort -= 1
            if row >= len(costs):
                return -1, effort
            paid = _extend(graph, memory, held, label, vertex, state, row)
            total += paid
            if total + bound < search.cutoff:
                costs[row], held.previous[row], held.arcs[row] = total, label, arc
                if comparing:
                    compared[row] = compared[label] + search.compared[arc]
                placed = _insert(rule, cuts, comparing, held, base, count, row)
                effort -= count // 4
                if placed >= 0:
                    fits = True
                    if joining:
                        # a completion by a label of the other direction, joined over the same arc
                        started = costs[label] + more
                        _, other, looked = _least_join(
                            graph, memory, held, label, vertex, rest, state, started, search.cutoff
                        )
                        effort -= looked
                        fits = other >= 0
                    if fits:
                        count = placed
                        row += 1
                    else:
                        count = _remove(held, placed, row - base)
            label += 1
    _sort(held, base, count)
    return count, effort


@inner
def _remove(held: Labels, count: int, row: int) -> int:
    """Remove a label from the order."""
    kept = 0
    for k in range(count):
        if held.order[k] != row:
            held.order[kept] = held.order[k]
            kept += 1
    return kept


@kernel
def advance(
    graph: Graph, memory: Memory, search: Search, held: Labels, rest: Labels, until: int, effort: int
) -> tuple[int, int]:
    """Settle states up to ``until``, exclusive.  Return status and effort left.

    ``rest``: labels of the other direction; a label is kept only if one of them completes it below the cutoff.
    """
    at, step = held.at, -1 if search.backward else 1
    while at[STATE] != until:
        state = at[STATE]
        held.first[state], held.size[state] = at[USED], 0
        count, effort = _settle(graph, memory, search, held, rest, state, effort)
        if count < 0:
            at[WANTED] = 2 * len(held.costs)
            return MORE_LABELS, effort
        held.size[state] = count
        at[USED] += count
        at[STATE] += step
        if effort <= 0:
            return PAUSED, effort
    return DONE, effort


@kernel
def join(
    graph: Graph, memory: Memory, costs: Floats, held: Labels, rest: Labels, crossing: Ints, cutoff: float, at: Ints,
    found: Floats, pairs: Ints, effort: int,
) -> tuple[int, int]:  # fmt: skip
    """Write the least cost below ``cutoff`` of joined labels over each arc, and the two labels.

    ``at`` is the progress: the number of arcs done.
    """
    while at[0] < len(crossing):
        arc = crossing[at[0]]
        tail, head = np.int64(graph.tails[arc]), np.int64(graph.heads[arc])
        best, vertex = cutoff, graph.vertices[tail]
        if rest.size[head] > 0:
            least = rest.costs[rest.first[head]]
            for label in range(held.first[tail], held.first[tail] + held.size[tail]):
                cost = held.costs[label] + costs[arc]
                if cost + least >= best:
                    break
                best, other, looked = _least_join(graph, memory, held, label, vertex, rest, head, cost, best)
                effort -= looked + 1
                if other >= 0:
                    pairs[at[0], 0], pairs[at[0], 1] = label, other
        found[at[0]] = best
        at[0] += 1
        if effort <= 0:
            return PAUSED, effort
    return DONE, effort
