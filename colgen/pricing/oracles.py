"""Pricing: oracles that look for columns of improving reduced cost, and what their results prove."""

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
from colgen.core.text import FORGOTTEN
from colgen.core.tolerances import TOLERANCES
from colgen.core.type_variables import Structure


@dataclass(frozen=True)
class PricingContext:
    """Everything besides the dual values that a pricing problem depends on.

    An oracle is only asked at dual values whose signs its rows can have, also in phase 1 and by
    :func:`colgen.testing.check_problem`.  When minimising, a row ``≥`` has π ≥ 0 and a row ``≤`` has π ≤ 0; when
    maximising it is the other way round.  An equation, or a row with two sides, has a π of either sign.

    Attributes
    ----------
    sense
        Direction of the objective: minimising looks for negative reduced costs, maximising for positive ones.
    cost_weight
        The factor on every column's own cost: 1, but 0 while phase 1 looks for a feasible solution, where the reduced
        cost is ``0·c_j - πᵀa_j``.  Oracles whose columns differ in cost must honour it.
    decisions
        The node's branching decisions: no column that one of them forbids may be returned, and their rows have dual
        values.
    fixed
        Columns that a diving heuristic has fixed, with their values; taking them into account is optional.
    deadline
        Value of ``time.monotonic()`` at which a long oracle should give up and return what it has.
    tolerance
        A reduced cost counts as improving if it gains more than this, in the objective's own units.
    provisional
        The dual values are smoothed, not the master's own.  If no column is found that improves at those, the oracle is
        asked again nearer to them: a long oracle may give up early here, and lose no more than a bound.
    scale
        What differences of reduced costs are relative to.
    budget
        What the run may spend: ``budget.expired`` is true after the deadline, and after an interrupt.
    slack
        What a column may worsen the bound by and still be of interest: of marginals that are worse by more it is enough
        to say so.
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

    def reduced_costs(self, columns: Sequence[Column], duals: Duals) -> Sequence[float] | NDArray[np.float64]:
        """Reduced costs of columns at ``duals``, rows that the columns do not name themselves included."""
        if self.price is None and isinstance(columns, Columns):
            return self.cost_weight * columns.costs - columns.products(duals.values)
        if self.price is None:
            return [
                self.cost_weight * c.cost - sum(a * duals.get(key) for key, a in c.coefficients.items())
                for c in columns
            ]
        return self.price(columns, duals)

    def is_new(self, column: Column) -> bool:
        """Whether the master does not hold a column yet: one that it holds can only seem to improve it."""
        return self.find is None or bool(self.find((column,))[0] < 0)

    def improves(self, reduced_cost: float) -> bool:
        """Whether a column of this reduced cost improves the master."""
        return self.sense.improvement(reduced_cost, 0.0) > self.tolerance

    def seconds_left(self) -> float:
        """Seconds until the deadline, never negative; infinite if there is none, zero after an interrupt."""
        return min(max(self.deadline - time.monotonic(), 0.0), self.budget.seconds_left)

    def expired(self) -> bool:
        """Return whether to end now: after the deadline, after an interrupt, or beyond the memory limit."""
        return time.monotonic() >= self.deadline or self.budget.expired

    def allows(self, column: Column) -> bool:
        """Whether the branching decisions allow a column."""
        return all(decision.allows(column) for decision in self.decisions)

    def forbidden(self, block: str) -> frozenset[Any]:
        """Variables of the original formulation that no column may use at this node.

        Parameters
        ----------
        block
            The block of the branching rule's rows, such as that of :class:`colgen.OnOriginalVariable`.  Bounds that
            allow a variable are rows: the oracle hears of those by their dual values, ``duals.items(block)``.
        """
        return frozenset(name for decision in self.decisions for name in decision.forbids(block))

    def together(self, block: str | None = None) -> tuple[tuple[Any, ...], ...]:
        """Groups of rows that Ryan and Foster's rule has joined: a column holds all rows of a group or none.

        Parameters
        ----------
        block
            The partitioning rows' block; None where there is but one that is branched on.

        Returns
        -------
        tuple of tuple
            Indices of the rows, group by group, no index in two of them: what was joined pair by pair down the tree is
            put together here.

        Raises
        ------
        InputError
            If no block is named and decisions speak of several.
        """
        pairs = [(d.first, d.second) for d in self.decisions if isinstance(d, Together)]
        return tuple(tuple(index for _, index in group) for group in groups_of(self._in_block(pairs, block)))

    def apart(self, block: str | None = None) -> tuple[tuple[Any, Any], ...]:
        """Pairs of rows that Ryan and Foster's rule has parted: no column holds both; see :meth:`together`."""
        pairs = [(d.first, d.second) for d in self.decisions if isinstance(d, Apart)]
        return tuple(dict.fromkeys((one[1], other[1]) for one, other in self._in_block(pairs, block)))

    @staticmethod
    def _in_block(pairs: list[tuple[Key, Key]], block: str | None) -> list[tuple[Key, Key]]:
        """The pairs of a block."""
        blocks = sorted({key[0] for pair in pairs for key in pair})
        if block is None and len(blocks) > 1:
            raise InputError(f"decisions join and part rows of {' and '.join(map(repr, blocks))}: name the block meant")
        return [pair for pair in pairs if block is None or pair[0][0] == pair[1][0] == block]


@dataclass(frozen=True)
class PricedMarginals:
    """What it costs to force variables of the original formulation in.

    Attributes
    ----------
    values
        For each variable the best reduced cost of a column that uses it, with the column's own cost at weight 1;
        ``sense.hopeless`` if no column may.  Where the result states a total, the best total with it forced in.  As
        for ``bound``, a relaxation's value will do.
    names
        The variables, by their names in the branching rule's block: a list or an array, one each.
    """

    values: NDArray[np.float64]
    names: Sequence[Hashable] | NDArray[Any]


@dataclass(frozen=True)
class PricingResult:
    """Columns, and what the search for them proves.

    Attributes
    ----------
    columns
        Found columns, improving or not; the engine takes those that improve.
    bound
        No column of this pricing problem has a better reduced cost than this: the exact optimum, or a relaxation's
        value.  None: nothing is known (a heuristic).  The reduced cost of having no column at all, +inf when
        minimising, is legitimate.  Columns in the master with a finite upper bound may be left out of account.
    reduced_costs
        The oracle's own reduced costs of ``columns``, if it states them: the engine checks them against the columns'
        cost and coefficients, which catches a column that is encoded wrongly.
    total
        The reduced costs of all columns of this pricing problem that an answer uses, times their values, sum to
        nothing better than this (which a clustering, say, may know better than the number of its clusters times the
        best of them).  Where it is stated, the dual bound needs no multiplicity.
    attained
        Makes the columns of this pricing problem's best answer by itself, and their values: what ``total`` is worth.
        Asked for by bounds that move along its activity (Subgradient, Volume, Bundle), and by nobody else.  None: the
        best of ``columns``, as often as the multiplicity allows, if it improves.
    marginals
        Computes what forcing each variable of the original formulation in costs, or None if that is too much work:
        what :class:`colgen.fixing.ReducedCostFixing` asks for.
    answers
        Whole solutions that the search has met: guesses, which the engine checks before one becomes the incumbent.
    relaxed
        A solution of the node's relaxation that the bound is the value of, fractional in general, for branching rules
        to look at where no linear program has one.
    cut_off
        The search ended early because of the deadline or an interrupt, and states no bound, or a weaker one, for that
        reason alone.
    together
        All columns join the master together, whatever each of them improves: an arc, say, that improves only with a
        part that uses it.
    """

    columns: Sequence[Column] = ()
    bound: float | None = None
    reduced_costs: Sequence[float] | NDArray[np.float64] | None = None
    total: float | None = None
    attained: Callable[[], tuple[Sequence[Column], NDArray[np.float64]]] | None = None
    marginals: Callable[[], PricedMarginals | None] | None = None
    cut_off: bool = False
    answers: Sequence[Solution] = ()
    relaxed: Solution | None = None
    together: bool = False


class Pricing(ABC):
    """A pricing problem.  Subclasses write :meth:`price`.

    Attributes
    ----------
    multiplicity
        At most this many columns of the pricing problem are used in any answer, counted with their values (the number
        of identical machines, vehicles, ...); it turns reduced costs into a Lagrangian bound.  Infinite if nothing is
        known.
    cost_bound
        No column of this pricing problem costs less than this (when maximising: no column is worth more).  If it is
        positive (when maximising: negative) then Farley's bound holds without a multiplicity.
    same_as
        Pricing problems that agree in this are identical: the same columns, of the same costs and coefficients.  One of
        them is asked for all, with the sum of their multiplicities.  Objects of one class whose attributes are the
        same (numbers, names, arrays, or the very same objects) are so without saying it.
    prices
        The kinds of terms of cuts that the oracle reads from ``duals.terms(kind)`` and prices exactly: a cut of another
        kind is refused, naming the oracle.  One that pays for components by ``duals.items(block)`` prices ``Linear``
        already, and only has to say so.
    """

    multiplicity: float = math.inf
    cost_bound: float | None = None
    same_as: Hashable | None = None
    prices: frozenset[type[Term]] = frozenset()

    @property
    def name(self) -> str:
        """What diagnostics call this oracle."""
        return type(self).__name__

    @abstractmethod
    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        """Look for columns of improving reduced cost at ``duals``."""


def check_attributes(oracle: Pricing) -> None:
    """Refuse a multiplicity or a cost bound that is out of its domain.

    An oracle may change its attributes in any call, so that the usual case costs next to nothing.

    Raises
    ------
    InputError
        Naming the oracle, the attribute, its value, and what was expected.
    """
    multiplicity, cost_bound = oracle.multiplicity, oracle.cost_bound
    if not (type(multiplicity) is float and multiplicity > 0.0):
        name = f"{oracle.name}.multiplicity"
        if not real(multiplicity, name, low=-math.inf, finite=False) > 0.0:
            raise InputError(
                f"{name}: expected a number above 0, infinite if nothing is known, not {multiplicity}; leave out a "
                "pricing problem whose columns no answer uses"
            )
    if cost_bound is not None and not (type(cost_bound) is float and -math.inf < cost_bound < math.inf):
        real(cost_bound, f"{oracle.name}.cost_bound (None if nothing is known)", low=-math.inf)


def check_statements(oracle: Pricing) -> None:
    """Refuse an oracle whose attributes are out of their domain, before it is asked; see :func:`check_attributes`."""
    check_attributes(oracle)
    exact = getattr(oracle, "exact", True)
    if not isinstance(exact, (bool, np.bool_)):
        raise InputError(f"{oracle.name}.exact: expected True or False, not {exact!r}")
    kinds = oracle.prices
    several = isinstance(kinds, (frozenset, set, tuple, list))
    if not several or not all(isinstance(kind, type) and issubclass(kind, Term) for kind in kinds):
        raise InputError(f"{oracle.name}.prices: expected a set of kinds of terms, such as {{Count}}, not {kinds!r}")


def check_priced(oracles: Sequence[Pricing], rows: Iterable[Row]) -> None:
    """Refuse rows that count what one of the oracles cannot price.

    Raises
    ------
    UnpricedCutError
        Naming the family of cuts, what they count, and the oracle.
    """
    for row in rows:
        term = row.term()
        if term is None:
            continue
        for oracle in oracles:
            if type(term) not in oracle.prices:
                kind, known = type(term).__name__, sorted(each.__name__ for each in oracle.prices)
                raise UnpricedCutError(
                    f"{oracle.name} cannot price the cuts {row.key[0]!r}, whose coefficients are {kind} terms of the "
                    f"columns: it prices {' and '.join(known) or 'no terms of cuts'}; let it read duals.terms({kind}) "
                    f"and say so by prices, or leave these cuts out"
                )


def priced(oracle: Pricing, duals: Duals, context: PricingContext) -> PricingResult:
    """What an oracle returns at dual values, once it is clear that it is a result.

    Raises
    ------
    InputError
        If it is none, or if an attribute of the oracle is out of its domain.
    """
    result = oracle.price(duals, context)
    if not isinstance(result, PricingResult):
        raise InputError(
            f"{oracle.name}.price() returned {_named(result)}: expected a PricingResult with a sequence of columns"
        )
    columns = result.columns
    if not isinstance(columns, Columns):
        name = f"{oracle.name}.price()"
        if not isinstance(columns, Sequence):
            raise InputError(f"{name} returned {_named(columns)} as the columns of its result, expected a list of them")
        for column in columns:
            if not isinstance(column, Column):
                raise InputError(f"{name} returned {_named(column)} among its columns, expected Column objects only")
    for name, value in (("bound", result.bound), ("total", result.total)):
        if value is not None and type(value) is not float:
            number = as_number(value)
            if number is None:
                raise InputError(f"{oracle.name}.price(): the {name} is {value!r}, expected a number or None")
            result = dataclasses.replace(result, **{name: number})
    check_attributes(oracle)
    return result


def _named(value: Any) -> str:
    """What was returned by mistake, in a few words."""
    return f"None ({FORGOTTEN})" if value is None else f"a {type(value).__name__}"


class NoStructure(enum.Enum):
    """The type of :data:`NO_STRUCTURE`."""

    NO_STRUCTURE = "no structure"

    def __repr__(self) -> str:
        return self.name


NO_STRUCTURE: Final[Literal[NoStructure.NO_STRUCTURE]] = NoStructure.NO_STRUCTURE
"""What :meth:`OraclePricing.best` returns where there is no structure; None is taken for a missing ``return``."""


@dataclass(frozen=True)
class Best(Generic[Structure]):
    """A structure with the reduced cost that the oracle computed for it, so that the engine can check its encoding."""

    structure: Structure
    reduced_cost: float


class OraclePricing(Pricing, Generic[Structure]):
    """A pricing problem solved by an oracle: write :meth:`best` and :meth:`encode`.

    ``class Knapsack(OraclePricing[Pattern])`` says to a type checker what :meth:`best` finds and :meth:`encode` takes.

    Parameters
    ----------
    problem
        Kept as ``self.problem`` for the oracle's data.

    Attributes
    ----------
    exact
        Whether :meth:`best` really returns the best structure.  Its reduced cost is then the pricing problem's bound;
        set it to False for a heuristic, which proves nothing.
    """

    exact: bool = True

    def __init__(self, problem: Any = None) -> None:
        self.problem = problem

    @abstractmethod
    def best(self, duals: Duals, context: PricingContext) -> Structure | Best[Structure] | NoStructure:
        """The structure of best reduced cost, or :data:`NO_STRUCTURE` if there is no structure at all.

        Return ``Best(structure, reduced_cost)`` to have the engine compare the oracle's reduced cost with the encoded
        column's.  A search that can last calls ``context.budget.require()`` now and then: once the time is over, or
        after an interrupt, that ends it, and the run ends with what it has.
        """

    @abstractmethod
    def encode(self, structure: Structure, /) -> Column:
        """The column of a structure, whatever a subclass calls it."""

    def others(self, structure: Structure, duals: Duals, context: PricingContext) -> Iterable[Structure]:
        """Further structures worth a column besides the best one; none by default."""
        return ()

    def _encoded(self, structure: Structure) -> Column:
        column = self.encode(structure)
        if not isinstance(column, Column):
            raise InputError(
                f"{type(self).__name__}.encode: expected it to return a Column(cost, coefficients, structure), not "
                f"{_named(column)}"
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
                f"{type(self).__name__}.best() returned None: {FORGOTTEN} Where there is no structure at all, return "
                "colgen.NO_STRUCTURE"
            )
        structure = found.structure if isinstance(found, Best) else found
        columns = [self._encoded(structure)]
        stated: list[float] = []
        if isinstance(found, Best):
            name = f"{type(self).__name__}.best(): the reduced cost"
            stated.append(real(found.reduced_cost, name, low=-math.inf, finite=False))
        bound = stated[0] if stated else float(context.reduced_costs(columns, duals)[0])
        others = self.others(structure, duals, context)
        if others is None:
            raise InputError(f"{type(self).__name__}.others() returned None: {FORGOTTEN} Return () for none")
        columns += [self._encoded(other) for other in others]
        return PricingResult(columns, bound if self.exact else None, stated)


class Stages(Pricing):
    """One pricing problem solved in stages: heuristics first, the exact oracle last.

    A later heuristic runs only if the earlier ones have found fewer columns that improve than are enough, and the last
    stage only if they have found none.  What is proved is what the last stage that found columns proves, or the last of
    all. Multiplicity and cost bound are those of the last stage; terms are priced that all stages price.

    Parameters
    ----------
    enough
        So many columns that improve, and that the master does not hold yet, end a call; all that were found until then
        are returned.
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
            result = priced(stage, duals, context)
            reduced_costs = context.reduced_costs(result.columns, duals)
            new = (
                column
                for column, reduced_cost in zip(result.columns, reduced_costs, strict=True)
                if context.improves(reduced_cost) and context.is_new(column)
            )
            improving = sum(1 for _ in islice(new, self.enough))  # no more are looked at than are asked for
            if improving:
                results.append(result)
                count += improving
            if count >= self.enough:
                break
        if not results:
            return priced(last, duals, context)
        if len(results) == 1:
            return results[0]
        found = {column.identity: column for result in results for column in result.columns}
        answers = tuple(answer for result in results for answer in result.answers)
        return dataclasses.replace(results[-1], columns=list(found.values()), reduced_costs=None, answers=answers)
