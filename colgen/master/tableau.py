"""The data of a linear master: columns, rows, the linear program, and the present objective."""

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
    """The data that all parts of a linear master share and modify in place."""

    table: ColumnTable
    rows: MasterRows
    program: MasterProgram
    objective: PresentObjective


def tableau_of(formulation: Rows, settings: Mapping[str, Any], dual_first: bool) -> Tableau:
    """Return the data of a template before any column is generated.

    ``settings`` are read when the linear program is built: ``options`` of HiGHS, the name of another ``backend``, the
    ``scale`` of its costs.  ``dual_first``: start with the dual simplex method, as is also done if rows were added.
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
