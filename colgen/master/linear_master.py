"""The restricted master as a linear program: born from a Pyomo template, warm-started in HiGHS.

What happens to it is told elsewhere, a noun a module: columns and rows join (:mod:`~colgen.master.growth`), nodes
bound it (:mod:`~colgen.master.node_state`), it is solved in phases (:mod:`~colgen.master.phases`), columns are priced
(:mod:`~colgen.master.reduced_costs`).  All of them work on one :class:`~colgen.master.tableau.Tableau`.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from colgen.core.budget import Budget
from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.decision import Decision
from colgen.core.duals import Duals, OwnDuals, RowNames
from colgen.core.errors import InputError, UnknownRowError
from colgen.core.pool import Pool
from colgen.core.row_batch import RowBatch
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import Basis
from colgen.master import integer_solutions
from colgen.master.answer_check import contributions, itemised, violation
from colgen.master.artificials import Artificials
from colgen.master.bases import Bases
from colgen.master.central_duals import Central, Centrality
from colgen.master.column_pool import Floats, Ints, Origins
from colgen.master.column_table import Generated, Held
from colgen.master.dual_bound import dual_bound, unpriced
from colgen.master.growth import Joining
from colgen.master.idle_columns import IdleColumns
from colgen.master.linking import Linking
from colgen.master.lookup import LookUp
from colgen.master.node_columns import Imposed
from colgen.master.node_state import NodeRows
from colgen.master.phases import Phases
from colgen.master.program import SavedBasis
from colgen.master.protocol import Answer, MasterSolution, MasterStatus, RestrictedMaster
from colgen.master.reduced_costs import ReducedCosts
from colgen.master.tableau import tableau_of
from colgen.model.rows import Rows
from colgen.pricing.cut_terms import check_priced
from colgen.pricing.oracles import Pricing, PricingResult
from colgen.solvers.columns.compressed import are_whole
from colgen.solvers.linear import lp as programs
from colgen.solvers.linear.backends.registry import BackendError, check_backend
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.options import OptionError, check_options

if TYPE_CHECKING:
    import pyomo.environ as pyo


class LinearMaster(RestrictedMaster):
    """A restricted master that is a linear program, warm-started in HiGHS.

    Phase 1 is true: while the artificial variables (marked in the template, or added with rows that zero columns would
    violate) cannot be driven to zero, their sum is minimised and columns cost nothing; once it is zero they are fixed
    there and the real costs return.

    The program is solved at its own scale: rows and objective are multiplied by powers of two, so that tolerances are
    relative (see :mod:`colgen.solvers.linear.lp`); the sum of phase 1 is one of scaled violations.  Everything else,
    and all that oracles see, is in the user's units.

    It is made in HiGHS at its first solve.  Until then it is in phase 2: :meth:`dual_bound`, :meth:`price` and
    :meth:`violation` speak of the real objective, and cost next to nothing.

    Parameters
    ----------
    formulation
        The compiled Pyomo template.
    central
        Take dual values from the middle of the optimal ones, which an interior point method finds, and not from the
        simplex method's corner.  Where the optimum is degenerate, as in set partitioning with few and large parts, that
        saves most rounds (Gondzio, González-Brevis, Munari, *New developments in the primal-dual column generation
        technique*, EJOR 224, 2013), and oracles find central dual values easier.  Each solve costs many times more: it
        pays where the oracles take much longer than the master, or hardly any other way ends.  ``"auto"``: where trials
        of a few rounds tell that the objective comes on twice as fast; they are repeated ever more seldom, and a run
        depends on no clock.
    dual_first
        Solve by the dual simplex method at first: for a master that has all or most of its columns from the start.
    options
        Of HiGHS, by name: ``{"simplex_price_strategy": 1, "random_seed": 7}``.  They are for its linear programs; what
        :meth:`solve_integer` and central dual values need is set elsewhere.
    scale
        The size of the costs that answers are made of, a power of two, where it is known before there is an answer.

    Raises
    ------
    InputError
        If HiGHS has no such option, or not of this value.
    """

    def __init__(
        self,
        formulation: Rows,
        *,
        central: Central = False,
        dual_first: bool = False,
        options: Mapping[str, Any] | None = None,
        scale: float | None = None,
    ) -> None:
        self.formulation = f = formulation
        self.central = central
        self.sense = f.sense
        self._settings: dict[str, Any] = {"scale": scale}
        tableau = tableau_of(f, self._settings, dual_first)
        self.table, self.rows, self.program, self.objective = tableau
        self._lookup, imposed = LookUp(self.rows.names), Imposed()
        self._generated, self._reduced_costs = Generated(self.table, self._lookup), ReducedCosts(tableau, self._lookup)
        self._idle, artificials = IdleColumns(tableau), Artificials(tableau)
        own = weakref.ref(self)  # the master's memory would else wait for the collector of cycles

        def refuse(new: Iterable[Row]) -> None:
            master = own()
            assert master is not None  # whose rows these are
            check_priced(master.oracles, new)

        self._joining = Joining(tableau, self._lookup, imposed, artificials, self._idle, refuse)
        self._node = NodeRows(tableau, imposed, self._joining, artificials, self._idle)
        self._bases = Bases(tableau, f.column_keys, self._generated)
        self._phases = Phases(tableau, artificials, self._idle, self._bases, Centrality(central))
        self._shown: tuple[MasterSolution, Solution] | None = None
        if options is not None:
            self.set_options(options)

    def begin_feasible(self) -> None:
        self._phases.begin_feasible()

    def set_options(self, options: Mapping[str, Any]) -> None:
        try:
            self._settings["options"] = self._settings.get("options", {}) | check_options(options)
        except OptionError as error:
            raise InputError(f"lp_options: {error}") from None
        if self.is_built:
            raise InputError("lp_options: the linear program has been solved already, with other options")

    def set_solver(self, name: str) -> None:
        try:
            self._settings["backend"] = check_backend(name)
        except BackendError as error:
            raise InputError(f"lp: {error}") from None
        if self.is_built:
            raise InputError("lp: the linear program has been solved already, by another solver")

    @property
    def lp(self) -> LinearProgram:
        """The program in HiGHS, made when it is first asked for: bounds, checks and reduced costs do without."""
        return self.program.lp

    @property
    def is_built(self) -> bool:
        """Whether the program is in HiGHS: from the first solve on."""
        return self.program.is_built

    # --- what there is -----------------------------------------------------------------------------------------------

    checks_rows = True

    @property
    def num_columns(self) -> int:
        return len(self.table)

    @property
    def num_rows(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> RowNames:
        """Of the rows."""
        return self.rows.names

    @property
    def row_lower(self) -> Floats:
        """Lower sides of the rows at the present node."""
        return self.rows.lower

    @property
    def row_upper(self) -> Floats:
        """Upper sides of the rows at the present node."""
        return self.rows.upper

    @property
    def idle_rows(self) -> tuple[Key, ...]:
        """Keys of the rows that are out of the linear program because they have been slack for long."""
        return tuple(self.names.keys[position] for position in self.rows.idle.out.tolist())

    @property
    def columns(self) -> Columns:
        """The generated columns, in the order in which they came; those that are idle are among them."""
        return self._generated.columns

    @property
    def origins(self) -> Ints:
        """Which pricing problem each of them came from; less than 0 where that is not known."""
        return self._generated.origins

    @property
    def joined_rows(self) -> Sequence[Row]:
        return self._joining.joined

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]]:
        return self.rows.sides(block)

    def packing_sides(self, block: str) -> Mapping[Key, float | None]:
        return self.rows.packing_sides(block, self.formulation)

    def has_row(self, key: Key) -> bool:
        return key in self.names.position

    def find(self, columns: Sequence[Column]) -> Ints:
        return self._generated.find(columns)

    def at(self, position: int) -> Held:
        return self._generated.at(position)

    def overuses(self, solved: MasterSolution, pricing: Sequence[Pricing]) -> bool:
        return self._generated.overuse(solved.values, pricing)

    def entries(self, column: Column) -> tuple[list[int], list[float]]:
        """Positions of the rows that a column has coefficients in, and the coefficients; other rows are left out.

        Its own coefficients come first in rank, then rows that speak of it by key, then rows that know its coefficient
        by function.
        """
        _, rows, values = self._lookup.over((column,), strict=False).entries
        return rows.tolist(), values.tolist()

    def look_up(self, columns: Sequence[Column]) -> Columns:
        """Columns, in the master or not, as a batch over its rows, with what these state."""
        return self._lookup.over(columns)

    # --- what is optimised -------------------------------------------------------------------------------------------

    @property
    def phase(self) -> int:
        """1 while artificial variables are driven out, else 2."""
        return self.objective.phase

    @property
    def offset(self) -> float:
        """Of the formulation."""
        return self.formulation.offset

    @property
    def is_driven(self) -> bool:
        """Whether any of the template's variables is artificial, and no exchange."""
        return int(self.formulation.artificial.sum()) > len(self.table.exchange)

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The size of the costs that answers are made of, a power of two; in phase 1 that of a scaled violation."""
        return self.objective.scale

    @property
    def rounding(self) -> float:
        return max(self.objective.rounding, self.formulation.cost_rounding)

    @property
    def cost_rounding(self) -> float:
        return self.formulation.cost_rounding

    def rounding_at(self, duals: OwnDuals) -> float:
        here = self.rows.rounding_at(duals.values) if isinstance(duals, Duals) else self.objective.rounding
        return max(here, self.cost_rounding)

    def terms(self, solved: MasterSolution) -> float:
        if solved.values is None:
            return math.inf
        total = float(np.abs(self.objective.costs[: len(solved.values)] * solved.values).sum())
        return total or math.inf

    @property
    def finest(self) -> float:
        return self.objective.finest

    def refine(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> bool:
        return isinstance(duals, Duals) and self.objective.refine(unpriced(self, duals, pricing, results))

    @property
    def feasibility_tolerance(self) -> float:
        """A phase 1 optimum above this proves infeasibility."""
        return TOLERANCES.artificial

    def real_costs(self) -> AbstractContextManager[None]:
        return self.objective.real()

    # --- growing -----------------------------------------------------------------------------------------------------

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        return self._joining.add(columns, rows, origins)

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Append rows with their coefficients in all present columns; those that the master knows are passed over."""
        self._joining.add_rows(rows)

    def add_row_batch(self, batch: RowBatch) -> None:
        """Append rows as arrays over the columns' positions in the table; those that are there are passed over."""
        self._joining.add_batch(batch)

    def remove_stale(self, age: int) -> int:
        return self._idle.retire_old(age)

    # --- nodes -------------------------------------------------------------------------------------------------------

    def apply(self, decisions: Sequence[Decision]) -> None:
        self._node.apply(decisions)

    def fix(self, fixed: Mapping[Hashable, float], proper: str | None = None) -> tuple[tuple[Column, float], ...]:
        self._node.fix(fixed, proper)
        return tuple((self._generated.named(identity), value) for identity, value in fixed.items())

    def start_at(self, basis: Basis) -> None:
        self._bases.first = basis

    def basis(self) -> SavedBasis:
        return self.program.basis()

    def restore(self, basis: SavedBasis) -> None:
        self.program.restore(basis, self.objective.costs)

    def exchanges(self, solved: MasterSolution) -> bool:
        table = self.table
        if not len(table.exchange) or solved.phase == 1 or solved.values is None:
            return False
        values = solved.values[table.exchange] * table.weights[table.exchange]
        return bool(values.max() > TOLERANCES.feasibility)

    def end_exchanges(self) -> bool:
        free = self.table.exchanging
        self._node.end_exchanges()
        return free

    # --- solving -----------------------------------------------------------------------------------------------------

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        budget = Budget() if budget is None else budget
        if self._node.contradictory:
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        return self._phases.solve(budget)

    def solve_in_a_box(self, budget: Budget) -> MasterSolution | None:
        return self._phases.solve_in_a_box(budget)

    def along_a_ray(self, far: MasterSolution, budget: Budget) -> Iterator[MasterSolution] | None:
        return self._phases.along_a_ray(far, budget)

    def solution(self, solved: MasterSolution) -> Solution:
        # A node's is asked for several times: by heuristics, by branching rules, for the record.
        if self._shown is None or self._shown[0] is not solved:
            self._shown = solved, self.table.solution(solved.objective, solved.values)
        return self._shown[1]

    def is_whole(self, solved: MasterSolution) -> bool:
        # Columns may have come since it was solved: there are more marks than values.
        return not self.exchanges(solved) and bool(are_whole(solved.values, self.table.integer, TOLERANCES.integrality))

    solves_integers = True

    def solve_integer(
        self, time_limit: float = math.inf, start: Solution | None = None, stopped: programs.Stopped | None = None
    ) -> tuple[Solution | None, float]:
        self._phases.put_rows_back()
        return integer_solutions.solve_integer(self, time_limit, start, stopped)

    def exchanged(
        self,
        start: Solution,
        target: float,
        bound: float,
        step: float | None,
        steps: int,
        seed: int,
        stopped: programs.Stopped,
    ) -> Solution | None:
        return integer_solutions.exchanged(self, start, target, bound, step, steps, seed, stopped)

    def solve_over(
        self,
        columns: Sequence[Column],
        sides: Mapping[Key, tuple[float, float]],
        target: float,
        time_limit: float,
        *,
        any_will_do: bool = False,
        stopped: programs.Stopped | None = None,
        values: Mapping[Key, float] | None = None,
    ) -> tuple[MasterStatus, Solution | None]:
        if values is not None:
            return integer_solutions.cover_over(self, columns, values, target, time_limit, any_will_do, stopped)
        return integer_solutions.solve_over(self, columns, sides, target, time_limit, any_will_do, stopped)

    def rounded(self, solution: Solution) -> Solution | None:
        return integer_solutions.rounded(self, solution)

    # --- what a round proves -----------------------------------------------------------------------------------------

    def price(self, columns: Sequence[Column], duals: Duals) -> Floats:
        return self._reduced_costs.of(columns, duals)

    def all_reduced_costs(self, duals: Duals, theta: float = 1.0) -> Floats:
        """Of all columns in the master, at ``theta`` times the dual values."""
        return self.objective.reduced_costs(duals, theta)

    def best_known(self, duals: Duals, oracles: int) -> Sequence[float]:
        return self._reduced_costs.best_known(duals, oracles)

    def dual_bound(self, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        return dual_bound(self, duals, pricing, results)

    def subgradient(self, solved: MasterSolution, answers: Sequence[Answer | None], duals: OwnDuals) -> Floats | None:
        return self._reduced_costs.subgradient(solved, answers, duals)

    def linking(self) -> Linking:
        return Linking(self, self.rows.sizes)

    def itemised(self, stated: float, column: Column, duals: OwnDuals, weight: float) -> str:
        if not isinstance(duals, Duals):
            return ""
        return itemised(stated, contributions(column, self.entries(column), duals, weight))

    # --- dual values -------------------------------------------------------------------------------------------------

    def named(self, duals: OwnDuals) -> Mapping[Key, float]:
        return dict(zip(self.names.keys, duals.values.tolist(), strict=False))

    def centre(self, duals: OwnDuals) -> Floats | None:
        return self.rows.guessed(duals, self.sense)

    def signed(self, duals: OwnDuals) -> Duals:
        if not (isinstance(duals, Duals) and duals.names is self.names and len(duals.values) == self.num_rows):
            return Duals(self.rows.guessed(duals, self.sense), self.names)
        values = self.rows.signed(duals.values, self.sense)
        # Rows of decisions have other sides at other nodes, so that not even a dual value of this master need do.
        return duals if np.array_equal(values, duals.values) else duals.replace(values)

    def guessed(self, duals: OwnDuals) -> Duals:
        guess = self.signed(duals)
        self.objective.rounding = self.rows.rounding_at(guess.values)
        return guess

    def pool(self, duals: OwnDuals) -> Pool | None:
        return self._bases.pool(duals)

    # --- checking and showing ----------------------------------------------------------------------------------------

    def objective_of(self, solution: Solution) -> float:
        f = self.formulation
        variables = sum(f.costs[self.table.position[key]] * value for key, value in solution.variables.items())
        return float(f.offset + variables + sum(column.cost * value for column, value in solution.columns))

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        """What is wrong with a claimed answer, in words; None if every row and bound holds and what must be whole is.

        Computed from the rows' coefficients alone; rows of branching decisions do not count, they hold in one part of
        the tree only.

        Parameters
        ----------
        exact
            Rows in which everything is whole may be missed by what rounding explains, and no more; False: by as much as
            rows with continuous variables.
        """
        return violation(self, solution, exact)

    def activities(self, solution: Solution) -> Floats:
        """Σ_j a_ij x_j of every row at a solution of columns in the master."""
        point = self.table.point(solution)
        if point is None:
            raise UnknownRowError("the solution uses a column that the master does not have")
        return self.table.activities(point, self.num_rows)

    def to_pyomo(self, solved: MasterSolution | None = None) -> pyo.ConcreteModel:
        """The current restricted master as a Pyomo model, with its generated columns, for a notebook or another solver.

        Template variables and rows keep their names; generated columns are ``column[key or number]``.  If ``solved`` is
        given then its values are loaded into the variables and its duals into the suffix ``dual``; without it the
        suffix is there for a solver to fill, unless some variables are whole.
        """
        from colgen.master.pyomo_export import to_pyomo  # imports Pyomo

        return to_pyomo(self, solved)


def as_linear(master: RestrictedMaster | None) -> LinearMaster | None:
    """The master, if it is a linear one: for a kit that checks tables, not for the engine."""
    return master if isinstance(master, LinearMaster) else None
