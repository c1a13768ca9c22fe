"""Segmentations, constituency trees, alignments and monotone chains: derivations of a hypergraph with potentials.

The checker builds the hypergraph from the scores. A vertex is a partial structure. Each of its edges is a way to make
it from earlier vertices, the tails, and adds a score. The last vertex is the goal, the complete structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from colgen.certificate.checker_pricing import (
    NO,
    CheckerState,
    Place,
    Scored,
    WrongError,
    check_count,
    fields,
    integer,
    table,
)

Edge = tuple[Any, tuple[int, ...]]
"""The score, or ``NO``, and the tails."""


class Derivations(Scored):
    """Derivations of the goal. A column lists the number of the edge of each vertex, each before those of its tails.

    The tails of an edge follow in their order, each with all that is below it.
    """

    arrays: tuple[str, ...]
    """Names of the scores in the instance."""

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        super().__init__(data, self.arrays)
        self.vertices: list[list[Edge]] = []
        self._edges = 0
        self.build(*(data[name] for name in self.arrays))

    def build(self, *arrays: Any) -> None:
        """Add all vertices, the goal last."""
        raise NotImplementedError

    def add(self, edges: Iterable[Edge]) -> int:
        """Add a vertex whose tails exist; return its number."""
        own = list(edges)
        self._edges += len(own)
        check_count(self._edges, None, "edges")
        self.vertices.append(own)
        return len(self.vertices) - 1

    def column(self, structure: Any) -> tuple[Fraction, dict[int, int]]:
        total, stack = 0, [len(self.vertices) - 1]
        for number in structure:
            edges = self.vertices[stack.pop()] if stack else ()
            if not 0 <= integer(number) < len(edges):
                raise WrongError(f"a derivation has the edge {number} of a vertex with {len(edges)} edges")
            score, tails = edges[number]
            if score == NO:
                raise WrongError("a part of a derivation is forbidden")
            total += score
            stack += reversed(tails)
        if stack:
            raise WrongError("a derivation ends early")
        return Fraction(total, self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return the least reduced cost times the denominator of the duals, as the potential of the goal bounds it.

        The potential of a vertex is at least the score of each edge plus the potentials of its tails, and null only if
        there is no such edge. So no derivation of a vertex scores more, by induction over the vertices.
        """
        fields(state.given, ("vertices",))
        potentials = [None if p is None else integer(p) for p in state.given["vertices"]]
        if len(potentials) != len(self.vertices):
            raise WrongError(f"expected {len(self.vertices)} potentials, not {len(potentials)}")
        for v, (potential, edges) in enumerate(zip(potentials, self.vertices, strict=True)):
            for score, tails in edges:
                below: list[Any] = [potentials[tail] for tail in tails]
                if score == NO or None in below:
                    continue
                worth = sum(below, score)
                if potential is None or worth > potential:
                    raise WrongError(f"an edge of vertex {v} is worth {worth}, more than its potential {potential}")
        if potentials[-1] is None:
            raise WrongError("expected a potential of the goal")
        return self.reduced(potentials[-1], unit)


class Segmentations(Derivations):
    """Labelled segments that cover a chain, and transitions between the labels of consecutive segments.

    Vertices end a segment with a label before a token, or begin one there.
    """

    arrays = ("segments", "transitions")

    def build(self, *arrays: Any) -> None:
        segments, transitions = arrays
        longest, labels = len(segments[0]), len(segments[0][0])
        cube = [table(rows, longest, labels) for rows in segments]
        steps = table(transitions, labels, labels)
        begins: list[list[int]] = []
        ends: list[int] = []
        for i in range(len(cube)):
            before = [[(steps[x][y], (end,)) for x, end in enumerate(ends)] if i else [(0, ())] for y in range(labels)]
            begins.append([self.add(edges) for edges in before])
            first = max(i + 1 - longest, 0)
            ends = [self.add((cube[j][i - j][y], (begins[j][y],)) for j in range(first, i + 1)) for y in range(labels)]
        self.add((0, (end,)) for end in ends)


class Constituents(Derivations):
    """Binary trees whose spans have labels. Vertices divide a span of several words, or label a span."""

    arrays = ("spans",)

    def build(self, *arrays: Any) -> None:
        (spans,) = arrays
        words, labels = len(spans), len(spans[0][0])
        cube = [table(rows, words, labels) for rows in spans]
        found: dict[tuple[int, int], int] = {}
        for width in range(words):
            for i in range(words - width):
                j, tails = i + width, tuple[int, ...]()
                if width:
                    tails = (self.add((0, (found[i, k], found[k + 1, j])) for k in range(i, j)),)
                found[i, j] = self.add((score, tails) for score in cube[i][j])


class Alignments(Derivations):
    """Monotone paths through a lattice from its first to its last cell. Vertices are cells, by rows.

    Steps to a cell come from the previous row and column, from the previous row, and from the previous column.
    """

    arrays = ("steps",)

    def build(self, *arrays: Any) -> None:
        (steps,) = arrays
        columns = len(steps[0])
        for i, row in enumerate([table(rows, columns, 3) for rows in steps]):
            for j, (pair, down, right) in enumerate(row):
                v = i * columns + j
                ways = [(pair, i and j, v - columns - 1), (down, i, v - columns), (right, j, v - 1)]
                self.add([(score, (tail,)) for score, exists, tail in ways if exists] if v else [(0, ())])


class MonotoneChains(Derivations):
    """A state per frame, whose number stays or advances by one or two, from -1 to the number of states.

    Vertices enter a state before a frame, or are in the state at the frame. A move has its score at the state that it
    enters and its length.
    """

    arrays = ("states", "moves")

    def build(self, *arrays: Any) -> None:
        states, moves = arrays
        count = len(states[0])
        frames, steps = table(states, len(states), count), table(moves, count + 1, 3)
        before: list[int] = []
        for t, row in enumerate(frames):
            enters = [
                self.add(
                    (steps[s][d], (before[s - d],) if t else ()) for d in range(3) if (s >= d if t else d == s + 1)
                )
                for s in range(count)
            ]
            before = [self.add([(row[s], (enters[s],))]) for s in range(count)]
        self.add((steps[count][d], (before[count - d],)) for d in (1, 2) if count >= d)


DERIVED: dict[str, type[Derivations]] = {
    "segmentations": Segmentations,
    "constituents": Constituents,
    "alignments": Alignments,
    "monotone chains": MonotoneChains,
}
"""The classes by kind of instances, which is also the kind of the pricing problem."""
