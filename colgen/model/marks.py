"""Pyomo variables with a special role in the engine, and the attributes that mark them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from colgen.core.lazy_imports import LazyModule

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

ARTIFICIAL, EXCHANGE, SOLVED = "_colgen_artificial", "_colgen_exchange", "_colgen_solved"
"""Attributes of variables, and of a model made from rows: how these are solved."""


def artificial(*index: Any) -> pyo.Var:
    """Return a nonnegative Pyomo variable that makes rows feasible without columns, and must be zero in any answer.

    Use ``artificial(m.item)`` like ``pyo.Var(m.item)``. The engine first minimises the sum of all artificial variables
    (phase 1), then fixes them at zero. No big-M is needed, and a minimum above zero proves infeasibility.

    Examples
    --------
    >>> m = pyo.ConcreteModel()
    >>> m.unmet = artificial(range(4))
    >>> m.demand = pyo.Constraint(range(4), rule=lambda m, i: m.unmet[i] >= problem.demands[i])
    """
    variable = pyo.Var(*index, domain=pyo.NonNegativeReals)
    setattr(variable, ARTIFICIAL, True)
    return variable


def exchange(*index: Any) -> pyo.Var:
    """Return a nonnegative Pyomo variable that trades one row's activity for others', and must be zero in any answer.

    Its column a with cost c imposes ``πᵀa ≤ c`` (``≥`` when maximising) on the dual values. This is a *dual-optimal
    inequality* if some optimal dual solution of the relaxation satisfies it; it stabilises column generation from the
    first round on. Use ``exchange(m.pair)`` like ``pyo.Var(m.pair)``.

    An invalid inequality costs extra rounds, but no proof: bounds are those of a master without these variables. If no
    column improves while one of them is nonzero, all are fixed at zero and column generation continues. They are zero
    below the root, in dives, and in every candidate answer.

    References
    ----------
    H. Ben Amor, J. Desrosiers, J. M. Valério de Carvalho, *Dual-optimal inequalities for stabilized column generation*,
    Operations Research 54 (2006).

    Examples
    --------
    >>> m = pyo.ConcreteModel()
    >>> m.shorter = exchange(range(3))  # a piece of width i may serve as one of the next smaller width
    """
    variable = artificial(*index)
    setattr(variable, EXCHANGE, True)
    return variable
