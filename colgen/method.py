"""`Method`: how a problem is solved, the part that an ablation varies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from colgen.bounding.protocol import Bounding
from colgen.branching.selection import Choice
from colgen.core.allotment import WorkShares
from colgen.core.budget import Budget
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.numbers import integer, real
from colgen.core.sense import Sense
from colgen.core.solution import Complete
from colgen.core.text import Described, describe
from colgen.enumeration import Enumeration
from colgen.fixing import Reduction
from colgen.heuristics import Heuristic
from colgen.pricing.oracles import PricingContext
from colgen.pricing.order import PricingOrder
from colgen.solvers.linear.backends.registry import HIGHS, BackendError, check_backend
from colgen.solvers.linear.options import OptionError, check_options
from colgen.stabilization import Stabilization
from colgen.tree.queues import NodeQueue


@dataclass(frozen=True, kw_only=True, repr=False)
class Method(Described):
    """How a problem is solved.

    :meth:`Problem.method` returns the problem's own method, and ``solve(method=...)`` replaces some of its fields. None
    in ``solve(method=...)`` means the problem's field; None in both means the default.

    Attributes
    ----------
    stabilization
        The dual values at which a round prices, such as ``Wentges()``. By default smoothing that starts after several
        rounds without progress.
    bounding
        How nodes are bounded, such as ``Chain(Volume(200), ColumnGeneration())``. By default column generation.
    heuristics
        Primal heuristics, run in order; ``()`` for none. By default exchanges of columns, a dive if the restricted
        master is large, and the restricted master as an integer program.
    choice
        How the tree selects among the candidates of a branching rule. By default the most fractional one.
        ``StrongBranching()`` pays off for expensive nodes and large trees.
    reductions
        Reduced-cost fixing at the nodes; by default ``()``, none.
    enumeration
        Enumeration of columns at the nodes; by default ``()``, none.
    rounding
        A function of a node's dual bound, the dual values that prove it, and the node's context. It returns an exactly
        valid bound: the given one, or the next multiple of :attr:`Problem.objective_step`. The engine itself rounds
        65.00001 to 65, since this may be 65 with a rounding error. A function that proves in exact arithmetic that 65
        is exceeded returns 66, which may save branching on the node.
    complete
        A function of a node limit and a budget. It solves the complete model by another solver within that many of its
        nodes and returns a :class:`~colgen.core.solution.Complete`, or None if the model is too large. It is called
        after many nodes of the tree that hardly improve the bound, with a growing limit, and where the tree would end
        without a proof; never if ``heuristics`` is ``()``. The answer is checked. The bound is trusted: it ends the run
        if it proves the incumbent, and :attr:`Result.bound_source` names its solver.
    queue
        The order of open nodes: a class of :mod:`colgen.tree.queues`. By default ``Plunging``, and ``BestBound`` on a
        cluster.
    pricing_share
        Solve this share of the pricing problems at a time, in turn, until one returns a column; all are solved before
        anything is proved. This pays off if oracles are slow and most of them find columns in most rounds. By default
        1: all.
    pricing_order
        Orders the pricing problems if only a share of them is solved at a time: an object with a method ``score``, such
        as a learner; see :class:`colgen.pricing.order.PricingOrder`. By default they take turns.
    work_shares
        Decides which share of a run's work each heuristic, enumeration, fixing and strong branching may do: an object
        with a method ``share``, such as a learner; see :class:`colgen.core.allotment.WorkShares`. By default a share is
        doubled after a gain and halved otherwise.
    clean_up_after
        Delete columns that their reduced cost has kept at zero in this many consecutive solves. By default all columns
        are kept.
    tolerance
        A column improves the master if its reduced cost is better than zero by more than this, relative to the scale of
        the objective.
    lp
        The solver of the restricted master's linear programs instead of HiGHS, if installed: ``"gurobi"``,
        ``"xpress"``, ``"cplex"``, ``"soplex"``, ``"glpk"``, ``"clp"``.
    lp_options
        Options of HiGHS for the restricted master's linear programs: ``{"simplex_price_strategy": 1}``.

    Raises
    ------
    InputError
        If a field is invalid; the message names it.

    Examples
    --------
    >>> solve(problem, method=Method(stabilization=Wentges(), heuristics=[RestrictedMIP()])).objective
    453.0
    """

    stabilization: Stabilization | None = None
    bounding: Bounding | None = None
    heuristics: Sequence[Heuristic] | None = None
    choice: Choice | None = None
    reductions: Sequence[Reduction] | None = None
    enumeration: Enumeration | tuple[()] | None = None
    rounding: Callable[[float, OwnDuals, PricingContext], float] | None = None
    complete: Callable[[int, Budget], Complete | None] | None = None
    queue: Callable[[Sense], NodeQueue] | None = None
    pricing_share: float | None = None
    pricing_order: PricingOrder | None = None
    work_shares: WorkShares | None = None
    clean_up_after: int | None = None
    tolerance: float | None = None
    lp: str | None = None
    lp_options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self._check_parts()
        if self.queue is not None and not callable(self.queue):
            raise InputError(f"queue: expected a class of queues, such as BestBound, not {describe(self.queue)}")
        if self.clean_up_after is not None:
            integer(self.clean_up_after, "clean_up_after", low=1)
        if self.pricing_share is not None and not 0.0 < real(self.pricing_share, "pricing_share") <= 1.0:
            raise InputError(f"pricing_share: expected a share above 0 and at most 1, not {self.pricing_share}")
        order = self.pricing_order
        if order is not None and (isinstance(order, type) or not callable(getattr(order, "score", None))):
            raise InputError(f"pricing_order: expected an object with a method score(history), not {describe(order)}")
        shares = self.work_shares
        if shares is not None and (isinstance(shares, type) or not callable(getattr(shares, "share", None))):
            raise InputError(f"work_shares: expected an object with a method share(history), not {describe(shares)}")
        if self.tolerance is not None and not real(self.tolerance, "tolerance") > 0.0:
            raise InputError(f"tolerance: expected a positive number, not {self.tolerance}")
        self._check_solver()

    def fill_from(self, *others: Method) -> Method:
        """Return this method with None replaced by the field of the first of the others that has a value."""
        values: dict[str, Any] = {}
        for method in (*reversed(others), self):
            values.update({name: value for name, value in vars(method).items() if value is not None})
        filled = self._changed(values)
        if filled.lp_options is not None:  # they may now be combined with another solver
            filled._check_solver()
        return filled

    def without_claims(self) -> Method:
        """Return this method without the fields that are valid only for the rows that they were written for."""
        return self._changed(dict.fromkeys(CLAIMS))

    def _changed(self, values: Mapping[str, Any]) -> Method:
        """Return a copy with other values, which must be checked already."""
        changed: Method = object.__new__(type(self))
        vars(changed).update(vars(self))
        vars(changed).update(values)
        return changed

    def _check_parts(self) -> None:
        for name, kind, example in _PARTS:
            part = getattr(self, name)
            if part is not None and not isinstance(part, kind):
                raise InputError(f"{name}: expected a {kind.__name__}, such as {example}, not {describe(part)}")
        for name, kind, example in _LISTS:
            given = getattr(self, name)
            for part in () if given is None else check_list(given, f"{name}: expected a list of {name}"):
                if not isinstance(part, kind):
                    raise InputError(f"{name}: expected {name}, such as {example}, not {describe(part)}")
        if self.enumeration not in (None, ()) and not isinstance(self.enumeration, Enumeration):
            raise InputError(f"enumeration: expected an Enumeration, or () for none, not {describe(self.enumeration)}")
        for name in ("rounding", "complete"):
            function = getattr(self, name)
            if function is not None and (not callable(function) or isinstance(function, type)):
                raise InputError(f"{name}: expected a function, not {describe(function)}")

    def _check_solver(self) -> None:
        try:
            if self.lp is not None:
                check_backend(self.lp)
            if self.lp_options is not None:
                if self.lp not in (None, HIGHS):
                    raise InputError(f"lp_options: they apply to HiGHS only, not to lp={self.lp!r}")
                check_options(self.lp_options)
        except BackendError as error:
            raise InputError(f"lp: {error}") from None
        except OptionError as error:
            raise InputError(f"lp_options: {error}") from None


CLAIMS = ("bounding", "heuristics", "reductions", "enumeration", "rounding", "complete")
"""Fields that are valid only for the rows that they were written for."""


_PARTS: tuple[tuple[str, type, str], ...] = (
    ("stabilization", Stabilization, "Wentges()"),
    ("bounding", Bounding, "ColumnGeneration()"),
    ("choice", Choice, "StrongBranching()"),
)
_LISTS: tuple[tuple[str, type, str], ...] = (
    ("heuristics", Heuristic, "RestrictedMIP()"),
    ("reductions", Reduction, "ReducedCostFixing(...)"),
)


def check_list(value: Any, expected: str) -> Iterable[Any]:
    """Return a list that can be read more than once, or raise InputError, whose message begins with ``expected``."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{expected}, not {describe(value)}")
    if iter(value) is value:
        raise InputError(f"{expected}, not an iterator, which can be read only once")
    return value
