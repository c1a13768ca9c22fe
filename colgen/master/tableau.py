"""What a linear master consists of: columns, rows, the linear program, and what is optimised at present."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from colgen.core.sense import Sense
from colgen.master.column_table import ColumnTable
from colgen.master.present_objective import PresentObjective
from colgen.master.program import MasterProgram
from colgen.master.rows import MasterRows, template_weights
from colgen.model.rows import Rows
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program


class Tableau(NamedTuple):
    """The data that everything which happens to a linear master works on; all of it changes in place."""

    table: ColumnTable
    rows: MasterRows
    program: MasterProgram
    objective: PresentObjective


def tableau_of(formulation: Rows, settings: Mapping[str, Any], dual_first: bool) -> Tableau:
    """A template before any column has been generated.

    Parameters
    ----------
    settings
        Of the linear program, read when it is built: ``options`` of HiGHS, the name of another ``backend``, the
        ``scale`` of its costs.
    dual_first
        Solve by the dual simplex method at first, also where no rows have come before.
    """
    f, rows = formulation, MasterRows(formulation)
    table = ColumnTable(f, template_weights(f, rows.sizes), rows.names.keys, rows.names.position)

    def build() -> LinearProgram:
        active, units = table.active, np.ones(len(table))
        units[table.artificial] = 1.0 / table.weights[table.artificial]
        return LinearProgram(
            Program(
                f.sense is Sense.MAXIMIZE,
                table.matrix(active, len(rows)),
                objective.costs[active],
                table.lower_now[active],
                table.upper_now[active],
                rows.lower,
                rows.upper,
                objective.constant,
            ),
            dual_first=dual_first or len(rows) > len(f.row_keys),
            sizes=np.where(rows.unsized, 0.0, rows.sizes),
            units=units[active],
            **settings,
        )

    program = MasterProgram(table, build)
    objective = PresentObjective(f.sense, f.offset, table, rows, program)
    return Tableau(table, rows, program, objective)
