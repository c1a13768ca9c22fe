"""Pricing problems: oracles that find improving columns and prove bounds."""

from __future__ import annotations

import dataclasses
import enum
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Generic, Literal

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget, OutOfBudget
from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row, as_number
from colgen.core.decision import Apart, Decision, Together, groups_of
from colgen.core.duals import Duals
from colgen.core.errors import InputError, UnpricedCutError
from colgen.core.numbers import real
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.terms import Term
from colgen.core.text import FORGOTTEN, Described
from colgen.core.tolerances import TOLERANCES
from colgen.core.type_variables import Structure


@dataclass(frozen=True, repr=False)
class PricingContext(Described):
    """The data of a pricing problem apart from the dual values.

    Dual values passed to an oracle always have the signs that their rows allow, also in phase 1 and in
    :func:`colgen.testing.check_problem`.  When minimising, a row ``≥`` has π ≥ 0 and a row ``≤`` has π ≤ 0. When
    maximising it is the other way round.  An equation or a row with two sides has a π of either sign.

    Attributes
    ----------
    sense
        When minimising, negative reduced costs improve; when maximising, positive ones.
    cost_weight
        Factor on every column's own cost: 1, or 0 in phase 1. The reduced cost there is ``0·c_j - πᵀa_j``.  Oracles
        whose columns differ in cost must use it.
    decisions
        The node's branching decisions.  Oracles must not return columns that one of them forbids.
    fixed
        Columns that a diving heuristic has fixed, with their values.  Oracles may ignore them.
    deadline
        Value of ``time.monotonic()`` at which a search should return its columns.
    tolerance
        A reduced cost improves the master if it is better than zero by more than this, in units of the objective.
    provisional
        Whether the dual values are smoothed.  Without an improving column, the oracle is called again closer to the
        master's values.  A long search may stop early here.  This loses only a bound.
    scale
        Scale of the objective, to which differences of reduced costs are relative.
    budget
        The run's limits.  ``budget.expired`` is true after the deadline and after an interrupt.
    slack
        Columns that worsen the dual bound by more than this cannot be in a better solution.  Marginals beyond it need
        not be exact.
    quick
        Whether a search without proof suffices.  If no oracle then finds an improving column, all are called again.

    Examples
    --------
    >>> class Careful(Knapsack):
    ...     def best(self, duals, context):
    ...         print(context.cost_weight, context.decisions, context.budget.expired)
    ...         return super().best(duals, context)
    """

    sense: Sense
    cost_weight: float = 1.0
    decisions: tuple[Decision, ...] = ()
    fixed: tuple[tuple[Column, float], ...] = ()
    deadline: float = math.inf
    tolerance: float = TOLERANCES.reduced_cost
    provisional: bool = False
    price: Callable[[Sequence[Column], Duals], Sequence[float] | NDArray[np.float64]] | None = None
    scale: float = 1.0
    budget: Budget = field(default_factory=Budget)
    find: Callable[[Sequence[Column]], NDArray[np.integer[Any]]] | None = None
    slack: float = math.inf
    quick: bool = False

    def reduced_costs(self, columns: Sequence[Column], duals: Duals) -> Sequence[float] | NDArray[np.float64]:
        """Return the reduced costs of columns, including rows with coefficients by function."""
        if self.price is None and isinstance(columns, Columns):
            return self.cost_weight * columns.costs - columns.products(duals.values)
        if self.price is None:
            return [
                self.cost_weight * c.cost - sum(a * duals.get(key) for key, a in c.coefficients.items())
                for c in columns
            ]
        return self.price(columns, duals)

    def replace(self, **fields: Any) -> PricingContext:
        """Return a copy with other values of some fields; :func:`dataclasses.replace` takes ten times longer."""
        context = object.__new__(type(self))
        context.__dict__.update(self.__dict__, **fields)
        return context

    def is_new(self, column: Column) -> bool:
        """Return whether the master does not hold the column.  A held column cannot improve it."""
        return self.find is None or bool(self.find((column,))[0] < 0)

    def improves(self, reduced_cost: float) -> bool:
        """Return whether a column of this reduced cost improves the master."""
        return self.sense.improvement(reduced_cost, 0.0) > self.tolerance

    def seconds_left(self) -> float:
        """Return the seconds until the deadline: never negative, infinite without one, zero after an interrupt."""
        return min(max(self.deadline - time.monotonic(), 0.0), self.budget.seconds_left)

    def expired(self) -> bool:
        """Return whether to stop now: after the deadline, after an interrupt, or beyond the memory limit."""
        return time.monotonic() >= self.deadline or self.budget.expired

    def allows(self, column: Column) -> bool:
        """Return whether the branching decisions allow a column."""
        return all(decision.allows(column) for decision in self.decisions)

    def forbidden(self, block: str) -> frozenset[Any]:
        """Return the original variables that no column may use at this node.

        Parameters
        ----------
        block
            Block of the branching rule's rows, for example of :class:`colgen.OnOriginalVariable`.  Bounds that still
            allow a variable are rows; their dual values are in ``duals.items(block)``.
        """
        return frozenset(name for decision in self.decisions for name in decision.forbids(block))

    def together(self, block: str | None = None) -> tuple[tuple[Any, ...], ...]:
        """Return the groups of rows that Ryan and Foster's rule has joined.

        Parameters
        ----------
        block
            Block of the partitioning rows; None if decisions concern only one block.

        Returns
        -------
        tuple of tuple
            The indices of the rows of each group, of which a column covers all or none.  Overlapping pairs are merged.

        Raises
        ------
        InputError
            If ``block`` is None and decisions concern several blocks.
        """
        pairs = [(d.first, d.second) for d in self.decisions if isinstance(d, Together)]
        return tuple(tuple(index for _, index in group) for group in groups_of(self._in_block(pairs, block)))

    def apart(self, block: str | None = None) -> tuple[tuple[Any, Any], ...]:
        """Return the pairs of rows that no column may both cover by Ryan and Foster's rule."""
        pairs = [(d.first, d.second) for d in self.decisions if isinstance(d, Apart)]
        return tuple(dict.fromkeys((one[1], other[1]) for one, other in self._in_block(pairs, block)))

    @staticmethod
    def _in_block(pairs: list[tuple[Key, Key]], block: str | None) -> list[tuple[Key, Key]]:
        blocks = sorted({key[0] for pair in pairs for key in pair})
        if block is None and len(blocks) > 1:
            raise InputError(f"decisions concern rows of {' and '.join(map(repr, blocks))}: pass one of these as block")
        return [pair for pair in pairs if block is None or pair[0][0] == pair[1][0] == block]


@dataclass(frozen=True)
class PricedMarginals:
    """The best reduced costs of columns that use each variable of the original formulation.

    Attributes
    ----------
    values
        One per variable, with the column's own cost at weight 1; ``sense.hopeless`` if no column may use the variable.
        If the result has a total, the best total of solutions that use the variable.  A relaxation's value is valid
        too.
    names
        The variables' names in the branching rule's block.
    """

    values: NDArray[np.float64]
    names: Sequence[Hashable] | NDArray[Any]


@dataclass(frozen=True, repr=False)
class PricingResult(Described):
    """Columns, and the bounds that the search for them proves.

    Attributes
    ----------
    columns
        Columns, improving or not.  The engine selects those that improve.
    bound
        A bound on the reduced costs of all columns: the exact optimum, or a relaxation's value.  None if nothing is
        proved, as by a heuristic.  If there is no column at all: +inf when minimising.  Columns in the master with a
        finite upper bound may be ignored.
    reduced_costs
        The oracle's own reduced costs of ``columns``.  The engine compares them with the encoded columns.
    total
        A bound, in every solution, on the sum of reduced cost times value over this problem's columns.  With it the
        dual bound needs no multiplicity, and may be tighter.
    attained
        Function that returns the optimal columns of the pricing problem, and their values.  Subgradient, Volume and
        Bundle call it.  None: the best of ``columns``, as often as the multiplicity allows, if it improves.
    marginals
        Function that returns the marginals of the original variables, or None if that takes too long.
        :class:`colgen.fixing.ReducedCostFixing` calls it.
    answers
        Complete solutions that the search has found.  The engine verifies each before it becomes the incumbent.
    relaxed
        A solution of the node's relaxation at the bound, for branching without a linear program.
    cut_off
        Whether the deadline or an interrupt ended the search, so that the bound is missing or weaker.
    costly
        Whether the search was given up because the dual values of cuts made it too expensive.  The master then drops
        the latest of these cuts.
    together
        Whether all columns join the master, improving or not.  For example, an arc may improve only with a part that
        uses it.

    Examples
    --------
    >>> PricingResult([Column(1.0, {("demand", 0): 2.0})], bound=-0.2, reduced_costs=[-0.2]).bound
    -0.2
    """

    columns: Sequence[Column] = ()
    bound: float | None = None
    reduced_costs: Sequence[float] | NDArray[np.float64] | None = None
    total: float | None = None
    attained: Callable[[], tuple[Sequence[Column], NDArray[np.float64]]] | None = None
    marginals: Callable[[], PricedMarginals | None] | None = None
    cut_off: bool = False
    costly: bool = False
    answers: Sequence[Solution] = ()
    relaxed: Solution | None = None
    together: bool = False


class Pricing(Described, ABC):
    """A pricing problem.  Subclasses implement :meth:`price`.

    Attributes
    ----------
    multiplicity
        Maximum number of this pricing problem's columns in any solution, counted with their values; for example, the
        number of identical machines.  It turns reduced costs into a Lagrangian bound.  Infinite if unknown.
    cost_bound
        No column costs less than this (when maximising: no column is worth more).  If it is positive (when maximising:
        negative), Farley's bound holds without a multiplicity.
    same_as
        Pricing problems with equal ``same_as`` are identical: same columns, costs and coefficients.  Only one of them
        is solved, with the sum of their multiplicities.  Objects of one class with equal attributes (numbers, names,
        arrays, the same objects) are identical without it.
    prices
        Kinds of terms of cuts that it reads from ``duals.terms(kind)`` and prices exactly.  Cuts of other kinds raise
        an error.  An oracle that reads ``duals.items(block)`` already prices ``Linear`` terms and only has to list them
        here.

    has_quick
        Whether :meth:`price` has a quicker search without proof, for ``context.quick``.

    Examples
    --------
    >>> class Singles(Pricing):
    ...     def price(self, duals, context):
    ...         counts = [problem.roll // width for width in problem.widths]
    ...         return PricingResult([Column(1.0, {("demand", i): n}) for i, n in enumerate(counts)])  # no bound
    """

    multiplicity: float = math.inf
    cost_bound: float | None = None
    same_as: Hashable | None = None
    prices: frozenset[type[Term]] = frozenset()
    has_quick: bool = False

    @property
    def name(self) -> str:
        """Name of the oracle in messages."""
        return type(self).__name__

    @abstractmethod
    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        """Find columns of improving reduced cost at ``duals``."""


def check_attributes(oracle: Pricing) -> None:
    """Check the multiplicity and the cost bound, which may change in any call."""
    multiplicity, cost_bound = oracle.multiplicity, oracle.cost_bound
    if not (type(multiplicity) is float and multiplicity > 0.0):
        name = f"{oracle.name}.multiplicity"
        if not real(multiplicity, name, low=-math.inf, finite=False) > 0.0:
            raise InputError(
                f"{name}: expected a number above 0, infinite if unknown, not {multiplicity}; leave out a pricing "
                "problem whose columns no solution uses"
            )
    if cost_bound is not None and not (type(cost_bound) is float and -math.inf < cost_bound < math.inf):
        real(cost_bound, f"{oracle.name}.cost_bound (None if unknown)", low=-math.inf)


def check_oracle(oracle: Pricing) -> None:
    """Check all declared attributes of an oracle before its first call; see :func:`check_attributes`."""
    check_attributes(oracle)
    exact = getattr(oracle, "exact", True)
    if not isinstance(exact, (bool, np.bool_)):
        raise InputError(f"{oracle.name}.exact: expected True or False, not {exact!r}")
    kinds = oracle.prices
    several = isinstance(kinds, (frozenset, set, tuple, list))
    if not several or not all(isinstance(kind, type) and issubclass(kind, Term) for kind in kinds):
        raise InputError(f"{oracle.name}.prices: expected a set of kinds of terms, such as {{Count}}, not {kinds!r}")


def check_terms_supported(oracles: Sequence[Pricing], rows: Iterable[Row]) -> None:
    """Raise an UnpricedCutError unless all oracles price the terms of the rows."""
    for row in rows:
        term = row.term()
        if term is None:
            continue
        for oracle in oracles:
            if type(term) not in oracle.prices:
                kind, known = type(term).__name__, sorted(each.__name__ for each in oracle.prices)
                raise UnpricedCutError(
                    f"{oracle.name} cannot price the cuts {row.key[0]!r}, whose coefficients are {kind} terms of the "
                    f"columns: it prices {' and '.join(known) or 'no terms of cuts'}; read duals.terms({kind}) in it "
                    f"and add {kind} to prices, or leave these cuts out"
                )


def call_oracle(oracle: Pricing, duals: Duals, context: PricingContext) -> PricingResult:
    """Return an oracle's result, after checking its type and the oracle's attributes."""
    result = oracle.price(duals, context)
    if not isinstance(result, PricingResult):
        raise InputError(
            f"{oracle.name}.price() returned {_describe(result)}: expected a PricingResult with a sequence of columns"
        )
    columns = result.columns
    if not isinstance(columns, Columns):
        name = f"{oracle.name}.price()"
        if not isinstance(columns, Sequence):
            raise InputError(f"{name} returned {_describe(columns)} as the result's columns, expected a list of Column")
        for column in columns:
            if not isinstance(column, Column):
                raise InputError(f"{name} returned {_describe(column)} among its columns, expected Column objects only")
    for name, value in (("bound", result.bound), ("total", result.total)):
        if value is not None and type(value) is not float:
            number = as_number(value)
            if number is None:
                raise InputError(f"{oracle.name}.price(): the {name} is {value!r}, expected a number or None")
            result = dataclasses.replace(result, **{name: number})
    check_attributes(oracle)
    return result


def _describe(value: Any) -> str:
    return f"None ({FORGOTTEN})" if value is None else f"a {type(value).__name__}"


class NoStructure(enum.Enum):
    """The type of :data:`NO_STRUCTURE`.

    Examples
    --------
    >>> class Empty(Knapsack):
    ...     def best(self, duals, context):  # this node has no column at all
    ...         return NO_STRUCTURE
    """

    NO_STRUCTURE = "no structure"

    def __repr__(self) -> str:
        return self.name


NO_STRUCTURE: Final[Literal[NoStructure.NO_STRUCTURE]] = NoStructure.NO_STRUCTURE
"""What :meth:`OraclePricing.best` returns if no structure exists; None would be a missing ``return``."""


@dataclass(frozen=True)
class Best(Generic[Structure]):
    """A structure with the oracle's reduced cost, for comparison with its column's.

    Examples
    --------
    >>> value, pattern = bounded_knapsack([0.5, 0.4, 0.3, 0.2], problem.widths, problem.demands, problem.roll)
    >>> found = Best(pattern, reduced_cost=1.0 - value)  # `best` of an oracle may return it instead of the pattern
    >>> round(found.reduced_cost, 6)
    -0.4
    """

    structure: Structure
    reduced_cost: float


class OraclePricing(Pricing, Generic[Structure]):
    """A pricing problem solved by an oracle.  Subclasses implement :meth:`best` and :meth:`encode`.

    In ``class Knapsack(OraclePricing[Pattern])`` the parameter is the type of the structures, for type checkers.

    Parameters
    ----------
    problem
        Stored as ``self.problem``.

    Attributes
    ----------
    exact
        Whether :meth:`best` returns an optimal structure, which gives a bound.  Set it to False for a heuristic.

    Examples
    --------
    >>> class Knapsack(OraclePricing):
    ...     def best(self, duals, context):
    ...         return bounded_knapsack(duals["demand"], [45, 36, 31, 14], [97, 610, 395, 211], 100)[1]
    ...     def encode(self, pattern):
    ...         return Column(1.0, {("demand", i): n for i, n in enumerate(pattern.tolist()) if n}, pattern)
    """

    exact: bool = True

    def __init__(self, problem: Any = None) -> None:
        self.problem = problem

    @abstractmethod
    def best(self, duals: Duals, context: PricingContext) -> Structure | Best[Structure] | NoStructure:
        """Return the structure of best reduced cost, or :data:`NO_STRUCTURE` if none exists.

        Return ``Best(structure, reduced_cost)`` to have the engine compare the oracle's reduced cost with the encoded
        column's.  Call ``context.budget.require()`` regularly in long searches.  It ends the search after the deadline
        or an interrupt.
        """

    @abstractmethod
    def encode(self, structure: Structure, /) -> Column:
        """Return the column of a structure.  Subclasses may rename the argument."""

    def others(self, structure: Structure, duals: Duals, context: PricingContext) -> Iterable[Structure]:
        """Return further structures that are worth a column; none by default."""
        return ()

    def _encode(self, structure: Structure) -> Column:
        column = self.encode(structure)
        if not isinstance(column, Column):
            raise InputError(
                f"{type(self).__name__}.encode() returned {_describe(column)}: expected a Column(cost, coefficients, "
                "structure)"
            )
        return column

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        try:
            found = self.best(duals, context)
        except OutOfBudget:
            return PricingResult(cut_off=True)
        if isinstance(found, NoStructure):
            return PricingResult(bound=context.sense.hopeless if self.exact else None)
        if found is None:
            raise InputError(
                f"{type(self).__name__}.best() returned None: {FORGOTTEN} If there is no structure, return "
                "colgen.NO_STRUCTURE"
            )
        structure = found.structure if isinstance(found, Best) else found
        columns = [self._encode(structure)]
        stated: list[float] = []
        if isinstance(found, Best):
            name = f"{type(self).__name__}.best(): the reduced cost"
            stated.append(real(found.reduced_cost, name, low=-math.inf, finite=False))
        bound = stated[0] if stated else float(context.reduced_costs(columns, duals)[0])
        others = self.others(structure, duals, context)
        if others is None:
            raise InputError(f"{type(self).__name__}.others() returned None: {FORGOTTEN} Return () for none")
        columns += [self._encode(other) for other in others]
        return PricingResult(columns, bound if self.exact else None, stated)


class Stages(Pricing):
    """One pricing problem solved in stages: heuristics first, the exact oracle last.

    A call ends once ``enough`` new improving columns are found.  All columns found until then are returned.  The last
    stage runs only if the heuristics found none.  The bound is that of the last stage that found columns or, if none
    did, of the last stage.  Multiplicity and cost bound are those of the last stage.  The terms priced are those that
    all stages price.

    Parameters
    ----------
    enough
        Number of new improving columns that ends a call.

    Examples
    --------
    >>> class Quick(Knapsack):
    ...     exact = False  # a heuristic: it proves no bound
    >>> oracle = Stages(Quick(problem), Knapsack(problem))
    """

    def __init__(self, *stages: Pricing, enough: int = 1) -> None:
        if not stages:
            raise ValueError("Stages needs at least one pricing stage")
        if enough < 1:
            raise ValueError(f"enough: expected one column or more, not {enough}")
        self.stages = stages
        self.enough = enough
        self.multiplicity = stages[-1].multiplicity
        self.cost_bound = stages[-1].cost_bound
        self.prices = frozenset.intersection(*(stage.prices for stage in stages))

    @property
    def name(self) -> str:
        return " > ".join(stage.name for stage in self.stages)

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        *heuristics, last = self.stages
        results: list[PricingResult] = []
        count = 0
        for stage in heuristics:
            result = call_oracle(stage, duals, context)
            reduced_costs = context.reduced_costs(result.columns, duals)
            new = (
                column
                for column, reduced_cost in zip(result.columns, reduced_costs, strict=True)
                if context.improves(reduced_cost) and context.is_new(column)
            )
            improving = sum(1 for _ in islice(new, self.enough))  # stops looking after ``enough`` columns
            if improving:
                results.append(result)
                count += improving
            if count >= self.enough:
                break
        if not results:
            return call_oracle(last, duals, context)
        if len(results) == 1:
            return results[0]
        found = {column.identity: column for result in results for column in result.columns}
        answers = tuple(answer for result in results for answer in result.answers)
        return dataclasses.replace(results[-1], columns=list(found.values()), reduced_costs=None, answers=answers)
