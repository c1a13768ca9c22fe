"""The master of paths: rows on classes enter one by one, each with the memory of its class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from colgen import Column, Row, Sense, Solution
from colgen.core.duals import RowNames
from colgen.master.column_pool import Origins
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.master.protocol import LinkingRows, Precision
from colgen.problems.title_path.instance import Floats, Path, PathInstance
from colgen.solvers.paths.walks import Mask

WALK = ("walk", None)
"""The row that says that one walk is chosen."""

ONCE = "once"
"""Block of the rows that say that a class is visited once at most."""


@dataclass(frozen=True, eq=False)
class WalkDuals:
    """What walks are priced at.

    Attributes
    ----------
    penalties
        λ of each class, in the units of the scaled graph.
    remembered
        Classes whose rows have entered: the oracle remembers these, and those with a penalty.  None: it remembers
        nothing, and penalties alone bound paths.
    path
        The best path known, for whatever it is worth: only heavier ones are of interest.
    """

    penalties: Floats = field(repr=False)
    remembered: Mask | None = field(default=None, repr=False)
    path: Path | None = None


class WalkMaster(LagrangianMaster, LinkingRows):
    """max Σ_p c_p x_p over walks p of k vertices,  Σ_p x_p = 1 [π],  and the rows on classes that have been separated.

    All rows on classes are relaxed at first, with penalties; with x whole, a row that has entered says of the chosen
    walk that it visits a class once at most, which the oracle's dynamic program remembers.  So π, the oracle's bound,
    is all that there is to add up, and row generation is decremental state-space relaxation.
    """

    answers_late = True

    def __init__(self, instance: PathInstance) -> None:
        super().__init__(Sense.MAXIMIZE)
        self.instance = instance
        self.remembered: Mask = np.zeros(instance.num_classes, dtype=np.bool_)
        self._names = RowNames()
        self._names.append(WALK)

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        for row in rows:
            if row.key not in self._names.position:
                self._names.append(row.key)
                self.remembered[cast(int, row.key[1])] = True
        return 0

    @property
    def rows(self) -> LinkingRows:  # type: ignore[override]
        return self

    def __len__(self) -> int:
        return len(self._names.keys)

    def __contains__(self, key: object) -> bool:
        return key in self._names.position

    @property
    def precision(self) -> Precision:  # type: ignore[override]
        return Precision(self.instance.scaled.scale)

    @property
    def num_columns(self) -> int:
        """Walks that the master speaks of: one, for those that it does not look at are not counted."""
        return 1


def as_solution(instance: PathInstance, walk: Path) -> Solution:
    """A walk as a solution."""
    weight = instance.objective(walk)
    return Solution(weight, ((Column(weight, {WALK: 1.0}, walk, ("walk", walk)), 1.0),))
