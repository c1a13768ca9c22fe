"""Paths of a given length with at most one vertex per class: walks with penalties and memory, in integers."""

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
    check_count,
    fields,
    integer,
    table,
)


class Paths(Scored):
    """Paths of ``length`` vertices between a source and a sink, with at most one vertex of each class.

    A column is a list of vertices, and costs the weights of its arcs, including those of source and sink.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int, limit: int | None = None) -> None:
        super().__init__(data, ("length", "classes", "first", "last", "weights"))
        self.length, self.limit = integer(data["length"]), limit
        self.classes = [integer(c) for c in data["classes"]]
        n = len(self.classes)
        self.first, self.last = table([data["first"], data["last"]], 2, n)
        self.weights = table(data["weights"], n, n)
        if self.length < 1 or min(self.classes, default=-1) < 0:
            raise WrongError("expected a class for each vertex, and a positive length")
        if self.length * n > TABLE_LIMIT:
            raise UnreadableError(f"expected a length times vertices of at most {TABLE_LIMIT:,}, not {self.length}")

    def column(self, path: Any) -> tuple[Fraction, dict[int, int]]:
        if len(path) != self.length or not all(0 <= integer(v) < len(self.classes) for v in path):
            raise WrongError(f"expected a path of {self.length} vertices")
        if len({self.classes[v] for v in path}) < len(path):
            raise WrongError("a path visits a class twice")
        inner = sum(self.weights[u][v] for u, v in pairwise(path))
        total = self.first[path[0]] + inner + self.last[path[-1]]
        if total == NO:
            raise WrongError("a path uses an arc that does not exist")
        return Fraction(total, self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return the least reduced cost times the denominator of the duals, as stated by the claim, if it is valid."""
        given = state.given
        fields(given, ("most", "penalties", "remembered"))
        most = integer(given["most"])
        if self.above(most, given["penalties"], given["remembered"]) is not None:
            raise WrongError("a walk weighs more than the stated maximum")
        return self.reduced(most, unit)

    def above(self, most: int, penalties: Sequence[int], remembered: Sequence[int]) -> list[int] | None:
        """Return a walk of more weight than ``most`` that visits no remembered class twice, or None.

        A visit of a class costs its penalty, and all penalties are added to the weight. This never decreases the weight
        of a path, which visits a class at most once. For remembered classes the visits are known, so only their
        penalties are added at the end. A backward dynamic program without memory bounds the rest of a walk. Source: N.
        Christofides, A. Mingozzi, P. Toth, *State-space relaxation procedures* (1981).
        """
        number = max(self.classes) + 1
        if len(penalties) != number or min(map(integer, penalties)) < 0 or not {*remembered} <= {*range(number)}:
            raise WrongError("expected a nonnegative penalty for each class, and remembered classes that exist")
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
                check_count(count + len(below), self.limit, "walks")
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
