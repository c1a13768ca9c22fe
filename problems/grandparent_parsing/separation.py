"""Separated rows: connectivity cuts, rows of projective trees, and ArcGP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from colgen import Row, Separation, SeparationContext, Solution
from colgen.core.columns import Key
from colgen.core.tolerances import TOLERANCES
from colgen.problems.grandparent_parsing.instance import Floats
from colgen.solvers.flows.min_cut import violated_cuts

_TOLERANCE = TOLERANCES.feasibility


class TreeCuts(Separation):
    """Σ_{h not in S, m in S} z_hm ≥ 1 for sets S of tokens, separated exactly by minimum cuts."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        return self.violated(arc_values(solution, self.tokens))

    def violated(self, arcs: Floats) -> list[Row]:
        """Return the rows violated by arc values given by head and modifier."""
        return [self.row(members) for members in violated_cuts(arcs, _TOLERANCE)]

    def row(self, members: tuple[int, ...]) -> Row:
        inside = set(members)
        entering: dict[Key, float] = {
            ("z", (h, m)): 1.0 for m in members for h in range(self.tokens + 1) if h not in inside
        }
        return Row(("cut", members), lower=1.0, coefficients=entering)


class Crossing(Separation):
    """z_ij + z_ji + Σ_{h < i or h > j} z_hk ≤ 1 for i < k < j: a word under an arc has its head under it too.

    A tree is projective if and only if it satisfies these rows.  Then every word between a head and its modifier
    descends from one of the two, by a path within the interval.  Separation returns the most violated row for each i
    and j.
    """

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        z = arc_values(solution, self.tokens)
        before = np.concatenate([np.zeros((1, len(z))), z.cumsum(axis=0)])  # heads of k that are less than h
        i, j = np.triu_indices(len(z), 2)
        outside = before[-1] - (before[j + 1] - before[i])  # by pair and word between
        k = np.arange(len(z))
        sums = np.where((i[:, None] < k) & (k < j[:, None]), (z[i, j] + z[j, i])[:, None] + outside, 0.0)
        worst = sums.argmax(axis=1)
        violated = np.flatnonzero(sums.max(axis=1, initial=0.0) > 1.0 + _TOLERANCE)
        return [self.row(int(i[v]), int(worst[v]), int(j[v])) for v in violated]

    def row(self, i: int, k: int, j: int) -> Row:
        """Return the row of the words i and j (i may be the root) and a word k between them."""
        arcs = [(h, k) for h in (*range(i), *range(j + 1, self.tokens + 1))] + [(i, j)] + [(j, i)] * (i > 0)
        return Row(("crossing", (i, k, j)), upper=1.0, coefficients={("z", arc): 1.0 for arc in arcs})


class ArcGP(Separation):
    """z_gp + z_pc - u_gpc ≤ 1 (Riedel et al., 2012, section 4.4), as rows that include future columns.

    Only needed if the columns add no ``gp_arc`` rows; see :mod:`colgen.problems.grandparent_parsing.model`.
    """

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        z = arc_values(solution, self.tokens)
        parts = {column.structure: value for column, value in solution.columns}
        heads, modifiers = np.nonzero(z > _TOLERANCE)
        rows = []
        for g, p in zip(heads.tolist(), modifiers.tolist(), strict=True):
            for c in np.flatnonzero(z[p] > 1.0 - z[g, p] + _TOLERANCE).tolist():
                value = parts.get(("grandparent", (g, p, c)), 0.0)
                if c != g and z[g, p] + z[p, c] - value > 1.0 + _TOLERANCE:
                    coefficients: dict[Key, float] = {
                        ("z", (g, p)): 1.0,
                        ("z", (p, c)): 1.0,
                        ("grandparent", (g, p, c)): -1.0,
                    }
                    rows.append(Row(("arc_gp", (g, p, c)), upper=1.0, coefficients=coefficients))
        return rows


def arc_values(solution: Solution, tokens: int) -> Floats:
    """Return the arc values by head and modifier, at least 0; arcs may be variables or columns."""
    z = np.zeros((tokens + 1, tokens + 1))
    index: Any
    for (block, index), value in solution.variables.items():
        if block == "z":
            z[index] = max(value, 0.0)
    for column, value in solution.columns:
        if column.key is not None and column.key[0] == "z":
            index = column.key[1]
            z[index] = max(value, 0.0)
    return z
