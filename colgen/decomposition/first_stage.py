"""The first stage of a two-stage program: variables of the master, with a copy in each block, and branching on them.

A bound on a first-stage variable holds for all its copies, so it is a bound in each pricing problem.  If the copies
agree in all blocks, their value with the blocks' points is a solution.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from colgen.branching.rules import BranchingRule, Candidate, round_candidate
from colgen.core.columns import Key
from colgen.core.decision import Decision
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.decomposition.blocks.decisions import ComponentBound, FirstStageBound
from colgen.decomposition.branching import OnBlockVariables
from colgen.decomposition.reading.compact_model import MASTER, Floats, Ints
from colgen.decomposition.splitting import Splitting


@dataclass(frozen=True, eq=False)
class FirstStage:
    """The variables of the master of a two-stage program.

    Attributes
    ----------
    keys
        Keys of the variables.
    variables
        Their indices in the model with copies.
    places
        Index of the copy of each variable among the variables of each block, shape (blocks, variables).
    rows
        Number of the master's row that keeps a copy equal to its variable, of the same shape.
    """

    keys: tuple[Key, ...]
    variables: Ints
    places: Ints
    rows: Ints

    @classmethod
    def of(cls, splitting: Splitting) -> FirstStage | None:
        """Return the first stage, or None if the blocks are not the second stages of a two-stage program.

        Each variable of the master must have a copy in each block, and linking rows with variables of blocks must be
        those that keep copies equal.
        """
        compact, subs, static = splitting.compact, splitting.subproblems, splitting.static
        copied, width = compact.copied, len(compact.formulation.costs)
        if copied is None or len(subs) < 2 or any(sub.count > 1 for sub in subs):
            return None
        if len(copied) != len(static) * len(subs) or (compact.units is not None and (compact.units != 1.0).any()):
            return None
        first = width - len(copied)
        rank = np.full(width, -1)
        rank[static] = np.arange(len(static))
        places = np.full((len(subs), len(static)), -1)
        rows = np.full_like(places, -1)
        owners = np.flatnonzero(np.isin(splitting.partition.of_column[first:], MASTER))
        entries = compact.rows[splitting.linking, :].tocoo()
        of_blocks = splitting.partition.of_column[entries.col] != MASTER
        if len(owners) or of_blocks.sum() != len(copied) or (entries.col[of_blocks] < first).any():
            return None
        row_of = np.full(width, -1)
        row_of[entries.col[of_blocks]] = entries.row[of_blocks]
        for sub in subs:
            members = sub.columns[0]
            mine = np.flatnonzero(members >= first)
            which = rank[copied[members[mine] - first]]
            places[sub.number, which], rows[sub.number, which] = mine, row_of[members[mine]]
        if (places < 0).any() or (rows < 0).any():
            return None
        keys = compact.formulation.column_keys
        return cls(tuple(keys[k] for k in static.tolist()), static, places, rows)

    def values(self, solution: Solution) -> Floats:
        """Return the values of the variables in a solution of the master."""
        return np.array([solution.variables.get(key, 0.0) for key in self.keys])

    def within(self, lower: Floats, upper: Floats, bounded: Ints) -> list[FirstStageBound]:
        """Return decisions that bound some of the variables."""
        return [
            FirstStageBound(self.keys[j], float(lower[j]), float(upper[j]), self.places[:, j]) for j in bounded.tolist()
        ]


class OnFirstStage(BranchingRule):
    """Round an integer variable of the first stage, or else branch on what decides most.

    This is either a variable whose copies disagree, whose range is split, or an integer variable of a scenario, by the
    rule ``others``.
    """

    makes: Sequence[type[Decision]] = (FirstStageBound, ComponentBound)

    def __init__(self, splitting: Splitting, stage: FirstStage, others: OnBlockVariables) -> None:
        f = splitting.compact.formulation
        self._others = others
        self.stage, self._integer = stage, f.integer[stage.variables]

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        found = self.candidates(solution)
        return found[0].children if found else ()

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        x = self.stage.values(solution)
        near = np.where(self._integer, np.rint(x), x)
        off = np.where(self._integer, np.abs(x - near), 0.0)
        fractional = np.flatnonzero(off > TOLERANCES.integrality)
        found = [self._split(j, float(x[j]), float(off[j]), whole=True) for j in fractional.tolist()]
        if not found and solution.columns:
            found = self._disagreements(solution, x) + self._of_scenarios(solution)
        found.sort(key=lambda candidate: -candidate.score)
        return found

    def _disagreements(self, solution: Solution, x: Floats) -> list[Candidate]:
        """Return candidates for variables whose copies differ, by their mean distance from the common value."""
        points = [(column.structure, amount) for column, amount in solution.columns]
        copies = np.array([point.values[self.stage.places[point.number]] for point, _ in points])
        amounts = np.array([amount for _, amount in points])[:, None]
        apart = (amounts * np.abs(copies - x)).sum(axis=0) / amounts.sum()
        least, most = copies.min(axis=0), copies.max(axis=0)
        sizes = np.maximum(np.abs(copies).max(axis=0), 1.0)
        found = []
        for j in np.flatnonzero((most - least) > TOLERANCES.pruning * sizes).tolist():
            share = float(apart[j] / sizes[j])
            if self._integer[j]:
                at = float(np.clip(x[j], least[j] + 0.5, most[j] - 0.5)) if most[j] - least[j] >= 1.0 else None
                if at is not None:
                    found.append(self._split(j, at if fractionality(at) else at + 0.5, share, whole=True))
            else:
                found.append(self._split(j, float(np.clip(x[j], least[j], most[j])), share, whole=False))
        return found

    def _of_scenarios(self, solution: Solution) -> list[Candidate]:
        """Return candidates for integer variables of single scenarios, which change one of them only."""
        copies, count = self.stage.places, len(self.stage.places)
        found = []
        for candidate in self._others.candidates(solution):
            number, variable = cast(tuple[int, int], candidate.quantity)
            if variable not in copies[number]:
                found.append(dataclasses.replace(candidate, score=candidate.score / count))
        return found

    def _split(self, j: int, value: float, score: float, *, whole: bool) -> Candidate:
        key, copies = self.stage.keys[j], self.stage.places[:, j]
        below, above = (math.floor(value), math.ceil(value)) if whole else (value, value)
        down = (FirstStageBound(key, -math.inf, float(below), copies),)
        up = (FirstStageBound(key, float(above), math.inf, copies),)
        return round_candidate(key, value, down, up, score)
