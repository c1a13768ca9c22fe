"""Build a restricted master from what ``problem.master()`` returns."""

from __future__ import annotations

from typing import Any

from colgen.master.linear_master import LinearMaster
from colgen.master.protocol import RestrictedMaster
from colgen.model.rows import Rows, compile_master


def restricted_master(stated: Any) -> RestrictedMaster:
    """Return the restricted master for a Pyomo model, rows, or a restricted master.

    Raises
    ------
    FormulationError
        If it is none of these, or not a linear program.
    """
    if isinstance(stated, RestrictedMaster):
        return stated
    rows = stated if isinstance(stated, Rows) else compile_master(stated)
    if rows.solved_by is None:
        return LinearMaster(rows)
    master: RestrictedMaster = rows.solved_by(rows)
    return master


def stated_rows(stated: Any) -> Rows | None:
    """Return the rows of ``problem.master()``, or None without a linear program."""
    if isinstance(stated, LinearMaster):
        return stated.formulation
    if isinstance(stated, RestrictedMaster):
        return None
    return stated if isinstance(stated, Rows) else compile_master(stated)
