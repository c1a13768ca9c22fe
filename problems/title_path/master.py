"""The master of paths: rows on classes are separated, each with the memory of its class."""

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
"""The row that chooses one walk."""

ONCE = "once"
"""Block of the rows that allow at most one visit per class."""


@dataclass(frozen=True, eq=False)
class WalkDuals:
    """Penalties, memory and incumbent for pricing walks."""

    penalties: Floats = field(repr=False)  # λ of each class, in scaled units
    remembered: Mask | None = field(default=None, repr=False)
    """Classes with rows in the master, which the oracle remembers, as those with a penalty; None: it remembers none."""

    path: Path | None = None  # the best known path; only heavier ones are searched


class WalkMaster(LagrangianMaster, LinkingRows):
    """max Σ_p c_p x_p over walks p of k vertices, with Σ_p x_p = 1 [π] and the separated rows on classes.

    Initially, all rows on classes are relaxed with penalties. With integer x, a row in the master allows the chosen
    walk at most one visit to the class, which the oracle's dynamic program enforces. So the dual bound is π, the
    oracle's bound, and row generation is decremental state-space relaxation.
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
        """1, the chosen walk; other walks are not counted."""
        return 1


def as_solution(instance: PathInstance, walk: Path) -> Solution:
    """Return a walk as a solution."""
    weight = instance.objective(walk)
    return Solution(weight, ((Column(weight, {WALK: 1.0}, walk, ("walk", walk)), 1.0),))
