"""From what a problem states to its restricted master."""

from __future__ import annotations

from typing import Any

from colgen.master.linear_master import LinearMaster
from colgen.master.protocol import RestrictedMaster
from colgen.model.rows import Rows, compile_master


def restricted_master(stated: Any) -> RestrictedMaster:
    """Return the restricted master of what ``problem.master()`` returns: of a Pyomo model, of rows, or that itself.

    Raises
    ------
    FormulationError
        If it is none of these, or no linear program.
    """
    if isinstance(stated, RestrictedMaster):
        return stated
    rows = stated if isinstance(stated, Rows) else compile_master(stated)
    if rows.solved_by is None:
        return LinearMaster(rows)
    master: RestrictedMaster = rows.solved_by(rows)
    return master


def stated_rows(stated: Any) -> Rows | None:
    """Return the rows of what ``problem.master()`` returns; None where it is no linear program over rows.

    Raises
    ------
    FormulationError
        As :func:`restricted_master` does.
    """
    if isinstance(stated, LinearMaster):
        return stated.formulation
    if isinstance(stated, RestrictedMaster):
        return None
    return stated if isinstance(stated, Rows) else compile_master(stated)
