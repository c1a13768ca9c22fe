"""Column enumeration: list all columns that a better solution can use, for a final mixed-integer program."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from colgen.branching.rules import Bound
from colgen.core.columns import Column, Key
from colgen.core.decision import Decision
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.text import Described
from colgen.core.tolerances import TOLERANCES, size
from colgen.cuts.separation import SeparationContext
from colgen.fixing import Reduction, ReductionContext
from colgen.pricing.labelling import Labelling, PathOracle, list_paths, routes_within
from colgen.pricing.listed_paths import PathsListed
from colgen.pricing.oracles import PricingContext
from colgen.solvers.work import SECOND, STEP

_NARROWER = 0.9
"""After a failed enumeration, try again once the gap is below this share of the former gap."""

_EFFORT = 1e9
"""Effort limit of the enumeration, about ten seconds."""

_PROBE = 0.25
"""Work of a test whether few columns are left, divided by the work of the run so far."""

_MANY, _GAP = 500_000, 0.01
"""Largest number of paths that are examined one by one, and the relative gap at which they are listed."""

_SHORTER = 0.5
"""A list replaces another one only if it is at most this share of it: decisions keep both."""

_LISTING = "listing"
"""The part of a run that tests whether few columns are left."""

_NO_SIDES: Mapping[Key, tuple[float, float]] = {}


@dataclass(frozen=True)
class Enumerated:
    """All columns that a better solution can use.

    Attributes
    ----------
    columns
        Complete: if the node contains a better solution, it contains one made of these columns.
    sides
        Sides that replace those of rows without losing all better solutions. For example, equations instead of
        inequalities make mixed-integer programs easier. Rows may also be relaxed, with infinite sides; then
        :meth:`Enumeration.complete` must repair solutions.
    values
        For rows ≥ 1 with coefficients 1: dual values at which the reduced costs of the columns are small. A depth-first
        search by slack at these values (:mod:`colgen.solvers.packing.covering`) then replaces the mixed-integer
        program. It is much faster where the gap is small.
    """

    columns: Sequence[Column]
    sides: Mapping[Key, tuple[float, float]] = field(default_factory=lambda: _NO_SIDES)
    values: Mapping[Key, float] | None = None


class Enumeration(Described, ABC):
    """Lists columns by their reduced cost. Subclasses implement :meth:`enumerate`.

    Attributes
    ----------
    seconds
        Time limit of the integer program over the listed columns, besides its share of the work of the run. If it does
        not suffice, the node is branched on.
    """

    seconds: float = math.inf

    @property
    def name(self) -> str:
        """The name of this enumeration in diagnostics."""
        return type(self).__name__

    @abstractmethod
    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        """Return all columns that better solutions can use, within ``context.slack``; None if there are too many."""

    def excludes(self, target: float) -> bool:
        """Return whether no solution has an objective as good as ``target``, proved without dual values.

        The root calls it before its first linear program, unless only the relaxation is wanted.  By default False.
        """
        return False

    def complete(self, solution: Solution) -> Solution | None:
        """Repair a solution of the enumerated program in rows that were relaxed; return None if impossible."""
        return solution


class PathEnumeration(Enumeration):
    """All elementary paths within the gap; of paths with the same vertices only the cheapest.

    In any solution a path can be replaced by a cheaper one over the same vertices. This may violate branching rows on
    arcs, so the program omits them. Its solutions are feasible for the problem and at least as good as the node's best.

    Parameters
    ----------
    oracles
        The oracles of the paths, which have coefficients only in rows of vertices and of numbers of paths.
    limit
        Maximum number of paths.
    seconds
        See :class:`Enumeration`.
    effort
        Limit on the work of listing: see :meth:`colgen.solvers.paths.labelling.Labelling.enumerate`.

    Raises
    ------
    InputError
        If arcs have rows in the master: paths over the same vertices are then not equivalent.

    References
    ----------
    R. Baldacci, N. Christofides, A. Mingozzi, *An exact algorithm for the vehicle routing problem based on the set
    partitioning formulation with additional cuts*, Mathematical Programming 115 (2008).
    """

    def __init__(
        self,
        oracles: PathOracle | Sequence[PathOracle],
        limit: int = 20_000,
        seconds: float = math.inf,
        effort: float = 5e9,
    ) -> None:
        self.oracles = (oracles,) if isinstance(oracles, PathOracle) else tuple(oracles)
        if any(isinstance(oracle, Labelling) and oracle.arc_rows for oracle in self.oracles):
            raise InputError(
                "PathEnumeration: expected an oracle without arc_rows, which distinguish paths over the same vertices"
            )
        self.limit = limit
        self.seconds = seconds
        self.effort = effort

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        pricing = replace(context.pricing, slack=context.slack + rounding, budget=context.budget)
        columns = list_paths(self.oracles, context.duals, pricing, self.limit, self.effort)
        if columns is None:
            return None
        blocks = {block for oracle in self.oracles for block in oracle.arc_blocks}
        sides: dict[Key, tuple[float, float]] = {
            decision.key: (-math.inf, math.inf)
            for decision in context.decisions
            if isinstance(decision, Bound) and decision.key[0] in blocks and decision.row() is not None
        }
        return Enumerated(columns, sides)


class PathListing(Reduction):
    """Restrict oracles to a list of all paths within the gap, once these are few enough to be examined one by one.

    Pricing then takes milliseconds, however many cuts there are, and its bounds are those of elementary paths.  The
    list has the cheapest path over the same vertices only, so it is not made where decisions distinguish such paths.
    It shrinks with the gap, in the nodes below too.

    Parameters
    ----------
    oracles
        See :class:`PathEnumeration`.
    limit
        Maximum number of paths.
    gap
        Largest relative gap at which the paths are listed.

    References
    ----------
    C. Contardo, R. Martinelli, *A new exact algorithm for the multi-depot vehicle routing problem under capacity and
    route length constraints*, Discrete Optimization 12 (2014).
    """

    makes: Sequence[type[Decision]] = (PathsListed,)

    def __init__(self, oracles: PathOracle | Sequence[PathOracle], limit: int = _MANY, gap: float = _GAP) -> None:
        self.oracles = (oracles,) if isinstance(oracles, PathOracle) else tuple(oracles)
        self.limit, self.gap = limit, gap
        self._attempts = _Attempts(self.oracles)

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        known = _listed(context.decisions)
        found = self._within(context) if known or self._may_list(context) else None
        if found is None or (known and sum(map(len, found)) > _SHORTER * sum(map(len, known))):
            return ()
        return [
            PathsListed(number, routes.starts - np.arange(len(routes) + 1), routes.arcs, self.oracles)
            for number, routes in enumerate(found)
        ]

    def _may_list(self, context: ReductionContext) -> bool:
        gap = context.sense.gap(context.target, context.bound)
        return gap <= self.gap and not _distinguishes(self.oracles, context.decisions)

    def _within(self, context: ReductionContext) -> list[Any] | None:
        """Return the paths of each oracle within the gap, None if they are too many."""
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        pricing = replace(context.pricing, slack=context.slack + rounding, budget=context.budget)
        return self._attempts.find(context.duals, pricing, context.slack, self.limit)


def _listed(decisions: Sequence[Decision]) -> list[PathsListed]:
    """Return the last list of each oracle."""
    return list({each.number: each for each in decisions if isinstance(each, PathsListed)}.values())


def _distinguishes(oracles: Sequence[PathOracle], decisions: Sequence[Decision]) -> bool:
    """Return whether decisions may allow one of two paths over the same vertices."""
    blocks = {block for oracle in oracles for block in oracle.visit_blocks}
    return any(each.exhaustive and not (isinstance(each, Bound) and each.key[0] in blocks) for each in decisions)


class _Attempts:
    """Finds the useful paths of oracles; after a failure it waits until the gap is narrower."""

    def __init__(self, oracles: Sequence[PathOracle]) -> None:
        self.oracles = oracles
        self._too_wide: dict[int, float] = {}

    def find(self, duals: OwnDuals, pricing: PricingContext, slack: float, limit: int) -> list[Any] | None:
        """Return the useful paths of each oracle; None if they are more than a limit, or take too long.

        Without lists, whose paths are examined in milliseconds, this is a turn of the run.  ``slack`` is that of
        ``pricing`` without rounding.
        """
        if _listed(pricing.decisions):
            return routes_within(self.oracles, duals, pricing, limit, _EFFORT)
        allotment = pricing.budget.allotment
        if slack > _NARROWER * self._too_wide.get(limit, math.inf) or allotment.left(_LISTING) <= 0.0:
            return None
        effort = min(_EFFORT, _PROBE * max(allotment.total, SECOND) / STEP)
        with allotment.turn(_LISTING) as turn:
            found = routes_within(self.oracles, duals, pricing, limit, effort)
            turn.gained = found is not None
        if found is None:
            self._too_wide[limit] = slack
        return found


class FewPathsLeft:
    """Tests whether the paths within the gap are few enough for what makes further cuts unnecessary.

    Where no decision on arcs holds they are then listed, see :class:`PathListing`.  Elsewhere, or over a list, a
    mixed-integer program over ``few`` paths is quick.

    Parameters
    ----------
    few, many
        Maximum number of paths for such a program, and for a list.
    gap
        Largest relative gap at which the enumeration is tried.
    """

    def __init__(
        self, oracles: Sequence[PathOracle], few: int = 3_000, many: int = _MANY // 2, gap: float = _GAP
    ) -> None:
        self.oracles, self.few, self.many, self.gap = tuple(oracles), few, many, gap
        self._attempts = _Attempts(self.oracles)

    def __call__(self, context: SeparationContext) -> bool:
        if not context.gap <= self.gap or context.duals is None:
            return False
        program = _listed(context.decisions) or _distinguishes(self.oracles, context.decisions)
        slack = context.incumbent - context.bound
        pricing = PricingContext(context.sense, decisions=context.decisions, budget=context.budget, slack=slack)
        return self._attempts.find(context.duals, pricing, slack, self.few if program else self.many) is not None
