"""The restricted master as a linear program: born from a Pyomo template, warm-started in HiGHS.

What happens to it is told elsewhere, a noun a module: columns and rows join (:mod:`~colgen.master.growth`), nodes
bound it (:mod:`~colgen.master.node_state`), it is solved in phases (:mod:`~colgen.master.phases`), columns are priced
(:mod:`~colgen.master.reduced_costs`).  All of them work on one :class:`~colgen.master.tableau.Tableau`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from colgen.core.budget import Budget
from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Row
from colgen.core.duals import Duals, OwnDuals
from colgen.core.errors import InputError
from colgen.core.pool import Pool
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.answer_check import AnswerCheck
from colgen.master.artificials import Artificials
from colgen.master.bases import Bases
from colgen.master.central_duals import Central, Centrality
from colgen.master.column_pool import Floats, Ints, Origins
from colgen.master.column_table import Generated, Held
from colgen.master.dual_bound import dual_bound
from colgen.master.growth import Joining
from colgen.master.idle_columns import IdleColumns
from colgen.master.integer_solutions import IntegerSolutions
from colgen.master.linear_rows import LinearRows
from colgen.master.lookup import LookUp
from colgen.master.node_columns import Imposed
from colgen.master.node_state import LinearNode
from colgen.master.phases import Phases
from colgen.master.protocol import MasterSolution, MasterStatus, NodeSwitch, Precision, RestrictedMaster
from colgen.master.reduced_costs import ReducedCosts
from colgen.master.tableau import tableau_of
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing, PricingResult, check_priced
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

    It is made in HiGHS at its first solve.  Until then it is in phase 2: :meth:`dual_bound`, :meth:`reduced_costs` and
    :meth:`violation` speak of the real objective, and cost next to nothing.

    Parameters
    ----------
    formulation
        The rows, without generated columns.
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

    rows: LinearRows
    node: NodeSwitch
    integer: IntegerSolutions

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
        self.tableau = tableau = tableau_of(f, self._settings, dual_first)
        self.table, rows, self.program, self.objective = tableau
        self._lookup = lookup = LookUp(rows.names)
        imposed = Imposed()
        self._generated, self._reduced_costs = Generated(self.table, lookup), ReducedCosts(tableau, lookup)
        idle, artificials = IdleColumns(tableau), Artificials(tableau)
        own = weakref.ref(self)  # the master's memory would else wait for the collector of cycles

        def refuse(new: Iterable[Row]) -> None:
            master = own()
            assert master is not None  # whose rows these are
            check_priced(master.oracles, new)

        self._joining = Joining(tableau, lookup, imposed, artificials, idle, refuse)
        self._bases = Bases(tableau, f.column_keys, self._generated)
        self._phases = Phases(tableau, artificials, idle, self._bases, Centrality(central))
        self._node = LinearNode(
            tableau, imposed, self._joining, artificials, idle, self._bases, self._phases, self._generated
        )
        self.node = self._node
        check = AnswerCheck(tableau, f, lookup)
        self.rows = LinearRows(
            tableau, f, lookup, self._joining, self._phases, self._reduced_costs, self._generated, check
        )
        self.integer = IntegerSolutions(tableau, f, lookup, self._phases, check)
        self._shown: tuple[MasterSolution, Solution] | None = None
        if options is not None:
            self.set_solver(options=options)

    def set_solver(self, name: str | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Choose the solver of linear programs by name, and its options, before the first solve."""
        try:
            if name is not None:
                self._settings["backend"] = check_backend(name)
            if options is not None:
                self._settings["options"] = self._settings.get("options", {}) | check_options(options)
        except BackendError as error:
            raise InputError(f"lp: {error}") from None
        except OptionError as error:
            raise InputError(f"lp_options: {error}") from None
        if self.is_built:
            given = "lp_options" if name is None else "lp"
            raise InputError(f"{given}: the linear program has been solved already, with another solver or options")

    @property
    def lp(self) -> LinearProgram:
        """The program in HiGHS, made when it is first asked for: bounds, checks and reduced costs do without."""
        return self.program.lp

    @property
    def is_built(self) -> bool:
        """Whether the program is in HiGHS: from the first solve on."""
        return self.program.is_built

    # --- what there is -----------------------------------------------------------------------------------------------

    @property
    def num_columns(self) -> int:
        return len(self.table)

    @property
    def columns(self) -> Columns:
        """The generated columns, in the order in which they came; those that are idle are among them."""
        return self._generated.columns

    @property
    def origins(self) -> Ints:
        """Which pricing problem each of them came from; less than 0 where that is not known."""
        return self._generated.origins

    def find(self, columns: Sequence[Column]) -> Ints:
        return self._generated.find(columns)

    def at(self, position: int) -> Held:
        return self._generated.at(position)

    # --- growing -----------------------------------------------------------------------------------------------------

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        return self._joining.add(columns, rows, origins)

    # --- solving -----------------------------------------------------------------------------------------------------

    @property
    def precision(self) -> Precision:  # type: ignore[override]
        """In phase 1 the scale is that of a scaled violation; otherwise a power of two, the size of costs."""
        f, objective = self.formulation, self.objective
        rounding = max(objective.rounding, f.cost_rounding)
        return Precision(objective.scale, f.offset, rounding, f.cost_rounding, objective.finest, TOLERANCES.artificial)

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        budget = Budget() if budget is None else budget
        if self._node.contradictory:
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        return self._phases.solve(budget)

    def solution(self, solved: MasterSolution) -> Solution:
        # A node's is asked for several times: by heuristics, by branching rules, for the record.
        if self._shown is None or self._shown[0] is not solved:
            self._shown = solved, self.table.solution(solved.objective, solved.values)
        return self._shown[1]

    # --- what a round proves -----------------------------------------------------------------------------------------

    def price(self, columns: Sequence[Column], duals: Duals) -> Floats:
        return self._reduced_costs.of(columns, duals)

    def bound(self, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        return dual_bound(self.tableau, duals, pricing, results)

    def pool(self, duals: OwnDuals) -> Pool | None:
        return self._bases.pool(duals)

    # --- checking and showing ----------------------------------------------------------------------------------------

    def to_pyomo(self, solved: MasterSolution | None = None) -> pyo.ConcreteModel:
        """The current restricted master as a Pyomo model, with its generated columns, for a notebook or another solver.

        Template variables and rows keep their names; generated columns are ``column[key or number]``.  If ``solved`` is
        given then its values are loaded into the variables and its duals into the suffix ``dual``; without it the
        suffix is there for a solver to fill, unless some variables are whole.
        """
        from colgen.master.pyomo_export import to_pyomo  # imports Pyomo

        return to_pyomo(self.tableau, solved)


def as_linear(master: RestrictedMaster | None) -> LinearMaster | None:
    """The master, if it is a linear one: for a kit that checks tables, not for the engine."""
    return master if isinstance(master, LinearMaster) else None
