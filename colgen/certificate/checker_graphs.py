"""Stable sets: a tree of subsets, bounded by clique covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from colgen.certificate.checker_pricing import CheckerState, Place, WrongError, exact, fields, integer


class StableSets:
    """Sets of vertices without neighbours. A set covers the rows of its vertices and costs ``cost``."""

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        fields(data, ("cost", "edges"), ("kind", "uses"))
        self.number = number
        self.cost = exact(data["cost"])
        self.near = [0] * num_rows  # the neighbours of each vertex, as bits
        for u, v in data["edges"]:
            if not (0 <= integer(u) < num_rows and 0 <= integer(v) < num_rows and u != v):
                raise WrongError(f"an edge joins {u} and {v}")
            self.near[u] |= 1 << v
            self.near[v] |= 1 << u

    def prices(self) -> list[Fraction]:
        return [self.cost]

    def subtracts(self, row: int) -> bool:
        return False

    def column(self, structure: Any) -> tuple[Fraction, dict[int, int]]:
        members = 0
        for v in structure:
            if not 0 <= integer(v) < len(self.near) or members >> v & 1:
                raise WrongError(f"vertex {v} does not exist or occurs twice")
            if members & self.near[v]:
                raise WrongError(f"vertex {v} has a neighbour in its set")
            members |= 1 << v
        return self.cost, dict.fromkeys(structure, 1)

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return the least reduced cost of the node's columns, at most 0, times the denominator of the duals.

        Merged vertices are one vertex, and separated ones are neighbours.
        """
        of, near, weights = list(range(len(self.near))), [0] * len(self.near), [0] * len(self.near)
        for u, v, together in state.pairs:
            if together:
                of = [of[u] if group == of[v] else group for group in of]
        for v, (mask, dual) in enumerate(zip(self.near, duals, strict=True)):
            weights[of[v]] += dual
            for u in _bits(mask):
                near[of[v]] |= 1 << of[u]
        for u, v, together in state.pairs:
            if not together:
                near[of[u]] |= 1 << of[v]
                near[of[v]] |= 1 << of[u]
        # A vertex merged with a neighbour is in no set.
        free = [0 if near[v] >> v & 1 else weight for v, weight in enumerate(weights)]
        return Fraction(unit * self.cost - heaviest(near, free, unit * self.cost))


def heaviest(near: Sequence[int], weights: Sequence[int], known: Any = 0) -> Any:
    """Return the weight of the heaviest stable set, or ``known`` if none is heavier.

    In a cover each vertex distributes its weight to cliques that contain it, so a stable set weighs at most as much as
    all cliques together. Source: S. Held, W. Cook, E. C. Sewell, *Maximum-weight stable sets and safe lower bounds for
    graph coloring*, Mathematical Programming Computation 4 (2012).
    """
    order = sorted((v for v in range(len(weights)) if weights[v] > 0), key=lambda v: near[v].bit_count())
    place = {v: k for k, v in enumerate(order)}
    gain = [weights[v] for v in order]
    mask = [sum(1 << place[w] for w in _bits(near[v]) if w in place) for v in order]
    best = known
    stack = [((1 << len(order)) - 1, 0)]
    while stack:
        left, weight = stack.pop()
        best = max(best, weight)
        # Cover vertices while the weight of the cliques is within the limit; branch on the others.
        room, rest = best - weight, left
        open_ = dict(zip(found := _bits(left), [gain[v] for v in found], strict=True))
        while rest:
            v = min(open_, key=open_.__getitem__)
            lightest = open_[v]
            if lightest > room:
                break
            clique, grown = [v], rest & mask[v]
            while grown:
                u = (grown & -grown).bit_length() - 1
                clique.append(u)
                grown &= mask[u]
            room -= lightest
            for u in clique:
                open_[u] -= lightest
                if not open_[u]:
                    del open_[u]
                    rest &= ~(1 << u)
        covered = left & ~rest
        for v in sorted(open_, key=gain.__getitem__):  # the sets whose last branched vertex is v
            stack.append((covered & ~mask[v], weight + gain[v]))
            covered |= 1 << v
    return best


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        found.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return found
