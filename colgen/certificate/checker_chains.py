"""Labellings of chains and trees: an integer dynamic program over labels that no other label dominates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from operator import add
from typing import Any

from colgen.certificate.checker_pricing import NO, CheckerState, Place, Scored, WrongError, integer, table


class Labellings(Scored):
    """A label for each node of some trees, children before parents. A tree without a labelling costs 0.

    A column labels all nodes, and costs the scores of its labels and of the label pairs of edges.
    """

    with_potentials = False

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        self.parents, self.tables = [integer(p) for p in data["parents"]], [integer(t) for t in data["of_table"]]
        if not all(node < parent < len(self.parents) or parent == -1 for node, parent in enumerate(self.parents)):
            raise WrongError("expected children before their parents")
        super().__init__(data, ("parents", "of_table", "scores", "tables"))
        count = len(data["scores"][0])
        every = [table(data["scores"], len(self.parents), count)]
        every += [table(pairs, count, count) for pairs in data["tables"]]
        # A forbidden score is too low to be compensated, so that sums need no infinity.
        records = [data["scores"], *data["tables"]]  # None for forbidden labels and pairs
        largest = max(max(map(abs, filter(None, row)), default=1) for record in records for row in record)
        self.never = -4 * (len(self.parents) + 1) * largest - 1
        self.scores, *self.pairs = (
            [[self.never if x == NO else x for x in row] if NO in row else row for row in each] for each in every
        )
        if len(self.parents) != len(self.tables) or not set(self.tables) <= set(range(len(self.pairs) or 1)):
            raise WrongError("expected a parent and a table for each node")
        self._replaced: dict[tuple[int, int], list[int]] = {}

    def column(self, labels: Any) -> tuple[Fraction, dict[int, int]]:
        """Return the cost of a labelling, one label per node. The label is -1 in trees that have no labelling."""
        used, count, root = [0], len(self.scores[0]), list(range(len(self.parents)))
        if len(labels) != len(self.parents):
            raise WrongError("expected a label for each node")
        for node in reversed(range(len(labels))):
            parent, label = self.parents[node], integer(labels[node])
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
        return self.reduced(sum(self.best.values()), unit)

    @cached_property
    def best(self) -> dict[int, int]:
        """The best score of each tree that has a labelling, by root."""
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
        """Return, for each label, its maximum gain over the given label, over all labels of the parent."""
        if (table, label) not in self._replaced:
            own = self.pairs[table][label]
            self._replaced[table, label] = [
                max(there - here for there, here in zip(row, own, strict=True)) for row in self.pairs[table]
            ]
        return self._replaced[table, label]
