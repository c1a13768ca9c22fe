"""The restricted master problem: what the engine needs of it."""

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
from colgen.core.warm_start import Basis
from colgen.master.column_pool import NOWHERE, Ints, Origins
from colgen.master.column_table import Held
from colgen.master.program import SavedBasis
from colgen.pricing.oracles import Pricing, PricingResult

if TYPE_CHECKING:
    from colgen.master.linking import Linking

Floats = NDArray[np.float64]

Answer: TypeAlias = tuple[Sequence[Column], Floats | None]
"""The columns at which an oracle's bound is attained, and how often each is used, where it says so."""
Mask = NDArray[np.bool_]


class MasterStatus(enum.Enum):
    """How a solve of the restricted master ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible, whatever columns may come"
    UNBOUNDED = "unbounded"
    LIMIT = "stopped at a limit"


@dataclass(frozen=True, slots=True)
class MasterSolution:
    """What one solve of the restricted master found.

    Attributes
    ----------
    objective
        The restricted master's optimum; in phase 1 the sum of the artificial variables, signed so that improving it is
        reducing it.
    values
        One entry a column of the master; their meaning is the master's.  A solve that a limit has ended may state
        objective and values of the best whole solution that it has found: it becomes the incumbent if it is better.
    duals
        What the oracles price at.
    phase
        1 while artificial variables are being driven out, else 2.
    integral
        Whether whatever must be whole in an answer is whole; None: the columns of the solution tell.
    exchanging
        Whether the solution uses exchanges, which no answer does: it is then no solution of the relaxation.
    terms
        The sum of the magnitudes of what the objective is the sum of, costs times values; infinite if not known.
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
    """How exact the numbers of a restricted master are at present.

    Attributes
    ----------
    scale
        What differences of objectives are relative to: the size of what an objective is made of.
    offset
        A constant in all objectives, which hides no difference between them.
    rounding
        The rounding error of a reduced cost at the dual values of the last solve.
    cost_rounding
        The rounding error of a column's own cost, and so of an objective.
    finest
        The smallest scale at which reduced costs were found to matter: tolerances are relative to no more.
    feasibility
        An optimum of phase 1 above this proves infeasibility.
    """

    scale: float = 1.0
    offset: float = 0.0
    rounding: float = 0.0
    cost_rounding: float = 0.0
    finest: float = math.inf
    feasibility: float = 0.0


class LinkingRows(ABC):
    """Named rows that link the columns of a restricted master, and their dual values.

    Names are all that must be there.  What else is overridden is used: by separations and branching rules, by
    stabilization and Lagrangian bounds, and by the checks of answers and of what oracles state.

    Attributes
    ----------
    checks_answers
        Whether :meth:`violation` recomputes everything that makes an answer.
    """

    checks_answers: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def __contains__(self, key: object) -> bool:
        """Whether there is a row of this name."""

    @property
    def joined(self) -> Sequence[Row]:
        """Rows that were separated, or that columns have brought, in the order in which they came."""
        return ()

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]] | None:
        """Return the sides of the rows of a block, empty if there is none; None if they are not known."""
        return None

    def packing_sides(self, block: str) -> Mapping[Key, float | None]:
        """Return the upper side of each row of a block that its columns pack.

        ``Σ_j a_j x_j`` is at most that in every answer.  None for a row without an upper side, or in which a variable
        of the template may be negative or has a negative coefficient; empty if there are no such rows.
        """
        return {}

    @property
    def has_artificials(self) -> bool:
        """Whether artificial variables satisfy the rows as long as there are no columns that do."""
        return True

    # --- answers -----------------------------------------------------------------------------------------------------

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        """Return what is wrong with a claimed answer, in words; None if every row and bound holds.

        Parameters
        ----------
        exact
            Rows of integer terms may be missed by the rounding error alone; False: by as much as rows with continuous
            variables.
        """
        return None

    def objective_of(self, solution: Solution) -> float:
        """Return the objective of an integer solution, without the noise that a solver leaves in its own."""
        return solution.objective

    def overuses(self, solved: MasterSolution, pricing: Sequence[Pricing]) -> bool:
        """Whether a solution uses more columns of some pricing problem than any answer does.

        Multiplicities bound answers.  Where a relaxation exceeds them, a dual bound that is made of them may well be
        worse than the relaxation's objective.
        """
        return False

    # --- dual values -------------------------------------------------------------------------------------------------

    def signed(self, duals: OwnDuals) -> OwnDuals:
        """Return dual values of all rows, with zeros in place of those whose sign their row cannot have.

        They are given as they are, of this master or another, or as ``{block: values}``.  The same object is returned
        if nothing changes.  Oracles are asked at such dual values alone.
        """
        return duals

    def guess(self, duals: OwnDuals) -> OwnDuals:
        """Return guessed dual values as :meth:`signed` does; rounding errors are from now on those at the guess."""
        return duals

    def rounding_at(self, duals: OwnDuals) -> float:
        """Return the rounding error of a reduced cost at dual values."""
        return 0.0

    def real_costs(self) -> AbstractContextManager[None]:
        """Count real costs inside, also in phase 1, without solving anything."""
        return nullcontext()

    def best_known(self, duals: OwnDuals, oracles: int) -> Sequence[float] | None:
        """Return the best reduced cost of the columns that came from each of so many pricing problems; None: not known.

        Where there is only one, columns of unknown origin are its own.
        """
        return None

    def itemised(self, stated: float, column: Column, duals: OwnDuals, weight: float) -> str:
        """Return the terms of a column's reduced cost, in words, compared with what was stated; empty if not known."""
        return ""

    def subgradient(self, solved: MasterSolution, answers: Sequence[Answer | None], duals: OwnDuals) -> Floats | None:
        """Return the direction in which the dual bound improves at ``duals``, given each oracle's answer there.

        Columns without amounts are used together as often as the master uses the oracle's.  None if it is not known.
        """
        return None

    def linking(self) -> Linking | None:
        """Return the rows, at the present node, as a Lagrangian relaxation needs them; None if it cannot be made."""
        return None

    def refine(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> bool:
        """Solve and price at a smaller scale, if reduced costs count there that the tolerance hides here.

        Called where no column improves and the bound lacks something all the same.  False if nothing can be done.
        """
        return False

    def far_points(self, budget: Budget) -> Iterator[MasterSolution | None]:
        """Yield points of an unbounded master, each farther than the one before; None if no farther one is found."""
        yield None


class NodeSwitch(ABC):
    """Switches a restricted master from node to node of a search tree, and into dives and out of them."""

    @abstractmethod
    def apply(self, decisions: Sequence[Decision]) -> None:
        """Switch to the node of these branching decisions."""

    def fix(self, fixed: Mapping[Hashable, float], proper: str | None = None) -> tuple[tuple[Column, float], ...]:
        """Raise the lower bounds of columns, by identity, for diving, and return these columns with their bounds.

        An empty mapping releases all.

        With ``proper``, the name of a block of rows, columns that cover more of a row than the fixed ones leave over
        are switched off.
        """
        if fixed:
            raise FormulationError(f"{type(self).__name__} cannot fix columns")
        return ()

    def basis(self) -> SavedBasis | None:
        """Return whatever makes a later solve start warm; it is handed to :meth:`restore`."""
        return None

    def restore(self, basis: SavedBasis | Basis) -> None:
        """Start the next solve from a basis saved earlier, or the first one from a basis of another run."""

    def begin_feasible(self) -> None:
        """Begin in phase 2: the columns of a checked answer have been added, so that the rows can be satisfied."""

    def end_exchanges(self) -> bool:
        """Fix exchanges at zero, from now on and at every node; return whether any was free at this one."""
        return False

    def remove_stale(self, age: int) -> int:
        """Remove generated columns that have not improved for ``age`` solves; return how many."""
        return 0


class IntegerSearch(ABC):
    """Integer solutions over the columns of a restricted master; the engine checks each before it counts."""

    @abstractmethod
    def solve(
        self, time_limit: float = math.inf, start: Solution | None = None, stopped: Callable[[], bool] | None = None
    ) -> tuple[Solution | None, float]:
        """Return the best integer solution of the columns at hand, and a bound on the objectives of these.

        Parameters
        ----------
        start
            A solution to start from.
        stopped
            Called now and then; the search ends early once it returns True.
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
        """Return the best integer solution that exchanging columns one at a time finds; None if there is none.

        Parameters
        ----------
        start
            A solution, fractional in general, whose integer parts are where the search begins.
        target
            Solutions must be no worse than this.
        bound
            The search ends once no better solution can come.
        step
            What objectives are multiples of; None if no such number is known.
        steps, seed, stopped
            The search ends after so many exchanges, or once ``stopped`` returns True; it depends on the seed alone.
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
    ) -> tuple[MasterStatus, Solution | None]:
        """Return the best integer solution of given columns alone, in or not in the master, at the present node.

        Parameters
        ----------
        sides
            Sides of rows that replace the present ones.
        target
            Only solutions at least as good are wanted; one that is exactly as good will do if ``any_will_do``.
        values
            Dual values of rows, at which no column earns much more than its cost: a set covering is then searched by
            them instead of by a mixed-integer program.
        """
        return MasterStatus.LIMIT, None

    def round(self, solution: Solution) -> Solution | None:
        """Return an answer near a fractional solution, made of its own columns; None if none is found."""
        return None


class RestrictedMaster(ABC):
    """What the engine needs of a restricted master problem.

    A master need not be a linear program: it may be a dynamic program whose dual values are messages.  The engine hands
    its duals to the oracles and its columns back, and asks it what a round proves.
    """

    sense: Sense

    def __init_subclass__(cls) -> None:
        refuse_old_methods("RestrictedMaster", cls)

    if not TYPE_CHECKING:  # a checker of types would accept any attribute

        def __getattr__(self, name: str) -> Any:
            raise missing("RestrictedMaster", self, name)

    precision: Precision = Precision()

    rows: LinkingRows | None = None
    """Rows that link its columns, and their dual values; None for a master without named rows."""

    node: NodeSwitch | None = None
    """Switches it to other nodes; None for a master that is only solved at the root."""

    integer: IntegerSearch | None = None
    """Integer solutions over its columns; None where nothing looks for any."""

    oracles: Sequence[Pricing] = ()
    """Who must be able to price what rows count; known once a run begins."""

    @abstractmethod
    def solve(self, budget: Budget) -> MasterSolution:
        """Optimise over the columns and rows that are there."""

    @abstractmethod
    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        """Add rows, then columns, that are not there yet; return how many columns were new.

        Parameters
        ----------
        origins
            The number of the pricing problem that each column came from, or that all of them did; -1: not known.
        """

    @abstractmethod
    def price(self, columns: Sequence[Column], duals: OwnDuals) -> Floats:
        """Return the reduced costs of columns, in the master or not."""

    @abstractmethod
    def bound(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        """The bound on the full master's optimum that the oracles' results at ``duals`` prove."""

    @abstractmethod
    def solution(self, solved: MasterSolution) -> Solution:
        """The columns in use."""

    answers_late: bool = False
    """Whether the oracles answer at once, with some bound, where no time is left: then they are asked all the same."""

    holds_columns: bool = True
    """Whether it keeps the columns that it is given; a master that does not is priced without dual values too."""

    def pool(self, duals: OwnDuals) -> Pool | None:
        """The columns that are here, with their reduced costs at some dual values; None where nobody asks for them."""
        return None

    @property
    @abstractmethod
    def num_columns(self) -> int:
        """Columns in the master."""

    @property
    def num_rows(self) -> int:
        """Rows in the master."""
        return 0 if self.rows is None else len(self.rows)

    def find(self, columns: Sequence[Column]) -> Ints:
        """Return positions of columns in the master; -1 for those that it does not hold, or does not find."""
        return np.full(len(columns), NOWHERE)

    def at(self, position: int) -> Held:
        """Return the column at a position that :meth:`find` has found."""
        raise NotImplementedError(f"{type(self).__name__} finds columns, so it needs at()")


def switch(master: RestrictedMaster, decisions: Sequence[Decision], basis: SavedBasis | None = None) -> None:
    """Switch a master to the node of these branching decisions, and to a basis that was saved near it.

    Raises
    ------
    FormulationError
        If there are decisions, and columns but no nodes.
    """
    if master.node is not None:
        master.node.apply(decisions)
        if basis is not None:
            master.node.restore(basis)
    elif decisions and master.holds_columns:  # where it holds none, the oracles alone have to honour them
        raise FormulationError(f"{type(master).__name__} has no nodes: give it a part that applies branching decisions")


def real_costs(master: RestrictedMaster) -> AbstractContextManager[None]:
    """Count real costs inside, also where the master is in phase 1."""
    return nullcontext() if master.rows is None else master.rows.real_costs()


def is_integral(master: RestrictedMaster, solved: MasterSolution) -> bool:
    """Whether a solution of a master may be an answer: whatever must be whole is, and it uses no exchanges."""
    if solved.integral is None:
        return not solved.exchanging and master.solution(solved).is_integral
    return solved.integral
