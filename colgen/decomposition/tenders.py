r"""Two-stage programs whose second stages have few points: a tree over the tenders, bounded by tables.

A tender χ_j = t_j·x is what the first stage offers to a row of second stages.  If the rest of such a stage is integer
and bounded, and falls apart into small parts, a part k has few points p of cost c_p and needs r_p,

    Q_k(χ) = min c_p    subject to    r_p ≤ χ.

A node is a box of tenders.  The prices of the convex envelopes over it (:mod:`colgen.solvers.linear.envelopes`) give
cuts of a program over the first stage.  Nodes are branched at the tender where parts combine points that need more than
χ with cheaper ones, at its value: both children exclude this.

Source: S. Ahmed, M. Tawarmalani, N. V. Sahinidis, *A finite branch-and-bound algorithm for two-stage stochastic integer
programs*, Mathematical Programming 100 (2004), whose bounds are weaker.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.core.column_batch import Mask
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.first_stage import FirstStage
from colgen.decomposition.reading.compact_model import Floats, Ints
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.solvers.linear.envelopes import Points, cheapest_points, envelope_prices, undominated
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program

_MOST_VALUES, _MOST_POINTS, _MOST_TENDERS = 1 << 16, 4096, 4
"""Maximum numbers of a part's combinations of values, of its points, and of its tenders."""

_ROUNDS, _SHARE, _LATEST = 60, 0.02, 6
"""Maximum number of rounds of cuts at a node, share of the gap that they may leave, and number of cuts kept last."""

_ON_TENDERS = 0.2
"""A fractional variable is branched on if its cost exceeds this share of the largest score of a tender."""

_MEETING = 0.1 * TOLERANCES.optimality
"""Relative gap at which the search ends."""

_NEAR = 1e-9
"""Excess of a need over a tender that is no excess, relative to the sizes of needs."""


class Part(NamedTuple):
    """A part of a second stage: its points, undominated, with costs, needs and the tenders of these."""

    columns: Ints
    values: Floats
    costs: Floats
    needs: Floats
    tenders: tuple[int, ...]


class Found(NamedTuple):
    """A bound, and the values of all variables but copies in the best solution if it is new."""

    bound: float
    values: Floats | None


@dataclass(order=True)
class _Box:
    """A node: bounds of the first stage and of tenders, and cuts of its parent, rows over first stage and groups."""

    bound: float
    number: int
    lower: Floats = field(compare=False)
    upper: Floats = field(compare=False)
    least: Floats = field(compare=False)
    most: Floats = field(compare=False)
    cuts: Floats = field(compare=False)


class Tenders:
    """The tenders of a two-stage program and the parts of its second stages, see :meth:`of`."""

    def __init__(self, width: int, variables: Ints, first: Program, integer: Mask, rows: Floats, parts: list[Part]):
        self._width, self._variables = width, variables
        self._first, self._integer, self._rows, self._parts = first, integer, rows, parts
        most, none = max(len(part.tenders) for part in parts), len(rows)
        starts = np.cumsum([0, *(len(part.costs) for part in parts)])
        costs = np.concatenate([part.costs for part in parts])
        needs, tenders = np.zeros((len(costs), most)), np.full((len(parts), most), none)
        groups = dict[tuple[int, ...], int]()
        for k, part in enumerate(parts):
            needs[starts[k] : starts[k + 1], : len(part.tenders)] = part.needs
            tenders[k, : len(part.tenders)] = part.tenders
        self._points = Points(starts, costs, needs, tenders)
        self._group = np.array([groups.setdefault(part.tenders, len(groups)) for part in parts])
        sizes = np.ones(none + 1)
        np.maximum.at(sizes, np.repeat(tenders, np.diff(starts), axis=0), np.abs(needs))
        self._near = _NEAR * sizes
        self._cheapest = np.bincount(self._group, np.minimum.reduceat(costs, starts[:-1]))

    @classmethod
    def of(cls, splitting: Splitting, stage: FirstStage) -> Tenders | None:
        """Return the tenders, or None if a second stage is not integer, has large parts, or none for any tender."""
        f, sign = splitting.compact.formulation, float(splitting.compact.formulation.sense.sign)
        lower, upper = f.lower[stage.variables].copy(), f.upper[stage.variables].copy()
        known, parts = dict[bytes, int](), list[Part]()
        rows, firsts, tables = list[Floats](), dict[bytes, Floats](), dict[bytes, Floats]()

        def number_of(row: Floats) -> int:
            number = known.setdefault((row + 0.0).tobytes(), len(rows))
            if number == len(rows):
                rows.append(row)
            return number

        for sub, places in zip(splitting.subproblems, stage.places, strict=True):
            lower, upper = np.maximum(lower, sub.lower[places]), np.minimum(upper, sub.upper[places])
            mine = _parts_of(sub, places, sign, number_of, firsts, tables)
            if mine is None:
                return None
            parts += mine
        own = splitting.linking[np.setdiff1d(np.arange(len(splitting.linking)), stage.rows)]
        matrix = splitting.compact.rows[own, :][:, stage.variables].toarray()
        for row in np.column_stack([matrix, f.row_lower[own], f.row_upper[own]]):
            firsts[row.tobytes()] = row
        table = np.array(list(firsts.values())).reshape(-1, len(lower) + 2)
        first = Program(
            False, sparse.csc_array(table[:, :-2]), sign * f.costs[stage.variables], lower, upper, *table[:, -2:].T
        )
        if not rows or (lower > upper).any():
            return None
        found = cls(len(f.costs), stage.variables, first, f.integer[stage.variables], np.array(rows), parts)
        least, _ = found._ends(lower, upper)
        return found if (found._chosen(least, 1.0) >= 0).all() else None

    def _ends(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the tenders, of which the last is zero, over bounds of the first stage."""
        rows = self._rows
        low, high = (
            np.where(rows != 0.0, np.where((rows > 0.0) == is_low, lower, upper), 0.0) for is_low in (True, False)
        )
        return np.append((rows * low).sum(axis=1), 0.0), np.append((rows * high).sum(axis=1), 0.0)

    def _chosen(self, offered: Floats, factor: float) -> Ints:
        """Return the cheapest point of each part at tenders, or -1."""
        return cheapest_points(self._points, offered, factor * self._near)

    # --- the tree ----------------------------------------------------------------------------------------------------

    def search(self, cutoff: float, seconds_left: Callable[[], float]) -> Iterator[Found]:
        """Yield a bound of the program after each node, and better solutions than ``cutoff``; end once they meet."""
        first, none = self._first, len(self._rows)
        groups, height = len(self._cheapest), len(first.row_lower) + none
        least, most = self._ends(first.lower, first.upper)
        matrix = sparse.block_array([[first.matrix, None], [self._rows, np.zeros((none, groups))]], format="csc")
        matrix.resize((height, len(first.costs) + groups))
        program = LinearProgram(
            Program(
                False,
                sparse.csc_array(matrix),
                np.append(first.costs, np.ones(groups)),
                np.append(first.lower, self._cheapest),
                np.append(first.upper, np.full(groups, math.inf)),
                np.append(first.row_lower, least[:-1]),
                np.append(first.row_upper, most[:-1]),
            ),
            dual_first=True,
        )
        counter, best, closed = itertools.count(), cutoff, math.inf
        width = matrix.shape[1]
        heap = [_Box(-math.inf, next(counter), first.lower, first.upper, least, most, np.empty((0, width + 1)))]
        while heap:
            node = heapq.heappop(heap)
            bound = min(node.bound, closed)
            if bound >= best - _MEETING * abs(best) or seconds_left() <= 0.0:
                yield Found(min(bound, best), None)
                return
            least, most = self._ends(node.lower, node.upper)
            node.least, node.most = np.maximum(node.least, least), np.minimum(node.most, most)
            if program.num_rows > height:
                program.delete_rows(np.arange(height, program.num_rows))
            program.change_bounds(np.arange(len(node.lower)), node.lower, node.upper)
            program.change_row_bounds(np.arange(height - none, height), node.least[:-1], node.most[:-1])
            _add(program, node.cuts)
            value, solved = self._bound(program, node, best, seconds_left)
            if solved is None:
                closed = min(closed, value)
                continue
            x, score, chosen = solved
            estimate = float(first.costs @ x) + float(self._points.costs[chosen].sum())
            values = None
            if estimate < best + (best - value if math.isfinite(best) else 0.0):
                found = self._solution(chosen, seconds_left)
                if found is not None and found[0] < best:
                    best, values = found
            children = self._children(node, x, score)
            if children:
                for child in children:
                    child.bound, child.number = value, next(counter)
                    heapq.heappush(heap, child)
            else:
                closed = min(closed, value)
            yield Found(min(heap[0].bound if heap else best, closed, best), values)
        yield Found(min(closed, best), None)

    def _bound(
        self, program: LinearProgram, node: _Box, best: float, seconds_left: Callable[[], float]
    ) -> tuple[float, tuple[Floats, Floats, Ints] | None]:
        """Return the bound of a node; first stage, scores of the tenders and points unless the bound meets the best.

        Cuts that are worth keeping replace those of the node.
        """
        groups, width = len(self._cheapest), len(self._first.costs)
        value, score, tenders = node.bound, np.zeros(len(self._rows) + 1), self._points.tenders
        for _ in range(_ROUNDS):
            found = program.solve(seconds_left())
            if found.status is LPStatus.INFEASIBLE:
                return math.inf, None
            if found.status is LPStatus.OPTIMAL and found.objective >= best - _MEETING * abs(best):
                return found.objective, None
            if found.status is not LPStatus.OPTIMAL:
                break
            value = max(value, found.objective)
            x = found.values[:width]
            offered = np.clip(np.append(self._rows @ x, 0.0), node.least, node.most)
            chosen = self._chosen(offered, 1.0)
            prices, lows, score = envelope_prices(self._points, node.least, node.most, offered, self._near, chosen)
            reached = float(self._first.costs @ x) + float(lows.sum() - (prices * offered[tenders]).sum())
            room = _SHARE * (best - value) if math.isfinite(best) else 0.0
            if reached - value <= max(room, _MEETING * abs(value)):
                break
            slopes = np.zeros((groups, len(self._rows) + 1))
            np.add.at(slopes, (np.repeat(self._group, prices.shape[1]), tenders.ravel()), prices.ravel())
            cuts = np.column_stack([slopes[:, :-1] @ self._rows, np.eye(groups), np.bincount(self._group, lows)])
            node.cuts = np.concatenate([node.cuts, cuts])
            _add(program, cuts)
        if found.status is not LPStatus.OPTIMAL:  # a limit, or the program is unbounded
            return value, (np.clip(0.0, node.lower, node.upper), score, self._chosen(node.least, 1.0))
        duals = found.duals[len(found.duals) - len(node.cuts) :]
        kept = (duals != 0.0) | (np.arange(len(node.cuts)) >= len(node.cuts) - _LATEST)
        node.cuts = node.cuts[kept[: len(node.cuts)]]
        return value, (x, score, self._chosen(offered, TOLERANCES.feasibility / _NEAR))

    def _children(self, node: _Box, x: Floats, score: Floats) -> list[_Box]:
        off = np.where(self._integer, np.abs(x - np.rint(x)), 0.0)
        fractional = np.where(off > TOLERANCES.integrality, off * (np.abs(self._first.costs) + 1e-9), 0.0)
        offered = np.clip(np.append(self._rows @ x, 0.0), node.least, node.most)
        score = np.where(node.most - node.least > self._near, score, 0.0)
        j, i = int(fractional.argmax()), int(score.argmax())
        if fractional[j] > 0.0 and fractional[j] >= _ON_TENDERS * score[i]:
            lower, upper = node.lower.copy(), node.upper.copy()
            upper[j], lower[j] = math.floor(x[j]), math.ceil(x[j])
            return [
                _Box(0.0, 0, node.lower, upper, node.least, node.most, node.cuts),
                _Box(0.0, 0, lower, node.upper, node.least, node.most, node.cuts),
            ]
        if score[i] <= 0.0:
            return []
        at = float(offered[i])
        if min(at - node.least[i], node.most[i] - at) <= self._near[i]:
            at = 0.5 * (node.least[i] + node.most[i]) if math.isfinite(node.most[i]) else 2.0 * abs(at) + 1.0
        least, most = node.least.copy(), node.most.copy()
        most[i] = least[i] = at
        return [
            _Box(0.0, 0, node.lower, node.upper, node.least, most, node.cuts),
            _Box(0.0, 0, node.lower, node.upper, least, node.most, node.cuts),
        ]

    def _solution(self, chosen: Ints, seconds_left: Callable[[], float]) -> tuple[float, Floats] | None:
        """Return objective and values of the cheapest first stage for points of the parts, or None."""
        needed = np.full(len(self._rows) + 1, -math.inf)
        np.maximum.at(needed, self._points.tenders, self._points.needs[chosen])
        first = self._first
        program = first._replace(
            matrix=sparse.csc_array(sparse.vstack([first.matrix, self._rows])),
            row_lower=np.append(first.row_lower, needed[:-1]),
            row_upper=np.append(first.row_upper, np.full(len(self._rows), math.inf)),
        )
        found = solve_mip(program, self._integer, seconds_left())
        if found.values is None:
            return None
        values = np.zeros(self._width)
        values[self._variables] = np.where(self._integer, np.rint(found.values), found.values)
        for part, place in zip(self._parts, (chosen - self._points.starts[:-1]).tolist(), strict=True):
            values[part.columns] = part.values[place]
        return float(first.costs @ values[self._variables]) + float(self._points.costs[chosen].sum()), values


def _add(program: LinearProgram, cuts: Floats) -> None:
    """Add cuts as rows; the last column has their constants."""
    rows = sparse.csr_array(cuts[:, :-1])
    if len(cuts):
        program.add_rows(cuts[:, -1], np.full(len(cuts), math.inf), rows.indptr, rows.indices, rows.data)


def _parts_of(
    sub: Subproblem,
    places: Ints,
    sign: float,
    number_of: Callable[[Floats], int],
    firsts: dict[bytes, Floats],
    tables: dict[bytes, Floats],
) -> list[Part] | None:
    """Return the parts of a second stage, or None; rows over copies only are added to ``firsts``."""
    own = np.setdiff1d(np.arange(len(sub.costs)), places)
    matrix = sparse.csr_array(sub.matrix)
    recourse, height = matrix[:, own], matrix.shape[0]
    if not sub.integer[own].all() or not np.isfinite(sub.upper[own] - sub.lower[own]).all():
        return None
    graph = sparse.block_array([[None, recourse], [recourse.T, None]])
    labels = connected_components(graph, directed=False)[1]
    wide = np.zeros(labels.max(initial=0) + 1)
    np.add.at(wide, labels[height:], np.log2(sub.upper[own] - sub.lower[own] + 1.0))
    if (wide > math.log2(_MOST_VALUES)).any():
        return None
    technology = matrix[:, places].toarray()
    for i in np.flatnonzero(np.diff(recourse.indptr) == 0).tolist():
        row = np.append(technology[i] + 0.0, [sub.row_lower[i], sub.row_upper[i]])
        firsts[row.tobytes()] = row
    dense, parts = recourse.toarray(), list[Part]()
    for label in np.unique(labels[height:]).tolist():
        members, rows = np.flatnonzero(labels[height:] == label), np.flatnonzero(labels[:height] == label)
        offers = technology[rows].any(axis=1)
        linked, alone = rows[offers], rows[~offers]
        low, high = sub.row_lower[linked], sub.row_upper[linked]
        if len(linked) > _MOST_TENDERS or (np.isfinite(low) == np.isfinite(high)).any():
            return None
        bounds = sub.lower[own[members]], sub.upper[own[members]]
        constraints = dense[np.ix_(alone, members)], sub.row_lower[alone], sub.row_upper[alone]
        key = b"|".join(np.ascontiguousarray(each).tobytes() for each in (*bounds, *constraints))
        if key not in tables:
            tables[key] = _table(*bounds, *constraints)
        values = tables[key]
        if len(values) > _MOST_POINTS:
            return None
        is_least = np.isfinite(low)
        turned = np.where(is_least, -1.0, 1.0)
        needs = (values @ dense[np.ix_(linked, members)].T - np.where(is_least, low, high)) * turned
        costs = sign * (values @ sub.costs[own[members]])
        order = np.lexsort((needs.sum(axis=1), costs))
        kept = order[undominated(needs[order])]
        tenders = [number_of(-turn * row) for turn, row in zip(turned.tolist(), technology[linked], strict=True)]
        parts.append(Part(sub.columns[0][own[members]], values[kept], costs[kept], needs[kept], tuple(tenders)))
    return parts


def _table(lower: Floats, upper: Floats, matrix: Floats, row_lower: Floats, row_upper: Floats) -> Floats:
    """Return all integer points within bounds and rows."""
    room = TOLERANCES.integrality
    ranges = [np.arange(low, high + 0.5) for low, high in zip(np.ceil(lower - room), upper + room, strict=True)]
    values = np.stack([each.ravel() for each in np.meshgrid(*ranges, indexing="ij")], axis=1)
    moved = values @ matrix.T
    near = _NEAR * (1.0 + np.abs(values) @ np.abs(matrix.T))
    kept: Floats = values[((moved >= row_lower - near) & (moved <= row_upper + near)).all(axis=1)]
    return kept
