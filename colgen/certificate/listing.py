"""Certificates by lists: rule out columns by reduced cost, list the others, and prove the bound over the list.

Each row is covered exactly once.  Dual values of the relaxation without cuts rule out most columns.  The others are
searched by branching on pairs of rows, with cuts over triples of rows.  Over a list, dual values of cuts are easy to
check.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.checker_pricing import CheckerState, WrongError, exact
from colgen.certificate.witness import WitnessPoint
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program

_LABELS = 100_000
"""Maximum numbers of labels in the checker, and of listed columns."""

_ROUNDS, _CUTS, _VIOLATED = 20, 40, 0.02
"""Separation at a node: most rounds, most cuts per round, least violation."""

_SMALLEST_UNIT, _PER_STEP, _LARGEST = 2**16, 2**10, 2.0**60
"""Least denominator of dual values; it per row and step; and the limit on sums of integers."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ListedColumns:
    """Columns as arrays: covered rows (columns, rows), costs over a denominator, and the pricing problem of each."""

    sets: Ints
    costs: Ints
    problem: Ints

    def __getitem__(self, mask: NDArray[np.bool_]) -> ListedColumns:
        return ListedColumns(self.sets[mask], self.costs[mask], self.problem[mask])


@dataclass(frozen=True)
class _NodeBound:
    """A node's claim, the bound times the denominator, and the weight of each pair of rows in one column."""

    claim: Record
    total: Fraction
    together: Floats


class ListCertifier(Certifier):
    """Base of certifiers of partitioning problems whose columns the checker can price and list.

    Subclasses implement :meth:`formulation`, whose rows are all ``[1, 1]`` and whose objective is minimised over
    multiples of a ``step``, :meth:`priced`, :meth:`relaxation_duals` and :meth:`node_duals`.
    """

    def __init__(self, name: str) -> None:
        super().__init__(Sense.MINIMIZE, name)

    @abstractmethod
    def priced(self) -> Sequence[Any]:
        """Return the pricing problems of the checker."""

    @abstractmethod
    def relaxation_duals(self, answer: Solution) -> Floats:
        """Return dual values of the rows in the relaxation without cuts over the columns that the checker prices."""

    @abstractmethod
    def node_duals(self, point: WitnessPoint) -> Floats | None:
        """Return the dual values of the rows at a node of the run, or None."""

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterator[Record] | None:
        try:
            record, listed = self._rule_out(answer, points, goal)
        except WrongError:  # more labels than the limit
            return None
        if listed is None:
            return iter([{"node": 0, "claim": record}])
        if (np.abs(record["duals"]).sum() + self._unit) * self._over >= _LARGEST:
            return None
        return self._records(record, listed, goal)

    # --- the root ----------------------------------------------------------------------------------------------------

    @cached_property
    def _problems(self) -> list[Any]:
        problems = list(self.priced())
        for problem in problems:
            problem.limit = _LABELS
        return problems

    @cached_property
    def _uses(self) -> list[tuple[int, int]]:
        return [tuple(problem["uses"]) for problem in self.formulation()["pricing"]]

    @cached_property
    def _step(self) -> Fraction:
        return exact(self.formulation()["step"])

    @cached_property
    def _over(self) -> int:
        """The denominator of costs."""
        return math.lcm(*(price.denominator for problem in self._problems for price in problem.prices()))

    @cached_property
    def _unit(self) -> int:
        """The denominator of dual values, a power of two: rounding changes bounds by little of a step."""
        needed = len(self.formulation()["rows"]) * _PER_STEP / self._step
        return max(_SMALLEST_UNIT, 1 << max(math.ceil(needed) - 1, 1).bit_length())

    def _rule_out(
        self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction
    ) -> tuple[Record, Sequence[Mapping[int, Fraction]] | None]:
        """Return a claim that proves the goal, or the lists of columns that an improving solution may use.

        Dual values that closed the run's root without other rows replace a new relaxation.
        """
        near = float(goal - self._step / 2)
        own = (self.node_duals(p) for p in points if p.costs_count and p.bound > near)
        for values in itertools.islice((found for found in own if found is not None), 1):
            try:
                record, total, _ = self._claim(values)
            except WrongError:  # more labels than the limit: central duals may need fewer
                continue
            if self._round_up(total) >= goal:
                return {"weight": 1, **record}, None
        record, total, least = self._claim(self.relaxation_duals(answer))
        if self._round_up(total) >= goal:
            return {"weight": 1, **record}, None
        enough = self._unit * (goal - self._step) - total
        listed = [
            problem.within(record["duals"], Fraction(self._unit), enough + self._share(k, least[k]))
            for k, problem in enumerate(self._problems)
        ]
        return {"what": "columns", **record, "left": sum(map(len, listed))}, listed

    def _claim(self, values: Floats) -> tuple[Record, Fraction, list[Fraction]]:
        """Return the record of dual values, the bound they prove and the least reduced costs, times the unit."""
        duals = [round(value) for value in (values * float(self._unit)).tolist()]
        least = [problem.least(duals, Fraction(self._unit), {}, CheckerState()) for problem in self._problems]
        total = sum(duals) + self._used(least)
        record = {"unit": self._unit, "duals": duals, "counts": [], "least": list(map(as_exact, least))}
        return {**record, "bound": as_exact(total / self._unit)}, total, least

    def _used(self, least: Sequence[Fraction]) -> Fraction:
        """Return the least total of reduced costs of the columns in use."""
        ends = zip(least, self._uses, strict=True)
        return sum((each * (low if each >= 0 else high) for each, (low, high) in ends), Fraction(0))

    def _share(self, k: int, least: Fraction) -> Fraction:
        """Return the part of a bound that is due to one column of a problem."""
        return least if least < 0 else least * min(self._uses[k][0], 1)

    def _round_up(self, total: Fraction) -> Fraction:
        return math.ceil(total / self._unit / self._step) * self._step

    # --- the list ----------------------------------------------------------------------------------------------------

    def _records(self, record: Record, listed: Sequence[Mapping[int, Fraction]], goal: Fraction) -> Iterator[Record]:
        yield {"node": 0, "fix": record}
        n = len(self.formulation()["rows"])
        columns = [(rows, cost, k) for k, each in enumerate(listed) for rows, cost in each.items()]
        sets = np.array([[rows >> i & 1 for i in range(n)] for rows, *_ in columns], dtype=np.int64).reshape(-1, n)
        costs = np.array([int(cost * self._over) for _, cost, _ in columns], dtype=np.int64)
        problem = np.array([k for *_, k in columns], dtype=np.int64)
        stack, numbers = [(0, ListedColumns(sets, costs, problem))], itertools.count(1)
        while stack:
            node, left = stack.pop()
            found = self._bound_node(left, goal)
            if self._round_up(found.total) < goal:
                # Branch on the pair whose weight is nearest to 0.5.
                split = np.abs(found.together - 0.5)
                u, v = map(int, np.unravel_index(int(split.argmin()), split.shape))
                if split[u, v] < 0.499:
                    one, other = next(numbers), next(numbers)
                    yield {"node": node, "split": {"pair": [u, v]}, "children": [one, other]}
                    both = left.sets[:, u] + left.sets[:, v]
                    stack += [(k, left[mask]) for k, mask in ((one, both != 1), (other, both != 2))]
                    continue
            yield {"node": node, "claim": found.claim}

    def _bound_node(self, listed: ListedColumns, goal: Fraction) -> _NodeBound:
        """Return the bound of a node over listed columns, from a linear program with cuts."""
        n, count, problems = listed.sets.shape[1], len(listed.costs), len(self._uses)
        # the cost of an uncovered row or a missing column
        penalty = 10.0 * abs(float(goal)) * self._over + float(np.abs(listed.costs).max(initial=1)) + 1.0
        matrix = np.eye(n + problems, count + n + problems, count)
        matrix[:n, :count], matrix[n + listed.problem, np.arange(count)] = listed.sets.T, 1.0
        fewest, most = (np.array(side, dtype=np.float64) for side in zip(*self._uses, strict=True))
        program = LinearProgram(
            Program(
                False,
                sparse.csc_array(matrix),
                np.append(listed.costs.astype(np.float64), np.full(n + problems, penalty)),
                np.zeros(count + n + problems),
                np.full(count + n + problems, np.inf),
                np.append(np.ones(n), np.zeros(problems)),
                np.append(np.ones(n), most),
            ),
        )
        program.change_row_bounds(np.arange(n, n + problems), fewest, most)
        cuts: list[tuple[int, ...]] = []
        for _ in range(_ROUNDS):
            solved = program.solve()
            values = solved.values[:count]
            bounded = self._exact_bound(listed, cuts, np.delete(solved.duals, np.s_[n : n + problems]), values)
            fresh = [] if self._round_up(bounded.total) >= goal else _separate(listed.sets, values, cuts)
            if not fresh:
                break
            cuts += fresh
            entries = [np.flatnonzero(listed.sets[:, list(triple)].sum(axis=1) > 1) for triple in fresh]
            starts = np.cumsum([0, *map(len, entries)])
            columns = np.concatenate(entries).astype(np.int64)
            sides = np.full(len(fresh), -np.inf), np.ones(len(fresh))
            program.add_rows(*sides, starts, columns, np.ones(len(columns)))
        return bounded

    def _exact_bound(
        self, listed: ListedColumns, cuts: Sequence[tuple[int, ...]], duals: Floats, values: Floats
    ) -> _NodeBound:
        """Return the bound that rounded dual values of rows and cuts prove, in the unit of listed costs."""
        sets, n = listed.sets, listed.sets.shape[1]
        whole = np.rint(duals / self._over * self._unit).astype(np.int64)
        rows, penalties = whole[:n], np.minimum(whole[n:], 0)
        earned = sets @ rows
        cut_records: list[Any] = []
        for triple, dual in zip(cuts, penalties.tolist(), strict=True):
            if dual:
                earned += dual * (sets[:, list(triple)].sum(axis=1) > 1)
                cut_records.append({"cut": [2, list(triple)], "dual": dual})
        reduced = self._unit * listed.costs - self._over * earned
        own = (reduced[listed.problem == k] for k in range(len(self._uses)))
        least = [Fraction(int(each.min()) if len(each) else 0, self._over) for each in own]
        total = int(rows.sum()) + sum(each["dual"] for each in cut_records) + self._used(least)
        claim = {"weight": 1, "unit": self._unit, "duals": rows.tolist(), "counts": [], "cuts": cut_records}
        claim |= {"least": list(map(as_exact, least)), "bound": as_exact(total / self._unit)}
        return _NodeBound(claim, total, np.triu((sets * values[:, None]).T @ sets, 1))


def _separate(sets: Ints, values: Floats, known: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return violated cuts: at most one column may cover two or three rows of a triple."""
    used = values > 0.0
    sets, values, seen = sets[used], values[used], set(known)
    triples = np.array(list(itertools.combinations(range(sets.shape[1]), 3)), dtype=np.int64).reshape(-1, 3)
    excess = (sets[:, triples].sum(axis=2) > 1).T @ values - 1.0
    order = np.argsort(-excess, kind="stable")
    found = [tuple(triples[k].tolist()) for k in order[: 2 * _CUTS] if excess[k] > _VIOLATED]
    return [triple for triple in found if triple not in seen][:_CUTS]
