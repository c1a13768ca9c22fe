"""The restricted master as a linear program: built from a Pyomo template, warm-started in HiGHS.

Its parts are in modules of their own.  Columns and rows are added in :mod:`~colgen.master.growth`, decisions applied in
:mod:`~colgen.master.node_state`. Phases are solved in :mod:`~colgen.master.phases`, and columns priced in
:mod:`~colgen.master.reduced_costs`.  All of them work on one :class:`~colgen.master.tableau.Tableau`.
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
from colgen.master.growth import Growth
from colgen.master.idle_columns import IdleColumns
from colgen.master.integer_solutions import IntegerSolutions
from colgen.master.linear_rows import LinearRows
from colgen.master.lookup import LookUp
from colgen.master.node_columns import NodeRestrictions
from colgen.master.node_state import LinearNode
from colgen.master.phases import Phases
from colgen.master.protocol import MasterSolution, MasterStatus, NodeSwitch, Precision, RestrictedMaster
from colgen.master.reduced_costs import ReducedCosts
from colgen.master.tableau import tableau_of
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing, PricingResult, check_terms_supported
from colgen.solvers.linear.backends.registry import BackendError, check_backend
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.options import OptionError, check_options

if TYPE_CHECKING:
    import pyomo.environ as pyo


class LinearMaster(RestrictedMaster):
    """A restricted master that is a linear program, warm-started in HiGHS.

    There is no big M.  Artificial variables are marked in the template, or added with a row that is violated if all
    columns are zero.  While they cannot all be zero, phase 1 minimises their sum without other costs.  Phase 2 fixes
    them at zero and uses the real costs.

    Rows and objective are scaled by powers of two, so that tolerances are relative (see
    :mod:`colgen.solvers.linear.lp`). Phase 1 minimises the sum of scaled violations.  The interface and the oracles use
    the user's units.

    The linear program is built at the first solve.  Before that the master is in phase 2, so :meth:`bound`,
    :meth:`price` and ``rows.violation`` use the real objective and are cheap.

    Parameters
    ----------
    formulation
        The rows, without generated columns.
    central
        Use central optimal dual values, by an interior point method, not a vertex.  At a degenerate optimum, as in set
        partitioning with few and large parts, this saves most rounds, and pricing is easier.  Source: Gondzio,
        González-Brevis, Munari, *New developments in the primal-dual column generation technique*, EJOR 224, 2013. Each
        solve costs many times more, so this pays off if the oracles take much longer than the master.  ``"auto"``: try
        them for a few rounds, and keep them if the objective improves twice as fast.  Such trials become rarer over
        time, and do not depend on a clock.
    dual_first
        Start with the dual simplex method, for masters that have most of their columns from the start.
    options
        Options of HiGHS for linear programs: ``{"simplex_price_strategy": 1, "random_seed": 7}``.  They do not apply to
        integer programs (``integer.solve``) and central dual values.
    scale
        Typical size of the costs in feasible solutions, a power of two, if known in advance.

    Raises
    ------
    InputError
        If HiGHS has no such option or does not accept its value.

    Examples
    --------
    >>> from colgen.master.statement import restricted_master
    >>> master = restricted_master(problem.master())
    >>> master.add([Column(1.0, {("demand", i): 2.0}) for i in range(4)])
    4
    >>> master.solve().objective
    656.5
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
        restrictions = NodeRestrictions()
        self._generated, self._reduced_costs = Generated(self.table, lookup), ReducedCosts(tableau, lookup)
        idle, artificials = IdleColumns(tableau), Artificials(tableau)
        own = weakref.ref(self)  # a strong reference would form a cycle and delay freeing the memory

        def refuse(new: Iterable[Row]) -> None:
            master = own()
            assert master is not None  # its own rows call this
            check_terms_supported(master.oracles, new)

        self._growth = Growth(tableau, lookup, self._generated, restrictions, artificials, idle, refuse)
        self._bases = Bases(tableau, f.column_keys, self._generated)
        self._phases = Phases(tableau, artificials, idle, self._bases, Centrality(central))
        self._node = LinearNode(
            tableau, restrictions, self._growth, artificials, idle, self._bases, self._phases, self._generated
        )
        self.node = self._node
        check = AnswerCheck(tableau, f, lookup)
        self.rows = LinearRows(
            tableau, f, lookup, self._growth, self._phases, self._reduced_costs, self._generated, check
        )
        self.integer = IntegerSolutions(tableau, f, lookup, self._phases, check)
        self._shown: tuple[MasterSolution, Solution] | None = None
        if options is not None:
            self.set_solver(options=options)

    def set_solver(self, name: str | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Set the solver of linear programs by name, and its options, before the first solve."""
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
            raise InputError(f"{given}: set it before the first solve; the linear program is solved already")

    @property
    def lp(self) -> LinearProgram:
        """The program in HiGHS, built on first access."""
        return self.program.lp

    @property
    def is_built(self) -> bool:
        """Whether the program is built, as after the first solve."""
        return self.program.is_built

    # --- columns -----------------------------------------------------------------------------------------------------

    @property
    def num_columns(self) -> int:
        return len(self.table)

    @property
    def columns(self) -> Columns:
        """The generated columns in order of their addition, including idle ones."""
        return self._generated.columns

    @property
    def origins(self) -> Ints:
        """Index of the pricing problem of each generated column; negative if unknown."""
        return self._generated.origins

    def find(self, columns: Sequence[Column]) -> Ints:
        return self._generated.find(columns)

    def at(self, position: int) -> Held:
        return self._generated.at(position)

    # --- growing -----------------------------------------------------------------------------------------------------

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        return self._growth.add(columns, rows, origins)

    # --- solving -----------------------------------------------------------------------------------------------------

    @property
    def precision(self) -> Precision:  # type: ignore[override]
        """Numerical accuracy; the scale is that of scaled violations in phase 1, and of costs in phase 2."""
        f, objective = self.formulation, self.objective
        rounding = max(objective.rounding, f.cost_rounding)
        return Precision(objective.scale, f.offset, rounding, f.cost_rounding, objective.finest, TOLERANCES.artificial)

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        budget = Budget() if budget is None else budget
        if self._node.contradictory:
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        return self._phases.solve(budget)

    def solution(self, solved: MasterSolution) -> Solution:
        # Cached: heuristics, branching rules and the record ask for the same one.
        if self._shown is None or self._shown[0] is not solved:
            self._shown = solved, self.table.solution(solved.objective, solved.values)
        return self._shown[1]

    # --- pricing and bounds ------------------------------------------------------------------------------------------

    def price(self, columns: Sequence[Column], duals: Duals) -> Floats:
        return self._reduced_costs.of(columns, duals)

    def bound(self, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        return dual_bound(self.tableau, duals, pricing, results)

    def pool(self, duals: OwnDuals) -> Pool | None:
        return self._bases.pool(duals)

    # --- export ------------------------------------------------------------------------------------------------------

    def to_pyomo(self, solved: MasterSolution | None = None) -> pyo.ConcreteModel:
        """Return the restricted master as a Pyomo model with its generated columns.

        Template variables and rows keep their names; generated columns are ``column[key or number]``.  With ``solved``,
        its values are loaded into the variables and its duals into the suffix ``dual``.  Otherwise a solver can fill
        the suffix, unless there are integer variables.
        """
        from colgen.master.pyomo_export import to_pyomo  # imports Pyomo

        return to_pyomo(self.tableau, solved)


def as_linear(master: RestrictedMaster | None) -> LinearMaster | None:
    """Return the master if it is a :class:`LinearMaster`, otherwise None."""
    return master if isinstance(master, LinearMaster) else None
