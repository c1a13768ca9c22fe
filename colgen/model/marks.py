"""Variables of a Pyomo model that the engine treats in a way of its own, and the marks by which it finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from colgen.core.lazy_imports import Late

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = Late("pyomo.environ")

ARTIFICIAL, EXCHANGE, SOLVED = "_colgen_artificial", "_colgen_exchange", "_colgen_solved"
"""Attributes of variables, and of a model that is made of rows: how these are solved."""


def artificial(*index: Any) -> pyo.Var:
    """A nonnegative Pyomo variable that makes rows feasible before columns do, and must be zero in any answer.

    ``artificial(m.item)`` is used like ``pyo.Var(m.item)``.  The engine first minimises the sum of all artificial
    variables (phase 1), then fixes them at zero: no big-M is needed, and a minimum above zero proves that the problem
    is infeasible.
    """
    variable = pyo.Var(*index, domain=pyo.NonNegativeReals)
    setattr(variable, ARTIFICIAL, True)
    return variable


def exchange(*index: Any) -> pyo.Var:
    """A nonnegative Pyomo variable that trades one row's activity for others', and must be zero in any answer.

    Its column a with cost c says ``πᵀa ≤ c`` (``≥`` when maximising) of the dual values: a *dual-optimal inequality*,
    if some optimal dual solution of the relaxation satisfies it.  It stabilises column generation from the first round
    on.  ``exchange(m.pair)`` is used like ``pyo.Var(m.pair)``.

    An inequality that is none costs rounds, and no proof: bounds are those of a master in which these variables are
    zero, and where no column improves while one of them is not, all are fixed at zero and column generation goes on.
    They are zero below the root, in dives, and in whatever is looked at as an answer.

    References
    ----------
    H. Ben Amor, J. Desrosiers, J. M. Valério de Carvalho, *Dual-optimal inequalities for stabilized column generation*,
    Operations Research 54 (2006).
    """
    variable = artificial(*index)
    setattr(variable, EXCHANGE, True)
    return variable
