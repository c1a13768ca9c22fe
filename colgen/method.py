"""`Method`: how a problem is solved, which is what an ablation varies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from colgen.bounding.protocol import Bounding
from colgen.branching.selection import Choice
from colgen.core.errors import InputError
from colgen.core.numbers import real, whole
from colgen.core.sense import Sense
from colgen.core.text import describe
from colgen.core.tolerances import TOLERANCES
from colgen.heuristics import Heuristic
from colgen.solvers.linear.backends.registry import HIGHS, BackendError, check_backend
from colgen.solvers.linear.options import OptionError, check_options
from colgen.stabilization import Stabilization
from colgen.tree.queues import NodeQueue


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a problem is solved.  Fields that are None leave the choice to the problem.

    Attributes
    ----------
    stabilization
        At which dual values a round prices: ``Wentges()``, say.
    bounding
        How nodes are bounded: ``Chain(Volume(200), ColumnGeneration())``, say.
    heuristics
        Primal heuristics; ``()`` for none.
    choice
        How the tree selects among the candidates of a branching rule: ``StrongBranching()``, say.
    queue
        Which open node comes next: a class of :mod:`colgen.tree.queues`.  By default ``Plunging``, and on a
        cluster ``BestBound``.
    pricing_share
        Of many pricing problems, solve this share at a time, in turn, until one returns a column; all of them are
        solved before anything is proved.  It pays where oracles are slow and most rounds find columns anywhere.
    clean_up_after
        Delete columns that have not improved for so many solves; None keeps all.
    tolerance
        A column improves if its reduced cost gains more than this, relative to the scale of the objective.
    lp
        The solver of the restricted master's linear programs instead of HiGHS, where it is installed: ``"gurobi"``,
        ``"xpress"``, ``"cplex"``, ``"soplex"``, ``"glpk"``, ``"clp"``.
    lp_options
        Options of HiGHS for the restricted master's linear programs, by name: ``{"simplex_price_strategy": 1}``.

    Raises
    ------
    InputError
        If a field is out of its domain; the message names it.
    """

    stabilization: Stabilization | None = None
    bounding: Bounding | None = None
    heuristics: Sequence[Heuristic] | None = None
    choice: Choice | None = None
    queue: Callable[[Sense], NodeQueue] | None = None
    pricing_share: float = 1.0
    clean_up_after: int | None = None
    tolerance: float = TOLERANCES.reduced_cost
    lp: str | None = None
    lp_options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name, kind, example in _PARTS:
            part = getattr(self, name)
            if part is not None and not isinstance(part, kind):
                raise InputError(f"{name}: expected a {kind.__name__}, such as {example}, not {describe(part)}")
        if self.heuristics is not None:
            for heuristic in listed(self.heuristics, "heuristics: expected a list of heuristics"):
                if not isinstance(heuristic, Heuristic):
                    raise InputError(
                        f"heuristics: expected heuristics, such as RestrictedMIP(), not {describe(heuristic)}"
                    )
        if self.queue is not None and not callable(self.queue):
            raise InputError(f"queue: expected a class of queues, such as BestBound, not {describe(self.queue)}")
        if self.clean_up_after is not None:
            whole(self.clean_up_after, "clean_up_after", low=1)
        if not 0.0 < real(self.pricing_share, "pricing_share") <= 1.0:
            raise InputError(f"pricing_share: expected a share above 0 and at most 1, not {self.pricing_share}")
        if not real(self.tolerance, "tolerance") > 0.0:
            raise InputError(f"tolerance: expected a positive number, not {self.tolerance}")
        self._check_solver()

    def _check_solver(self) -> None:
        try:
            if self.lp is not None:
                check_backend(self.lp)
            if self.lp_options is not None:
                if self.lp not in (None, HIGHS):
                    raise InputError(f"lp_options: they are those of HiGHS: leave them out beside lp={self.lp!r}")
                check_options(self.lp_options)
        except BackendError as error:
            raise InputError(f"lp: {error}") from None
        except OptionError as error:
            raise InputError(f"lp_options: {error}") from None


_PARTS: tuple[tuple[str, type, str], ...] = (
    ("stabilization", Stabilization, "Wentges()"),
    ("bounding", Bounding, "ColumnGeneration()"),
    ("choice", Choice, "StrongBranching()"),
)


def listed(value: Any, expected: str) -> Iterable[Any]:
    """Return a list that can be read more than once.

    Raises
    ------
    InputError
        If it is no list, or an iterator; ``expected`` begins the message.
    """
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{expected}, not {describe(value)}")
    if iter(value) is value:
        raise InputError(f"{expected}, not an iterator, which can be read only once")
    return value
