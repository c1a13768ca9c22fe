"""Clusterings: bounds by dual values of triangles of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from colgen.certificate.checker_pricing import NO, CheckerState, Place, Scored, WrongError, fields, integer, table


class Clusterings(Scored):
    """Partitions of items; a column is a list of clusters, and costs the scores of all pairs in one cluster."""

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        super().__init__(data, ("scores",))
        self.size = len(data["scores"])
        self.scores = table(data["scores"], self.size, self.size)
        if any(self.scores[i][j] != self.scores[j][i] for i, j in combinations(range(self.size), 2)):
            raise WrongError("expected the same score of two items in either order")

    def column(self, clusters: Any) -> tuple[Fraction, dict[int, int]]:
        if sorted(integer(i) for cluster in clusters for i in cluster) != list(range(self.size)):
            raise WrongError("expected each item in one cluster")
        scores = [self.scores[i][j] for cluster in clusters for i, j in combinations(cluster, 2)]
        if NO in scores:
            raise WrongError("a forbidden pair is together")
        return Fraction(sum(scores), self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return a lower bound on reduced costs times the denominator of the duals.

        For items i, j and k: x_ik + x_kj - x_ij ≤ 1, with a nonnegative dual value. The remaining score of a pair
        counts if it is positive; always if the pair is together; never if it is apart.
        """
        fields(state.given, ("over", "triangles"))
        over, total, items = integer(state.given["over"]), 0, set(range(self.size))
        if over < 1:
            raise WrongError("expected a denominator of at least 1")
        left = [[x if x == NO else over * x for x in row] for row in self.scores]  # of pairs i < j
        for i, j, k, dual in state.given["triangles"]:
            if integer(dual) < 0 or len({i, j, k}) < 3 or not set(map(integer, (i, j, k))) <= items:
                raise WrongError("expected triangles with nonnegative dual values")
            total += dual
            for u, v, entry in ((i, k, 1), (k, j, 1), (i, j, -1)):
                left[min(u, v)][max(u, v)] -= entry * dual
        for u, v, joined in state.pairs:
            i, j = min(u, v), max(u, v)
            total += left[i][j] if joined and left[i][j] != NO else 0
            left[i][j] = NO
        total += sum(x for i, row in enumerate(left) for x in row[i + 1 :] if x > 0)
        return self.reduced(total, unit, over)
