"""Clusterings as the checker bounds them: by dual values of triangles of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from colgen.proof.checker_pricing import NO, Place, Scored, State, WrongError, table, whole


class Clusterings(Scored):
    """Partitions of items; a column is a list of clusters, and costs the scores of all pairs in one cluster."""

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        super().__init__(data)
        self.size = len(data["scores"])
        self.scores = table(data["scores"], self.size, self.size)
        for i, j in self._pairs():
            if self.scores[i][j] != self.scores[j][i]:
                raise WrongError(f"expected a score of {i} and {j}, whichever comes first")

    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.size), 2))

    def column(self, clusters: Any) -> tuple[Fraction, dict[int, int]]:
        """Cost and entries of a column: lists of items."""
        if sorted(whole(i) for cluster in clusters for i in cluster) != list(range(self.size)):
            raise WrongError("expected each item in one cluster")
        scores = [self.scores[i][j] for cluster in clusters for i, j in combinations(cluster, 2)]
        if NO in scores:
            raise WrongError("a pair is together that is forbidden")
        return Fraction(sum(scores), self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: State) -> Fraction:
        """What no column's reduced cost is less than, times the duals' denominator.

        Items i, j and k: x_ik + x_kj - x_ij ≤ 1, with a dual value of 0 or more.  What is left of a pair's score counts
        if it is positive; always, if the pair is together; never, if it is apart.
        """
        over, total = whole(state.given["over"]), 0
        if over < 1:
            raise WrongError("expected a denominator of 1 or more")
        left = {(i, j): 0 if self.scores[i][j] == NO else over * self.scores[i][j] for i, j in self._pairs()}
        apart = {(i, j) for i, j in left if self.scores[i][j] == NO}
        for i, j, k, dual in state.given["triangles"]:
            if whole(dual) < 0 or len({i, j, k}) < 3:
                raise WrongError("expected triangles with dual values of 0 or more")
            total += dual
            for u, v, entry in ((i, k, 1), (k, j, 1), (i, j, -1)):
                left[min(u, v), max(u, v)] -= entry * dual
        together = set[tuple[int, int]]()
        for u, v, joined in state.pairs:
            (together if joined else apart).add((min(u, v), max(u, v)))
        for pair, score in left.items():
            total += score if pair in together else 0 if pair in apart else max(score, 0)
        return self.reduced(total, unit, over)
