r"""Separated rows of the all-link formulation: transitivity, and inequalities that strengthen it.

The variables are ``("x", (i, j))`` for i < j, as in :func:`~colgen.problems.coreference.model.full`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen import Row, Separation, SeparationContext, Solution
from colgen.core.columns import Key
from colgen.problems.coreference.instance import Floats
from colgen.solvers.clusters.transitivity import violated_triangles
from colgen.solvers.clusters.two_partition import violated_stars

_TOLERANCE = 1e-6


class Transitivity(Separation):
    """x_ij ≥ x_ik + x_kj - 1 for all triples (Chang et al., 2011); these rows define clusterings.

    The separation is exact: it returns the most violated row of each pair ij, so that the rows of a batch differ. Row
    ``("transitivity", (i, j, k))`` has i < j and equals that of the complete model. There are at most ``most`` rows per
    round; smaller batches cost more dual simplex iterations than they save.
    """

    def __init__(self, mentions: int, most: int = 20_000) -> None:
        self.mentions = mentions
        self.most = most
        self._names = names(mentions)

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        triangles, violations = violated_triangles(values(solution, self.mentions), _TOLERANCE)
        if len(triangles) > self.most:
            triangles = triangles[np.argsort(-violations, kind="stable")[: self.most]]
        return [self._row(i, j, k) for i, j, k in triangles.tolist()]

    def _row(self, i: int, j: int, k: int) -> Row:
        x = self._names
        coefficients = {x[i][k]: 1.0, x[j][k]: 1.0, x[i][j]: -1.0}
        return Row(("transitivity", (i, j, k)), upper=1.0, coefficients=coefficients)


class TwoPartition(Separation):
    """Σ_{t in T} x_it - Σ_{s<t in T} x_st ≤ 1 for mentions i and sets T, valid for every clustering.

    A greedy heuristic tries small sets first, because the simplex method prefers rows with few entries. No row is
    separated while a triangle is violated by more than ``patience``.

    Parameters
    ----------
    sizes
        Sizes of T; larger sets are tried if there are no smaller ones.
    least
        Smallest violation of a row. These rows are optional, and small violations tail off.
    most
        Rows per round.
    starts
        Sets grown for each mention.

    References
    ----------
    M. Grötschel, Y. Wakabayashi, *Facets of the clique partitioning polytope*, Mathematical Programming 47 (1990).
    """

    def __init__(
        self,
        mentions: int,
        *,
        sizes: Sequence[int] = (3, 4, 6),
        least: float = 0.1,
        patience: float = 0.2,
        most: int = 1000,
        starts: int = 20,
    ) -> None:
        self.mentions = mentions
        self.sizes = tuple(sizes)
        self.least = least
        self.patience = patience
        self.most = most
        self.starts = starts
        self._names = names(mentions)

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        x = values(solution, self.mentions)
        if len(violated_triangles(x, self.patience)[0]):
            return ()
        for size in self.sizes:
            centres, members, violations = violated_stars(x, size, self.least, self.starts)
            if len(centres):
                best = np.argsort(-violations, kind="stable")[: self.most]
                found = zip(centres[best].tolist(), members[best].tolist(), strict=True)
                return [self._row(centre, tuple(t for t in chosen if t >= 0)) for centre, chosen in found]
        return ()

    def _row(self, centre: int, members: tuple[int, ...]) -> Row:
        x = self._names
        coefficients = {x[centre][t]: 1.0 for t in members}
        coefficients |= {x[s][t]: -1.0 for k, s in enumerate(members) for t in members[k + 1 :]}
        return Row(("two_partition", (centre, members)), upper=1.0, coefficients=coefficients)


def names(mentions: int) -> list[list[Key]]:
    """Return the keys of the variables as a symmetric table; the diagonal is unused."""
    table: list[list[Key]] = [[("x", (i, i))] * mentions for i in range(mentions)]
    for i in range(mentions):
        for j in range(i + 1, mentions):
            table[i][j] = table[j][i] = ("x", (i, j))
    return table


def values(solution: Solution, mentions: int) -> Floats:
    """Return the values of the pairs as a symmetric matrix with zero diagonal, clipped to [0, 1].

    Variables other than ``x``, which a subclass may have, are ignored.
    """
    x = np.zeros((mentions, mentions))
    own = {index: value for (block, index), value in solution.variables.items() if block == "x"}
    if own:
        i, j = np.array(list(own)).T
        x[i, j] = x[j, i] = np.clip(np.fromiter(own.values(), np.float64, len(own)), 0.0, 1.0)
    return x
