"""Paths of so many vertices, no two of one class: walks with penalties and memory, in whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from operator import add
from typing import Any

from colgen.certificate.checker_pricing import (
    NO,
    TABLE_LIMIT,
    CheckerState,
    Place,
    Scored,
    UnreadableError,
    WrongError,
    counted,
    fields,
    table,
    whole,
)


class Paths(Scored):
    """Paths of ``length`` vertices between a source and a sink; a class has one of them at the most.

    A column is the vertices of a path, and costs the weights of its arcs, those of source and sink included.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int, limit: int | None = None) -> None:
        super().__init__(data, ("length", "classes", "first", "last", "weights"))
        self.length, self.limit = whole(data["length"]), limit
        self.classes = [whole(c) for c in data["classes"]]
        n = len(self.classes)
        self.first, self.last = table([data["first"], data["last"]], 2, n)
        self.weights = table(data["weights"], n, n)
        if self.length < 1 or min(self.classes, default=-1) < 0:
            raise WrongError("expected a class of each vertex, and a length")
        if self.length * n > TABLE_LIMIT:
            raise UnreadableError(f"expected a length times vertices of at most {TABLE_LIMIT:,}, not {self.length}")

    def column(self, path: Any) -> tuple[Fraction, dict[int, int]]:
        """Cost and entries of a column: the vertices along a path."""
        if len(path) != self.length or not all(0 <= whole(v) < len(self.classes) for v in path):
            raise WrongError(f"expected a path of {self.length} vertices")
        if len({self.classes[v] for v in path}) < len(path):
            raise WrongError("a path visits a class twice")
        inner = sum(self.weights[u][v] for u, v in pairwise(path))
        total = self.first[path[0]] + inner + self.last[path[-1]]
        if total == NO:
            raise WrongError("a path takes an arc that is not there")
        return Fraction(total, self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """The least reduced cost of all columns, times the duals' denominator: as the claim has it, if it is true."""
        given = state.given
        fields(given, ("most", "penalties", "remembered"))
        most = whole(given["most"])
        if self.above(most, given["penalties"], given["remembered"]) is not None:
            raise WrongError("a walk weighs more than is said of all paths")
        return self.reduced(most, unit)

    def above(self, most: int, penalties: Sequence[int], remembered: Sequence[int]) -> list[int] | None:
        """A heavy walk of more weight than ``most`` that visits no remembered class twice; None: there is none.

        A visit of a class costs its penalty, and all penalties are added to the weight: a path, which visits a class
        once at most, gains by that.  Of remembered classes those that were visited are known, and only theirs are added
        at the end.  What is to come is bounded by a dynamic program backwards, without memory.
        Source: N. Christofides, A. Mingozzi, P. Toth, *State-space relaxation procedures* (1981).
        """
        number = max(self.classes) + 1
        if len(penalties) != number or min(map(whole, penalties)) < 0 or not {*remembered} <= {*range(number)}:
            raise WrongError("expected a penalty of 0 or more for each class, and classes that are remembered")
        kept = set(remembered)
        bits = [1 << c if c in kept else 0 for c in self.classes]
        own = [-penalties[c] for c in self.classes]
        arcs = [list(map(add, row, own)) for row in self.weights]
        for u, row in enumerate(arcs):
            for v, other in enumerate(self.classes):
                row[v] = NO if other == self.classes[u] else row[v]
        rest = [self.last]
        for _ in range(self.length - 1):
            rest.append([max(map(add, row, rest[-1])) for row in arcs])
        needed = most - sum(penalties)
        layer: dict[tuple[int, int], tuple[Any, Any]] = {
            (v, bits[v]): (gain, None)
            for v, gain in enumerate(map(add, self.first, own))
            if gain + rest[-1][v] > needed
        }
        layers, count = [layer], len(layer)
        for to_come in reversed(rest[:-1]):
            below: dict[tuple[int, int], tuple[Any, Any]] = {}
            for (u, seen), (value, _) in layer.items():
                for v, gain in enumerate(map(add, arcs[u], to_come)):
                    if value + gain > needed and not seen & bits[v]:
                        key, worth = (v, seen | bits[v]), value + arcs[u][v]
                        if key not in below or worth > below[key][0]:
                            below[key] = worth, (u, seen)
                counted(count + len(below), self.limit, "walks")
            layer = below
            layers.append(layer)
            count += len(layer)
        weight = {}
        for (v, seen), (value, _) in layer.items():
            total = value + self.last[v] - sum(penalties[c] for c in kept if not seen >> c & 1)
            if total > needed:
                weight[v, seen] = total
        if not weight:
            return None
        at, walk = max(weight, key=weight.__getitem__), list[int]()
        for layer in reversed(layers):
            walk.append(at[0])
            at = layer[at][1]
        return walk[::-1]
