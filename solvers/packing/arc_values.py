"""Arc values of a knapsack network: the best packing that uses each arc."""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite
from colgen.solvers.packing.chains import chain, slide, successors
from colgen.solvers.packing.network import Floats, PackingNetwork
from colgen.solvers.packing.network_arguments import SWEEPS, Arcs, arcs_of, check, portions_of
from colgen.solvers.stopping import Look, look_away

NEVER = -1e30
"""The value of unreachable states."""


def arc_values(net: PackingNetwork, values: Floats, profits: Floats, *, look: Look = look_away) -> Floats:
    """Return the best profit of a packing through each arc, or ``NEVER``."""
    check(net, values, profits)
    m, arcs = net.num_items, arcs_of(net)
    reach = np.empty((m + 1, net.num_states))
    reach[0], reach[0, 0] = NEVER, 0.0
    best = np.full(net.num_arcs, NEVER)
    portions = portions_of(net)
    for first, last in reversed(portions):
        if len(portions) > 1:
            look()
        _forward(first, last, *arcs, profits, reach)
        _through_items(arcs, first, last, values, profits, reach, best)
    return np.where(best < 0.5 * NEVER, NEVER, best)


def arc_work(net: PackingNetwork) -> int:
    """Return the number of elementary steps of :func:`arc_values`."""
    copies = np.where(net.copies * net.widths + net.widths > net.capacity, 1, np.maximum(net.copies, 1))
    return int((net.num_states + np.diff(net.first_arc) * copies).sum())


@njit(cache=True, nogil=True)
def _forward(first_item, last_item, capacity, widths, copies, first_arc, tails, heads, profits, reach):  # type: ignore[no-untyped-def]
    """Write the best profit of pieces of items before i that end at a state, shape (items + 1, states)."""
    for i in range(first_item, last_item):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        before, here = reach[i], reach[i + 1]
        overwrite(here, before)
        if copies[i] * w + w > capacity:
            for k in range(first, last):
                v = here[tails[k]] + profits[k]
                if v > here[heads[k]]:
                    here[heads[k]] = v
        elif copies[i] == 1:
            for k in range(first, last):
                v = before[tails[k]] + profits[k]
                if v > here[heads[k]]:
                    here[heads[k]] = v
        elif copies[i] <= SWEEPS:
            for _ in range(copies[i]):
                for k in range(last - 1, first - 1, -1):
                    v = here[tails[k]] + profits[k]
                    if v > here[heads[k]]:
                        here[heads[k]] = v
        else:
            count = last - first
            following = successors(first, last, tails, heads)
            taken = np.zeros(count, np.bool_)
            states, sums = np.empty(count + 1, np.int64), np.empty(count + 1)
            window = np.empty(count + 1, np.int64)
            for begin in range(count):
                if taken[begin]:
                    continue
                length = chain(begin, first, following, tails, heads, profits, taken, states, sums)
                slide(before, states[: length + 1], -sums[: length + 1], copies[i], window, here)


@njit(cache=True, nogil=True)
def _through_items(
    arcs: Arcs, first_item: int, last_item: int, values: Floats, profits: Floats, reach: Floats, best: Floats
) -> None:
    copies, tails, heads = arcs.copies, arcs.tails, arcs.heads
    for i in range(first_item, last_item):
        first, last = arcs.first_arc[i], arcs.first_arc[i + 1]
        if first == last:
            continue
        free = copies[i] * arcs.widths[i] + arcs.widths[i] > arcs.capacity
        if free or copies[i] == 1:
            # Pieces of i on either side are unlimited or absent.
            before = reach[i + 1] if free else reach[i]
            after = values[i] if free else values[i + 1]
            for k in range(first, last):
                best[k] = before[tails[k]] + profits[k] + after[heads[k]]
            continue
        # A run of pieces from state j of a chain to state l, j <= arc < l <= j + copies, uses all arcs between them.
        count, before, after = last - first, reach[i], values[i + 1]
        following = successors(first, last, tails, heads)
        taken = np.zeros(count, np.bool_)
        states, sums = np.empty(count + 1, np.int64), np.empty(count + 1)
        for begin in range(count):
            if taken[begin]:
                continue
            length = chain(begin, first, following, tails, heads, profits, taken, states, sums)
            numbers = np.empty(length, np.int64)
            k = begin
            for j in range(length):
                numbers[j] = first + k
                k = following[k]
            for j in range(length):
                if before[states[j]] < 0.5 * NEVER:
                    continue
                behind = NEVER
                for end in range(min(j + copies[i], length), j, -1):
                    behind = max(behind, after[states[end]] + (sums[end] - sums[j]))
                    if before[states[j]] + behind > best[numbers[end - 1]]:
                        best[numbers[end - 1]] = before[states[j]] + behind
