"""The restricted master problem: what the engine needs of it."""

from __future__ import annotations

import dataclasses
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
from colgen.core.decision import Decision, fractionality
from colgen.core.duals import OwnDuals
from colgen.core.errors import FormulationError, InputError
from colgen.core.pool import Pool
from colgen.core.renamed import METHODS, missing
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.warm_start import Basis
from colgen.master.column_pool import NOWHERE, Ints, Origins
from colgen.master.column_table import Held
from colgen.master.linking import Linking
from colgen.master.program import SavedBasis
from colgen.pricing.oracles import Pricing, PricingResult

Floats = NDArray[np.float64]

Answer: TypeAlias = tuple[Sequence[Column], Floats | None]
"""The columns at which an oracle's bound is attained, and how often each is used, where it says so."""


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
    """

    status: MasterStatus
    objective: float = math.nan
    values: Any = None
    duals: OwnDuals = None
    phase: int = 2


class RestrictedMaster(ABC):
    """What the engine needs of a restricted master problem.

    A master need not be a linear program: it may be a dynamic program whose dual values are messages.  The engine hands
    its duals to the oracles and its columns back, and asks it what a round proves.
    """

    sense: Sense

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in METHODS["RestrictedMaster"].keys() & vars(cls).keys():
            raise InputError(
                f"{cls.__name__}.{name}() is never used any more: write {METHODS['RestrictedMaster'][name]}. If it is "
                "your own, choose another name"
            )

    if not TYPE_CHECKING:  # a type checker reports attributes that are not there

        def __getattr__(self, name: str) -> Any:
            if name in METHODS["RestrictedMaster"]:
                raise missing("RestrictedMaster", self, name)
            return object.__getattribute__(self, name)  # raises

    scale: float = 1.0
    """What differences of objectives are relative to: the size of what an objective is made of."""

    @property
    def offset(self) -> float:
        """What all objectives have in common, which hides no difference between them."""
        return 0.0

    oracles: Sequence[Pricing] = ()
    """Who must be able to price what rows count; known once a run begins."""

    @property
    def rounding(self) -> float:
        """What rounding may leave of a reduced cost at the dual values of the last solve."""
        return 0.0

    @property
    def cost_rounding(self) -> float:
        """What rounding may leave of a column's cost by itself, and so of an objective."""
        return 0.0

    def rounding_at(self, duals: OwnDuals) -> float:
        """What rounding may leave of a reduced cost at other dual values of the same rows."""
        return self.rounding

    def terms(self, solved: MasterSolution) -> float:
        """The sum of the magnitudes of what an objective is the sum of, costs times values; infinite if not known."""
        return math.inf

    @property
    def finest(self) -> float:
        """The smallest scale that reduced costs were found to matter at: the tolerance is relative to no more."""
        return math.inf

    def refine(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> bool:
        """Solve and price at a smaller scale, if reduced costs count there that the tolerance hides here.

        Asked where no column improves and the bound lacks something all the same; False if nothing can be done.
        """
        return False

    @property
    def feasibility_tolerance(self) -> float:
        """A phase 1 optimum above this proves infeasibility."""
        return 0.0

    @property
    def is_driven(self) -> bool:
        """Whether something drives columns in: variables that are artificial, or a master that is no linear program."""
        return True

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Options of the solver of linear programs, by name, before the first solve."""
        raise InputError(f"lp_options: {type(self).__name__} is no linear program, so it has none")

    def set_solver(self, name: str) -> None:
        """Which solver of linear programs it is, before the first solve."""
        raise InputError(f"lp: {type(self).__name__} is no linear program, so it has no solver of one")

    @abstractmethod
    def solve(self, budget: Budget) -> MasterSolution:
        """Optimise over the columns and rows that are there."""

    def solve_in_a_box(self, budget: Budget) -> MasterSolution | None:
        """Optimise an unbounded master within large bounds, for separations to look at; None if that says nothing."""
        return None

    def along_a_ray(self, far: MasterSolution, budget: Budget) -> Iterator[MasterSolution] | None:
        """Points of an unbounded master that are ever farther than that in the box; None if no ray is found."""
        return None

    @abstractmethod
    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        """Add rows, then columns, that are not there yet; returns how many columns were new.

        Parameters
        ----------
        origins
            The number of the pricing problem that each column came from, or that all of them did; -1: not known.
        """

    def begin_feasible(self) -> None:
        """The columns of a checked answer are there: the first solve may count on a feasible point."""

    @abstractmethod
    def price(self, columns: Sequence[Column], duals: OwnDuals) -> Floats:
        """Reduced costs of columns, in the master or not."""

    @abstractmethod
    def dual_bound(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        """The bound on the full master's optimum that the oracles' results at ``duals`` prove."""

    @abstractmethod
    def solution(self, solved: MasterSolution) -> Solution:
        """The columns in use."""

    needs_duals: bool = True
    """Whether oracles can be asked at guessed dual values only; otherwise a warm start without any is priced too."""

    answers_late: bool = False
    """Whether the oracles answer at once, with some bound, where no time is left: then they are asked all the same."""

    holds_columns: bool = True
    """Whether columns are handed to :meth:`add` for more than nothing."""

    def real_costs(self) -> AbstractContextManager[None]:
        """Count real costs inside, also in phase 1, without solving anything."""
        return nullcontext()

    def linking(self) -> Linking | None:
        """Its rows, at the present node, as a Lagrangian relaxation sees them; None if there are none."""
        return None

    def objective_of(self, solution: Solution) -> float:
        """The objective of a whole solution, without the noise that a solver leaves in its own."""
        return solution.objective

    checks_rows: bool = False
    """Whether :meth:`violation` recomputes everything that makes an answer."""

    solves_integers: bool = False
    """Whether :meth:`solve_integer`, :meth:`solve_over` and :meth:`rounded` ever find anything."""

    def solve_integer(
        self, time_limit: float = math.inf, start: Solution | None = None, stopped: Callable[[], bool] | None = None
    ) -> tuple[Solution | None, float]:
        """The best whole solution of the columns at hand, and a bound on those; it proves nothing about others.

        Parameters
        ----------
        start
            A solution to start from.
        stopped
            Asked now and then whether to end early.
        """
        return None, self.sense.ideal

    def exchanged(
        self,
        start: Solution,
        target: float,
        bound: float,
        step: float | None,
        steps: int,
        seed: int,
        stopped: Callable[[], bool],
    ) -> Solution | None:
        """The best whole solution that exchanging columns one at a time finds; None if none, or if it cannot be tried.

        Parameters
        ----------
        start
            A solution, fractional in general, whose whole parts are where the search begins.
        target
            Solutions are to be no worse than this.
        bound
            The search ends once no better solution can come.
        step
            What objectives are multiples of; None if nothing of the kind is known.
        steps, seed, stopped
            The search ends after so many exchanges, or when ``stopped`` says so; it is the same for the same seed.
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
        """The best whole solution of given columns alone, in or not in the master, at the present node.

        Parameters
        ----------
        sides
            Sides of rows that replace the present ones.
        target
            Only solutions at least as good are wanted; one that is exactly as good will do if ``any_will_do``.
        values
            Dual values, where a covering is to be searched by them instead of by a mixed-integer program.
        """
        return MasterStatus.LIMIT, None

    def rounded(self, solution: Solution) -> Solution | None:
        """An answer near a fractional solution, made of its own columns; None if none is found."""
        return None

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        """What is wrong with a claimed answer, in words; None if nothing is, as far as this master can tell."""
        return None

    def exchanges(self, solved: MasterSolution) -> bool:
        """Whether a solution uses exchanges, which no answer does: it is then no solution of the relaxation."""
        return False

    def end_exchanges(self) -> bool:
        """Fix exchanges at zero, from now on and at every node; whether any was free at this one."""
        return False

    def overuses(self, solved: MasterSolution, pricing: Sequence[Pricing]) -> bool:
        """Whether a solution uses more columns of some pricing problem than any answer does.

        Multiplicities bound answers.  Where a relaxation exceeds them, a dual bound that is made of them may well be
        worse than the relaxation's objective.
        """
        return False

    def start_at(self, basis: Basis) -> None:
        """Let the first solve start from a basis of another run; a master that has no such thing passes it over."""

    def pool(self, duals: OwnDuals) -> Pool | None:
        """The columns that are here, with their reduced costs at some dual values; None where nobody asks for them."""
        return None

    @property
    @abstractmethod
    def num_columns(self) -> int:
        """Columns in the master."""

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """Rows in the master."""

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]] | None:
        """Sides of the rows of a block, empty if there is none; None: this master does not tell."""
        return None

    def packing_sides(self, block: str) -> Mapping[Key, float | None]:
        """The upper side of each row of a block that its columns pack: ``Σ_j a_j x_j`` is at most that in every answer.

        None for a row without an upper side, or in which a variable of the template may be negative or has a negative
        coefficient; empty if there are no such rows, or if this master does not tell.
        """
        return {}

    @property
    def joined_rows(self) -> Sequence[Row]:
        """Rows that were separated, or that columns have brought, in the order in which they came."""
        return ()

    def has_row(self, key: Key) -> bool:
        """Whether the master has a row of this name already."""
        return False

    def find(self, columns: Sequence[Column]) -> Ints:
        """Positions of columns in the master; -1 for those that it does not hold, or does not find."""
        return np.full(len(columns), NOWHERE)

    def at(self, position: int) -> Held:
        """The column at a position that :meth:`find` has found."""
        raise NotImplementedError(f"{type(self).__name__} finds columns, so it needs at()")

    def is_whole(self, solved: MasterSolution) -> bool:
        """Whether every variable that must be whole in an answer is whole in this solution."""
        return all(not fractionality(value) for column, value in self.solution(solved).columns if column.integer)

    def made_whole(self, solution: Solution) -> Solution:
        """The same solution with values within the tolerance of whole numbers made exactly whole."""
        if not solution.variables and all(value == round(value) and value for _, value in solution.columns):
            return solution
        columns = tuple(
            (column, float(round(value)) if column.integer and not fractionality(value) else value)
            for column, value in solution.columns
        )
        variables = {
            key: float(round(value)) if key in solution.integer and not fractionality(value) else value
            for key, value in solution.variables.items()
        }
        return dataclasses.replace(solution, columns=tuple(p for p in columns if p[1]), variables=variables)

    def best_known(self, duals: OwnDuals, oracles: int) -> Sequence[float]:
        """The best reduced cost of the columns in the master that came from each of so many pricing problems.

        Where there is only one, columns of unknown origin are its own.
        """
        return [self.sense.hopeless] * oracles

    def itemised(self, stated: float, column: Column, duals: OwnDuals, weight: float) -> str:
        """What the reduced cost of a column is made of, in words, beside what was stated of it; empty if not known."""
        return ""

    def named(self, duals: OwnDuals) -> Mapping[Key, float] | None:
        """Dual values by the names of their rows; None if rows have no names."""
        return None

    def signed(self, duals: OwnDuals) -> OwnDuals:
        """Dual values with zeros in place of those whose sign their row cannot have; the same object if there is none.

        No oracle is asked at others.
        """
        return duals

    def guessed(self, duals: OwnDuals) -> OwnDuals:
        """A guess at dual values, as ``{block: values}`` say, made what oracles and :meth:`dual_bound` read."""
        return duals

    def centre(self, duals: OwnDuals) -> Floats | None:
        """Dual values of another node, or guessed as ``{block: values}``, made fit to smooth from; None if unfit."""
        return None

    def subgradient(self, solved: MasterSolution, answers: Sequence[Answer | None], duals: OwnDuals) -> Floats | None:
        """Direction in which the dual bound improves at ``duals``, given each oracle's answer there; None if unknown.

        Columns without amounts are used together as often as the master uses the oracle's.
        """
        return None

    def apply(self, decisions: Sequence[Decision]) -> None:
        """Switch to the node of these branching decisions."""
        if decisions:
            raise FormulationError(f"{type(self).__name__} does not know branching decisions")

    def fix(self, fixed: Mapping[Hashable, float], proper: str | None = None) -> tuple[tuple[Column, float], ...]:
        """Raise the lower bounds of columns, by identity, for diving; an empty mapping releases all.

        Returns the columns with their bounds.

        With ``proper``, the name of a block of rows, columns that cover more of a row than the fixed ones leave over
        are switched off.
        """
        if fixed:
            raise FormulationError(f"{type(self).__name__} cannot fix columns")
        return ()

    def remove_stale(self, age: int) -> int:
        """Delete generated columns that have not improved for ``age`` solves; returns how many."""
        return 0

    def basis(self) -> SavedBasis | None:
        """Whatever makes a later solve start warm; handed to :meth:`restore`."""
        return None

    def restore(self, basis: SavedBasis) -> None:
        """Start the next solve from a basis saved earlier."""
