"""Best structures under linear constraints over their parts, by column generation with proofs.

Constraints that only forbid parts become scores of -inf. If the best structures at these scores satisfy the others,
they are optimal. Violated constraints that count few labels of chains are enforced by dynamic programs over labels and
counts. Otherwise a restricted master combines structures: one row per structure that sums its columns to 1,
and one row per constraint. The oracles price columns at their scores minus the dual values of the constraints. Branch
and bound on parts closes the remaining gap. The same relaxation is solved by AD3 (Martins et al., 2015), without
columns and without the proof.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from colgen.branching.rules import BranchingRule, OnOriginalVariable
from colgen.core.budget import Budget
from colgen.core.columns import Column, Key
from colgen.core.duals import Duals
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.numbers import real
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.heuristics import RestrictedMIP
from colgen.learning.constraints import Constraint, PlacedConstraint, counts_of, place
from colgen.learning.counting import counted_labels
from colgen.learning.oracles import Structure, StructureOracle, decode, find_best, scores_for, structure_from
from colgen.method import Method
from colgen.model.rows import Rows
from colgen.pricing.oracles import NO_STRUCTURE, NoStructure, OraclePricing, Pricing, PricingContext
from colgen.problem import Problem
from colgen.solvers.scaling import power_of_two
from colgen.solving import solve

Floats: TypeAlias = NDArray[np.float64]
Found: TypeAlias = dict[str, Structure]
Part: TypeAlias = tuple[str, int, int]
"""Name of a structure, number of its array, and place in the flattened array."""

_ONE, _LINK, _PART = "structure", "constraint", "part"
"""Blocks of rows: one of each structure, constraints, and branching on parts."""

_MOST_PRICED = 40
"""Structures to price before the general method takes over."""


@dataclass(frozen=True, eq=False)
class Constrained:
    """Best structures under constraints.

    Attributes
    ----------
    structures
        A :class:`~colgen.learning.Structure` by name; empty if the time limit ended the search before the first.
    objective
        Sum of their scores.
    bound
        Upper bound on the objective of all structures that satisfy the constraints.
    proved
        Whether the structures are proved optimal.
    columns
        Number of structures that the oracles or dynamic programs generated; 0 if the best structures satisfy the
        constraints.
    """

    structures: Found
    objective: float
    bound: float
    proved: bool
    columns: int = 0


def constrained_best(
    structures: Mapping[str, Sequence[Any]],
    constraints: Sequence[Constraint] = (),
    *,
    time_limit: float = math.inf,
) -> Constrained:
    """Return structures of largest total score that satisfy linear constraints.

    Parameters
    ----------
    structures
        An oracle and its arrays of scores by name: ``{"tags": (Chains(), scores, transitions)}``.
    constraints
        Constraints over their parts, see :mod:`colgen.learning.constraints`.
    time_limit
        Seconds for the search.

    Raises
    ------
    InputError
        If scores or constraints are invalid, every structure is forbidden, or no structures satisfy the constraints.

    Examples
    --------
    >>> from colgen.learning import Chains, Parts, at_least
    >>> scores, transitions = np.array([[2.0, 1.0], [2.0, 0.5], [2.0, 0.0]]), np.zeros((2, 2))
    >>> tags = {"tags": (Chains(), scores, transitions)}
    >>> found = constrained_best(tags, [at_least(Parts("tags", np.s_[:, 1]), 1)])
    >>> found.objective, found.proved
    (5.0, True)
    """
    real(time_limit, "time_limit", low=0.0, finite=False)
    problem = ConstrainedStructures(structures, constraints)
    if not problem.violated(problem.best):
        total = problem.score(problem.best)
        return Constrained(problem.best, total, total, True)
    quick = (best_counted(problem) or best_with_one_link(problem)) if time_limit else None
    if quick is not None:
        found, bound, columns = quick
        return Constrained(found, problem.score(found), bound, True, columns)
    result = solve(problem, time_limit=time_limit)
    if result.termination is Termination.INFEASIBLE:
        raise InputError("no structures satisfy all constraints: remove a constraint or allow forbidden parts")
    found = result.answer or {}
    objective = problem.score(found) if found else -math.inf
    proved = result.termination is Termination.OPTIMAL
    bound = objective if proved else min(result.dual_bound * problem.unit, problem.score(problem.best))
    return Constrained(found, objective, bound, proved, result.columns_generated)


def best_counted(problem: ConstrainedStructures) -> tuple[Found, float, int] | None:
    """Return optimal structures, their score and the number of generated structures, by counting labels of chains.

    Constraints are enforced once they are violated, so structures that satisfy all are optimal. None if a violated
    constraint is not over the labels of one chain, if counts have too many states, or if no labels satisfy it.
    """
    found, enforced, columns = dict(problem.best), list[PlacedConstraint](), 0
    while violated := problem.violated(found):
        if any(len(link.terms) != 1 for link in violated):
            return None
        enforced += violated
        for name in {link.terms[0][0] for link in violated}:
            labels = counted_labels(
                problem.oracles[name], problem.scores[name], [link for link in enforced if link.terms[0][0] == name]
            )
            if labels is None:
                return None
            found[name] = structure_from(labels, problem.scores[name])
            columns += 1
    return found, problem.score(found), columns


def best_with_one_link(problem: ConstrainedStructures) -> tuple[Found, float, int] | None:
    """Return optimal structures, their bound and the number of priced structures if one dual value proves them.

    This is column generation with one row, whose linear program is the intersection of two lines: it needs no solver.
    None if the best structures violate several constraints, or if the relaxation is fractional.
    """
    violated = problem.violated(problem.best)
    if len(violated) > 1:
        return None
    link = violated[0]
    start = problem.amount(problem.best, link)
    side = link.lower if start < link.lower else link.upper
    inside, outside, columns = None, (problem.best, problem.score(problem.best), start), 0
    size = 4.0 * sum(1 + len(places) for own in problem.best.values() for places, _ in own.parts)
    reward = math.copysign(problem.unit * size, side - start)  # large: find structures that reach the side
    while math.isfinite(reward) and columns < _MOST_PRICED:
        found = problem.best_with_reward(link, reward)
        columns += len(found)
        point = found, problem.score(found), problem.amount(found, link)
        value = point[1] + reward * (point[2] - side)
        if inside is not None:
            least = inside[1] + reward * (inside[2] - side)
            if value <= least + TOLERANCES.pruning * (abs(least) + abs(inside[1])):  # the relaxation is solved
                gap = max(value, least) - inside[1]
                optimal = gap <= TOLERANCES.pruning * abs(inside[1]) and not problem.violated(inside[0])
                return (inside[0], inside[1], columns) if optimal else None
        if (point[2] - side) * (side - start) >= 0.0:
            inside = point
        elif inside is None:
            return None
        else:
            outside = point
        reward = (outside[1] - inside[1]) / (inside[2] - outside[2])
    return None


class ConstrainedStructures(Problem[Found]):
    """The problem of best structures under constraints; the answer is a structure by name.

    Objectives are scores divided by ``unit``, a power of two.

    Parameters
    ----------
    structures, constraints
        As for :func:`constrained_best`.

    Attributes
    ----------
    best
        The best structures without the constraints that do more than forbid parts.
    """

    def __init__(self, structures: Mapping[str, Sequence[Any]], constraints: Sequence[Constraint] = ()) -> None:
        if not structures:
            raise InputError("structures: expected one or more, by name")
        self.oracles: dict[str, StructureOracle] = {}
        self.scores: dict[str, tuple[Floats, ...]] = {}
        for name, (oracle, *scores) in structures.items():
            self.oracles[name], self.scores[name] = oracle, scores_for(oracle, scores)
        self.shapes = {name: [theta.shape for theta in own] for name, own in self.scores.items()}
        every = tuple((name, tuple(shapes)) for name, shapes in self.shapes.items())
        placed = [place(constraint, every) for constraint in constraints]
        self._forbid([each for each in placed if each.forbids])
        self.links = [each for each in placed if not each.forbids]
        self._weighted: dict[tuple[str, float], list[Floats]] = {}
        self._linked = sorted({(name, k) for link in self.links for name, k, *_ in link.terms})
        self.best: Found = {name: decode(oracle, self.scores[name]) for name, oracle in self.oracles.items()}

    def weighted(self, name: str, weight: float) -> list[Floats]:
        """Return the scores of a structure times a weight, 1 or 0, over ``unit``; they must not be changed."""
        if (name, weight) not in self._weighted:
            self._weighted[name, weight] = [
                theta * (weight / self.unit) if weight else np.where(np.isneginf(theta), -np.inf, 0.0)
                for theta in self.scores[name]
            ]
        return self._weighted[name, weight]

    @cached_property
    def unit(self) -> float:
        """Scale of the scores."""
        return max(power_of_two(theta) for own in self.scores.values() for theta in own)

    def _forbid(self, constraints: Sequence[PlacedConstraint]) -> None:
        """Replace the scores of forbidden parts by -inf, in copies."""
        for name, k, places, _ in (term for constraint in constraints for term in constraint.terms):
            arrays = list(self.scores[name])
            arrays[k] = arrays[k].copy()
            arrays[k].ravel()[places] = -np.inf
            self.scores[name] = tuple(arrays)

    def violated(self, found: Found) -> list[PlacedConstraint]:
        """Return the constraints that structures violate."""
        counts = counts_of(found, self._linked, self.shapes)
        return [link for link in self.links if not link.allows(counts)]

    def amount(self, found: Found, link: PlacedConstraint) -> float:
        """Return the sum of a constraint over the parts of structures."""
        return link.activity(counts_of(found, self._linked, self.shapes))

    def best_with_reward(self, link: PlacedConstraint, reward: float) -> Found:
        """Return the best structures if the sum of a constraint is rewarded."""
        changes = {name: [((k, at), reward * own) for other, k, at, own in link.terms if other == name]
                   for name in self.oracles}  # fmt: skip
        return {
            name: decode(oracle, changed(self.scores[name], changes[name])) if changes[name] else self.best[name]
            for name, oracle in self.oracles.items()
        }

    def score(self, found: Found) -> float:
        """Return the sum of the scores of structures."""
        return sum(found[name].score(own) for name, own in self.scores.items())

    def column(self, name: str, structure: Structure) -> Column:
        """Return the column of one structure."""
        counts = counts_of({name: structure}, [pair for pair in self._linked if pair[0] == name], self.shapes)
        entries: dict[Key, float] = {(_ONE, name): 1.0}
        for number, link in enumerate(self.links):
            amount = sum(float(own @ counts[name, k][places]) for other, k, places, own in link.terms if other == name)
            if amount:
                entries[_LINK, number] = amount
        cost = structure.score(self.scores[name]) / self.unit
        return Column(cost, entries, (name, structure), key=(name, structure.key))

    def master(self) -> Rows:
        rows = Rows(Sense.MAXIMIZE, objective="score")
        names, numbers = list(self.oracles), range(len(self.links))
        none = rows.add_variables("none", names, artificial=True)
        one = rows.add_rows(_ONE, names, lower=1.0, upper=1.0)
        rows.add_entries(one, none, 1.0)
        lower, upper = ([getattr(link, side) for link in self.links] for side in ("lower", "upper"))
        below = rows.add_variables("below", numbers, artificial=True)
        above = rows.add_variables("above", numbers, artificial=True)
        linking = rows.add_rows(_LINK, numbers, lower=lower, upper=upper)
        rows.add_entries(linking, below, 1.0)
        rows.add_entries(linking, above, -1.0)
        return rows

    def pricing(self) -> Sequence[Pricing]:
        return [StructurePricing(self, name) for name in self.oracles]

    def method(self) -> Method:
        return Method(heuristics=(RestrictedMIP(3.0),))  # exchanges take longer than the search

    def branching(self) -> Sequence[BranchingRule]:
        return (OnOriginalVariable(parts_of, block=_PART),)

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart(columns=[self.column(name, structure) for name, structure in self.best.items()])

    def answer(self, solution: Solution) -> Found:
        return dict(column.structure for column, _ in solution.columns)

    def check(self, answer: Found) -> float:
        if answer.keys() != self.oracles.keys():
            raise InfeasibleAnswerError(f"expected the structures {list(self.oracles)}, got {list(answer)}")
        for name, structure in answer.items():
            structure_from(structure, self.scores[name], name)
        if self.violated(answer):
            raise InfeasibleAnswerError("the structures violate a constraint")
        return self.score(answer) / self.unit


def parts_of(column: Column) -> dict[Part, float]:
    """Return the counts of a column's parts, by structure, number of the array, and place."""
    name, structure = column.structure
    return {
        (name, k, place): count
        for k, (places, counts) in enumerate(structure.parts)
        for place, count in zip(places.tolist(), counts.tolist(), strict=True)
    }


def changed(scores: Sequence[Floats], changes: Sequence[tuple[tuple[int, Any], Any]]) -> list[Floats]:
    """Return scores with amounts added at places of some arrays, which are copied."""
    copies = {k: scores[k].copy() for (k, _), _ in changes}
    for (k, places), amounts in changes:
        copies[k].ravel()[places] += amounts
    return [copies.get(k, theta) for k, theta in enumerate(scores)]


class StructurePricing(OraclePricing[Structure]):
    """Prices one structure: its oracle finds the best at scores minus the dual values of constraints."""

    multiplicity = 1.0

    def __init__(self, problem: ConstrainedStructures, structure: str) -> None:
        super().__init__(problem)
        self.structure = structure

    def best(self, duals: Duals, context: PricingContext) -> Structure | NoStructure:
        problem, name = self.problem, self.structure
        changes = [
            ((k, places), -dual * own)
            for link, dual in zip(problem.links, duals.array(_LINK).tolist(), strict=True)
            for other, k, places, own in (link.terms if dual else ())
            if other == name
        ]
        branched = [(cast(Part, part), dual) for part, dual in duals.items(_PART)]
        changes += [((k, where), -dual) for (other, k, where), dual in branched if other == name]
        forbidden = [(k, where) for other, k, where in context.forbidden(_PART) if other == name]
        changes += [(part, -np.inf) for part in forbidden]
        found = find_best(problem.oracles[name], changed(problem.weighted(name, context.cost_weight), changes))
        return NO_STRUCTURE if found is None else found

    def encode(self, structure: Structure) -> Column:
        column: Column = self.problem.column(self.structure, structure)
        return column
