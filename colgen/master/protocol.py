"""The interface of a restricted master problem."""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget
from colgen.core.columns import Column, Key, Row
from colgen.core.decision import Decision
from colgen.core.duals import OwnDuals
from colgen.core.errors import FormulationError
from colgen.core.pool import Pool
from colgen.core.renamed import missing, refuse_old_methods
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.text import Described
from colgen.core.warm_start import Basis
from colgen.master.column_pool import NOWHERE, Ints, Origins
from colgen.master.column_table import Held
from colgen.master.program import SavedBasis
from colgen.pricing.oracles import Pricing, PricingResult

if TYPE_CHECKING:
    from colgen.master.linking import Linking

Floats = NDArray[np.float64]

Answer: TypeAlias = tuple[Sequence[Column], Floats | None]
"""Columns at which an oracle's bound is attained, and their values if known."""
Mask = NDArray[np.bool_]


class MasterStatus(enum.Enum):
    """Status of a solve of the restricted master."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible for any columns"
    UNBOUNDED = "unbounded"
    LIMIT = "stopped at a limit"


@dataclass(frozen=True, slots=True)
class MasterSolution:
    """Result of one solve of the restricted master.

    Attributes
    ----------
    objective
        In phase 1 the sum of the artificial variables, negated when maximising, so that a smaller sum is better.
    values
        One value per column of the master, in the master's own representation.  If a limit stops the solve, objective
        and values may belong to an integer solution, which may become the incumbent.
    phase
        1 while artificial variables are positive, otherwise 2.
    integral
        Whether all integer variables are integral; None: determined from the solution's columns.
    exchanging
        Whether the solution uses exchange variables (:func:`colgen.exchange`).  Then it does not solve the relaxation.
    terms
        The sum of the magnitudes of costs times values; infinite if unknown.
    """

    status: MasterStatus
    objective: float = math.nan
    values: Any = None
    duals: OwnDuals = None
    phase: int = 2
    integral: bool | None = None
    exchanging: bool = False
    terms: float = math.inf


@dataclass(frozen=True, slots=True)
class Precision:
    """Numerical accuracy of a restricted master at present.

    Attributes
    ----------
    scale
        Typical size of costs, to which differences of objectives are relative.
    offset
        A constant in all objectives.  Differences are not relative to it.
    rounding
        Rounding error of a reduced cost at the dual values of the last solve.
    cost_rounding
        Rounding error of a column's own cost, and so of an objective.
    finest
        Smallest scale at which reduced costs were found to matter.  Tolerances are relative to at most this.
    feasibility
        A phase 1 optimum above this proves infeasibility.
    """

    scale: float = 1.0
    offset: float = 0.0
    rounding: float = 0.0
    cost_rounding: float = 0.0
    finest: float = math.inf
    feasibility: float = 0.0


class LinkingRows(ABC):
    """Named rows that link the columns of a restricted master, and their dual values.

    Only the names are required.  Separations, branching rules, stabilization, Lagrangian bounds and checks use the
    other methods if overridden.

    Attributes
    ----------
    checks_answers
        Whether :meth:`violation` checks all conditions of a feasible solution.
    """

    checks_answers: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def __contains__(self, key: object) -> bool:
        """Return whether there is a row of this name."""

    @property
    def joined(self) -> Sequence[Row]:
        """Rows from separations and columns, in the order in which they were added."""
        return ()

    def release(self, keys: Sequence[Key]) -> int:
        """Remove the sides of rows from separations until they are added again.  Return how many had any."""
        return 0

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]] | None:
        """Return lower and upper sides of the rows of a block, possibly empty, or None if unknown."""
        return None

    def packing_sides(self, block: str) -> Mapping[Key, float | None]:
        """Return the upper side of each packing row of a block.

        ``Σ_j a_j x_j`` is at most that in every feasible solution.  The side is None if the row has no upper side, or
        if a variable of the template in it may be negative or has a negative coefficient.
        """
        return {}

    @property
    def has_artificials(self) -> bool:
        """Whether artificial variables can satisfy the rows before there are enough columns."""
        return True

    # --- solutions ---------------------------------------------------------------------------------------------------

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        """Return why a solution is infeasible; None if every row and bound holds.

        Parameters
        ----------
        exact
            True: rows of integer terms hold up to rounding errors.  False: within the tolerance of other rows.
        """
        return None

    def objective_of(self, solution: Solution) -> float:
        """Return the objective of an integer solution without the solver's rounding error."""
        return solution.objective

    def overuses(self, solved: MasterSolution, pricing: Sequence[Pricing]) -> bool:
        """Return whether a solution uses more columns of a pricing problem than its multiplicity.

        Multiplicities hold for integer solutions.  If a relaxation exceeds them, a dual bound based on them may be
        worse than the relaxation's objective.
        """
        return False

    # --- dual values -------------------------------------------------------------------------------------------------

    def signed(self, duals: OwnDuals) -> OwnDuals:
        """Return dual values of all rows, with wrong signs set to zero.

        The input is dual values of this or another master, or ``{block: values}``.  The same object is returned if
        nothing changes.  Oracles are called only at such dual values.
        """
        return duals

    def guess(self, duals: OwnDuals) -> OwnDuals:
        """Return the same as :meth:`signed`, and from now on assume the rounding errors of these dual values."""
        return duals

    def rounding_at(self, duals: OwnDuals) -> float:
        """Return the rounding error of a reduced cost at dual values."""
        return 0.0

    def real_costs(self) -> AbstractContextManager[None]:
        """Return a context in which real costs are used, also in phase 1.  Nothing is solved."""
        return nullcontext()

    def best_known(self, duals: OwnDuals, oracles: int) -> Sequence[float] | None:
        """Return the best reduced cost of the master's columns for each pricing problem; None if unknown.

        If there is only one pricing problem, columns of unknown origin count as its own.
        """
        return None

    def itemised(self, stated: float, column: Column, duals: OwnDuals, weight: float) -> str:
        """Return a text, possibly empty, that compares a column's reduced cost with the stated one."""
        return ""

    def subgradient(self, solved: MasterSolution, answers: Sequence[Answer | None], duals: OwnDuals) -> Floats | None:
        """Return the dual bound's subgradient at ``duals``, given the oracles' solutions.

        An answer has an oracle's columns and how often each is used.  Without these amounts, the columns share equally
        the total that the master uses of this oracle's columns.  None if the subgradient is unknown.
        """
        return None

    def linking(self) -> Linking | None:
        """Return the rows at the present node for a Lagrangian relaxation, or None."""
        return None

    def refine(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> bool:
        """Refine the scale if the tolerance hides reduced costs that matter.  Return whether it has changed.

        Called if no column improves but the bound does not meet the objective.
        """
        return False

    def far_points(self, budget: Budget) -> Iterator[MasterSolution | None]:
        """Yield points of an unbounded master, each farther out than the one before, or None on failure."""
        yield None


class NodeSwitch(ABC):
    """Applies branching decisions and dives to a restricted master."""

    @abstractmethod
    def apply(self, decisions: Sequence[Decision]) -> None:
        """Switch to the node of these branching decisions."""

    def fix(self, fixed: Mapping[Hashable, float], proper: str | None = None) -> tuple[tuple[Column, float], ...]:
        """Raise the lower bounds of columns, by identity, for diving.  Return these columns with their bounds.

        An empty mapping removes these bounds.  ``proper`` is the name of a block of rows.  A column is disabled if it
        covers more of these rows than the fixed columns leave uncovered.
        """
        if fixed:
            raise FormulationError(f"{type(self).__name__} cannot fix columns")
        return ()

    def basis(self) -> SavedBasis | None:
        """Return the basis for a later warm start by :meth:`restore`."""
        return None

    def restore(self, basis: SavedBasis | Basis) -> None:
        """Start the next solve from a saved basis, or from another run's."""

    def begin_feasible(self) -> None:
        """Begin in phase 2: the columns of a verified solution can satisfy the rows."""

    def end_exchanges(self) -> bool:
        """Fix exchange variables at zero from now on.  Return whether any was free at this node."""
        return False

    def remove_stale(self, age: int) -> int:
        """Remove columns that their reduced cost has kept at zero in ``age`` solves.  Return their number."""
        return 0


class IntegerSearch(ABC):
    """Finds integer solutions over the columns of a restricted master.  The engine verifies each."""

    @abstractmethod
    def solve(
        self,
        time_limit: float = math.inf,
        start: Solution | None = None,
        stopped: Callable[[], bool] | None = None,
        work: float = math.inf,
    ) -> tuple[Solution | None, float]:
        """Return the best integer solution of the columns, and a bound.

        Parameters
        ----------
        start
            An initial solution.
        stopped
            Called regularly.  The search ends once it returns True.
        work
            Limit on the work, see :mod:`colgen.solvers.work`.
        """

    def exchange(
        self,
        start: Solution,
        target: float,
        bound: float,
        step: float | None,
        steps: int,
        seed: int,
        stopped: Callable[[], bool],
    ) -> Solution | None:
        """Return the best integer solution found by local search, which exchanges columns one at a time, or None.

        Parameters
        ----------
        start
            An initial solution, in general fractional, of which the integer parts are used.
        target, bound
            Solutions must not be worse than ``target``.  The search ends at the objective ``bound``.
        step
            Objectives are multiples of this; None if unknown.
        steps, seed, stopped
            The search ends after ``steps`` exchanges, or once ``stopped`` returns True.  It depends only on the seed.
        """
        return None

    def solve_over(
        self,
        columns: Sequence[Column],
        sides: Mapping[Key, tuple[float, float]],
        target: float,
        time_limit: float,
        *,
        any_will_do: bool = False,
        stopped: Callable[[], bool] | None = None,
        values: Mapping[Key, float] | None = None,
        work: float = math.inf,
    ) -> tuple[MasterStatus, Solution | None]:
        """Return the best integer solution of the given columns, in the master or not, at the present node.

        Parameters
        ----------
        sides
            Sides of rows that replace the present ones.
        target
            Solutions must be at least as good; with ``any_will_do`` the first such solution suffices.
        values
            Dual values at which no column's reduced cost is much below zero.  A set covering is then solved by a search
            that uses them, without a mixed-integer program.
        work
            Limit on the work, see :mod:`colgen.solvers.work`.
        """
        return MasterStatus.LIMIT, None

    def round(self, solution: Solution) -> Solution | None:
        """Return an integer solution near a fractional one, of the same columns, or None."""
        return None


class RestrictedMaster(Described, ABC):
    """The restricted master problem that the engine solves.

    It need not be a linear program; for example, it may be a dynamic program whose dual values are messages.  The
    engine passes its dual values to the oracles, adds their columns, and uses its bounds.
    """

    sense: Sense

    def __init_subclass__(cls) -> None:
        refuse_old_methods("RestrictedMaster", cls)

    if not TYPE_CHECKING:  # a type checker would accept any attribute

        def __getattr__(self, name: str) -> Any:
            raise missing("RestrictedMaster", self, name)

    precision: Precision = Precision()

    rows: LinkingRows | None = None
    """Rows that link the columns, and their dual values, if any."""

    node: NodeSwitch | None = None
    """Applies branching decisions; None if only the root is solved."""

    integer: IntegerSearch | None = None
    """Finds integer solutions over the columns; None if it cannot."""

    oracles: Sequence[Pricing] = ()
    """Oracles that must price the rows' terms; set when a run begins."""

    @abstractmethod
    def solve(self, budget: Budget) -> MasterSolution:
        """Optimise over the present columns and rows."""

    @abstractmethod
    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        """Add new rows, then new columns.  Return the number of new columns.

        Parameters
        ----------
        origins
            Index of the pricing problem of each column, or one for all; -1 if unknown.
        """

    @abstractmethod
    def price(self, columns: Sequence[Column], duals: OwnDuals) -> Floats:
        """Return the reduced costs of columns, in the master or not."""

    @abstractmethod
    def bound(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        """Return the bound on the full master that the oracles' results prove."""

    @abstractmethod
    def solution(self, solved: MasterSolution) -> Solution:
        """Return the columns in use, with their values."""

    answers_late: bool = False
    """Whether to call the oracles even without time left, because they return some bound at once."""

    holds_columns: bool = True
    """Whether it stores columns.  A master that does not is priced without dual values too."""

    def pool(self, duals: OwnDuals) -> Pool | None:
        """Return the columns with their reduced costs, or None if not supported."""
        return None

    @property
    @abstractmethod
    def num_columns(self) -> int:
        """Number of columns in the master."""

    @property
    def num_rows(self) -> int:
        """Number of rows in the master."""
        return 0 if self.rows is None else len(self.rows)

    def find(self, columns: Sequence[Column]) -> Ints:
        """Return positions of columns in the master, -1 for others."""
        return np.full(len(columns), NOWHERE)

    def at(self, position: int) -> Held:
        """Return the column at a position returned by :meth:`find`."""
        raise NotImplementedError(f"{type(self).__name__} implements find(), so it must implement at()")


def switch(master: RestrictedMaster, decisions: Sequence[Decision], basis: SavedBasis | None = None) -> None:
    """Apply branching decisions, and a basis saved near that node.

    A master that stores columns but cannot apply decisions raises a :class:`FormulationError`.
    """
    if master.node is not None:
        master.node.apply(decisions)
        if basis is not None:
            master.node.restore(basis)
    elif decisions and master.holds_columns:  # otherwise only the oracles have to respect the decisions
        raise FormulationError(f"{type(master).__name__} cannot apply branching decisions: set its attribute node")


def real_costs(master: RestrictedMaster) -> AbstractContextManager[None]:
    """Return a context in which real costs are used, also if the master is in phase 1."""
    return nullcontext() if master.rows is None else master.rows.real_costs()


def is_integral(master: RestrictedMaster, solved: MasterSolution) -> bool:
    """Return whether a solution has integral values of integer variables, and no exchanges."""
    if solved.integral is None:
        return not solved.exchanging and master.solution(solved).is_integral
    return solved.integral
