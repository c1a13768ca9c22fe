"""Labellings of chains and trees: a dynamic program in whole numbers, over the labels that no other one replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from operator import add
from typing import Any

from colgen.certificate.checker_pricing import NO, CheckerState, Place, Scored, WrongError, table, whole


class Labellings(Scored):
    """A label for each node of some trees, children before their parents; a tree that can have none costs nothing.

    A column labels all of them, and costs the scores of its labels and of the pairs that edges make.
    """

    with_potentials = False

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        self.parents, self.tables = [whole(p) for p in data["parents"]], [whole(t) for t in data["of_table"]]
        if not all(node < parent < len(self.parents) or parent == -1 for node, parent in enumerate(self.parents)):
            raise WrongError("expected children before their parents")
        super().__init__(data, ("parents", "of_table", "scores", "tables"))
        count = len(data["scores"][0])
        every = [table(data["scores"], len(self.parents), count)]
        every += [table(pairs, count, count) for pairs in data["tables"]]
        # What is forbidden scores less than all that is allowed can make good: sums need no infinity.
        records = [data["scores"], *data["tables"]]  # None where something is forbidden
        largest = max(max(map(abs, filter(None, row)), default=1) for record in records for row in record)
        self.never = -4 * (len(self.parents) + 1) * largest - 1
        self.scores, *self.pairs = (
            [[self.never if x == NO else x for x in row] if NO in row else row for row in each] for each in every
        )
        if len(self.parents) != len(self.tables) or not set(self.tables) <= set(range(len(self.pairs) or 1)):
            raise WrongError("expected a parent and a table for each node")
        self._replaced: dict[tuple[int, int], list[int]] = {}

    def column(self, labels: Any) -> tuple[Fraction, dict[int, int]]:
        """Cost and entries of a column: a label for each node, -1 in trees that can have none."""
        used, count, root = [0], len(self.scores[0]), list(range(len(self.parents)))
        if len(labels) != len(self.parents):
            raise WrongError("expected a label for each node")
        for node in reversed(range(len(labels))):
            parent, label = self.parents[node], whole(labels[node])
            root[node] = node if parent == -1 else root[parent]
            if not -1 <= label < count or (label == -1) != (root[node] not in self.best):
                raise WrongError(f"node {node} has the label {label}")
            if label >= 0:
                used.append(self.scores[node][label])
                used.append(self.pairs[self.tables[node]][label][labels[parent]] if parent >= 0 else 0)
        if self.never in used:
            raise WrongError("a label or a pair of labels is forbidden")
        return Fraction(sum(used), self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """The least reduced cost of all columns, times the duals' denominator."""
        return self.reduced(sum(self.best.values()), unit)

    @cached_property
    def best(self) -> dict[int, int]:
        """The best score of each tree that has a labelling, by its root."""
        inbox: dict[int, list[int]] = {}
        found: dict[int, int] = {}
        for node, (scores, parent, of) in enumerate(zip(self.scores, self.parents, self.tables, strict=True)):
            values = list(map(add, scores, inbox.pop(node))) if node in inbox else scores
            most = max(values)
            if parent == -1:
                if most > self.never // 2:
                    found[node] = most
                continue
            first = values.index(most)
            left = [y for y, gain in enumerate(map(add, values, self._gains(of, first))) if gain > most]
            pairs = self.pairs[of]
            message = list(map(add, repeat(most), pairs[first]))
            for y in left:
                message = list(map(max, message, map(add, repeat(values[y]), pairs[y])))
            inbox[parent] = list(map(add, inbox[parent], message)) if parent in inbox else message
        return found

    def _gains(self, table: int, label: int) -> list[int]:
        """What each label gains over one at the most, whatever the parent's label is."""
        if (table, label) not in self._replaced:
            own = self.pairs[table][label]
            self._replaced[table, label] = [
                max(there - here for there, here in zip(row, own, strict=True)) for row in self.pairs[table]
            ]
        return self._replaced[table, label]
