"""Pricing of commodities by shortest paths, and capacities that are separated."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Row, RowFamily
from colgen.core.duals import Duals
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.cuts.separation import Separation, SeparationContext
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.networks.flow_block import FlowBlock, Flows, Routing
from colgen.networks.graph import Floats, Ints
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult

DEMAND = "demand"
"""Block of rows: each group of commodities uses its routings once.  The index is (block, group)."""

CAPACITY = "capacity"
"""Block of rows: the flow on an arc is at most its capacity.  The index is (block, arc)."""

LIMIT = "limit"
"""Block of rows: the flow of a commodity on an arc is at most its limit.  The index is (block, commodity, arc)."""

FORBIDDEN = "arcs of commodities"
"""Block of the names (block, commodity, arc) of arcs that decisions forbid."""


class CommodityPricing(Pricing):
    """Paths or trees of least reduced cost of all commodities of a block.

    Parameters
    ----------
    block
        The block.
    first_row
        Position of the block's first row of :data:`DEMAND` in the master.
    """

    def __init__(self, block: FlowBlock, first_row: int) -> None:
        self.flow_block, self.first_row = block, first_row
        self.multiplicity = float(max(block.num_groups, 1))

    @property
    def name(self) -> str:
        return f"{type(self).__name__} of {self.flow_block.name}"

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        block = self.flow_block
        found = block.search(*self.arc_costs(duals, context))
        own = duals.values[self.first_row : self.first_row + block.num_groups]
        reduced = block.members @ found.distances - own
        served = np.isfinite(reduced)
        reduced[~served] = 0.0  # a group without paths has no columns

        def batch(groups: Ints) -> Columns:
            return self.columns(block.flows(groups, found), duals)

        def attained() -> tuple[Columns, Floats]:
            groups = np.flatnonzero(served)
            return batch(groups), np.ones(len(groups))

        improving = np.flatnonzero(reduced < 0.0)
        # Each group uses its routings once.  Artificial variables, or a routing that a dive has fixed, replace some.
        replaced = bool(context.fixed) or not context.cost_weight
        least = np.minimum(reduced, 0.0) if replaced else reduced
        bound = float(reduced.min(initial=0.0))
        return PricingResult(batch(improving), bound, reduced[improving], float(least.sum()), attained)

    def arc_costs(self, duals: Duals, context: PricingContext) -> tuple[Floats, float, Mapping[int, Floats]]:
        """Return the arguments of :meth:`FlowBlock.search` at dual values."""
        block = self.flow_block
        costs = context.cost_weight * block.costs - block.linking @ duals.values[: block.linking.shape[1]]
        members, values = duals.members(CAPACITY), duals.array(CAPACITY)
        for k in np.flatnonzero(values).tolist():
            number, arc = cast(tuple[int, int], members[k])
            if number == block.number:
                costs[arc] -= values[k]
        return np.asarray(costs), context.cost_weight, self._special(duals, context)

    def _special(self, duals: Duals, context: PricingContext) -> Mapping[int, Floats]:
        """Return further arc costs of commodities: duals of their limits, and infinity for forbidden arcs."""
        block, found = self.flow_block, dict[int, Floats]()
        charges = [(index, -value) for index, value in duals.items(LIMIT) if value]
        charges += [(index, np.inf) for index in context.forbidden(FORBIDDEN)]
        for index, value in charges:
            number, k, arc = cast(tuple[int, int, int], index)
            if number == block.number:
                found.setdefault(k, np.zeros(len(block.costs)))[arc] += value
        return found

    def columns(self, flows: Flows, duals: Duals | None = None) -> Columns:
        """Return the columns of flows.  Without ``duals``, :data:`CAPACITY` rows follow those of :data:`DEMAND`."""
        block, count = self.flow_block, len(flows.groups)
        linking = flows.table @ block.linking
        where = np.full(len(block.costs), -1, dtype=np.int64)
        where[block.tight] = block.first_capacity + np.arange(len(block.tight))
        table = sparse.coo_array(flows.table)
        tight = where[table.coords[1]] >= 0
        entries = sparse.coo_array(linking)
        owners = np.concatenate([entries.coords[0], np.arange(count), table.coords[0][tight]])
        rows = np.concatenate([entries.coords[1], self.first_row + flows.groups, where[table.coords[1][tight]]])
        values = np.concatenate([entries.data, np.ones(count), table.data[tight]])
        order = np.lexsort((rows, owners))
        starts = np.searchsorted(owners[order], np.arange(count + 1))
        return Columns(
            flows.costs,
            starts,
            rows[order],
            values[order],
            flows.routing,
            [flows.key(k) for k in range(count)],
            integer=block.unsplittable,
        )


class _Amounts(RowFamily):
    """Flows of columns on arcs, in total or of one commodity."""

    def __init__(self, block: str, blocks: Sequence[FlowBlock]) -> None:
        super().__init__(block)
        self.blocks = blocks

    def coefficients(self, columns: Sequence[Column], indices: Sequence[Hashable]) -> Floats:
        owners, members, values = self.entries(columns, indices)
        found = np.zeros((len(columns), len(indices)))
        found[owners, members] = values
        return found

    def entries(self, columns: Sequence[Column], indices: Sequence[Hashable]) -> tuple[Ints, Ints, Floats]:
        routings = [column.structure for column in columns]
        owners, members, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        for number, block in enumerate(self.blocks):
            mine = [k for k, each in enumerate(routings) if isinstance(each, Routing) and each.number == number]
            wanted = [k for k, index in enumerate(indices) if cast(tuple[int, ...], index)[0] == number]
            if not mine or not wanted:
                continue
            if self.block == CAPACITY:
                where = np.full(len(block.costs), -1, dtype=np.int64)
                where[[cast(tuple[int, int], indices[k])[1] for k in wanted]] = wanted
                sizes = [len(routings[k].arcs) for k in mine]
                arcs = np.concatenate([routings[k].arcs for k in mine])
                amounts = np.concatenate([routings[k].amounts for k in mine])
                there = where[arcs] >= 0
                owners.append(np.repeat(mine, sizes)[there])
                members.append(where[arcs[there]])
                values.append(amounts[there])
                continue
            for position in wanted:
                _, commodity, arc = cast(tuple[int, int, int], indices[position])
                of = [k for k in mine if routings[k].group == block.group_of[commodity] and arc in routings[k].arcs]
                owners.append(np.array(of, dtype=np.int64))
                members.append(np.full(len(of), position))
                values.append(np.full(len(of), block.demands[commodity]))
        return np.concatenate(owners), np.concatenate(members), np.concatenate(values)


class Capacities(Separation):
    """Capacities of arcs and limits of commodities, generated when violated."""

    def __init__(self, blocks: Sequence[FlowBlock]) -> None:
        self.blocks = blocks
        self.capacities, self.limits = _Amounts(CAPACITY, blocks), _Amounts(LIMIT, blocks)

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        found = []
        for block in self.blocks:
            flow = np.zeros(len(block.costs))
            limited: dict[int, Floats] = {}
            for column, value in solution.columns:
                routing = column.structure
                if isinstance(routing, Routing) and routing.number == block.number:
                    flow[routing.arcs] += value * routing.amounts
                    k = block.limited[routing.group]
                    if k >= 0:
                        limited.setdefault(k, np.zeros(len(flow)))[routing.arcs] += value * routing.amounts
            for arc in exceeding(flow, block.upper).tolist():
                found.append(self.capacities.row((block.number, arc), upper=float(block.upper[arc])))
            for k, amounts in limited.items():
                assert block.limits is not None
                for arc in exceeding(amounts, block.limits[k]).tolist():
                    found.append(self.limits.row((block.number, k, arc), upper=float(block.limits[k, arc])))
        return found


def exceeding(flow: Floats, upper: Floats) -> NDArray[np.intp]:
    """Return the arcs whose flow exceeds an upper limit by more than rounding."""
    return np.flatnonzero(flow - upper > 0.1 * TOLERANCES.feasibility * np.maximum(flow, upper))


class PathListing(Enumeration):
    """All paths of unsplittable commodities within the gap.

    Each solution uses one path of each commodity, so a path whose reduced cost exceeds the least one of its commodity
    by more than the gap is in no better solution.

    Parameters
    ----------
    oracles
        The oracles of the blocks.
    limit
        Maximum number of paths of all blocks.
    seconds
        Time limit of the integer program over the listed paths.
    """

    def __init__(self, oracles: Sequence[CommodityPricing], limit: int = 20_000, seconds: float = 60.0) -> None:
        self.oracles, self.limit, self.seconds = tuple(oracles), limit, seconds

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        slack = context.slack + TOLERANCES.optimality * size(context.scale, context.bound)
        listed: list[Columns] = []
        for oracle in self.oracles:
            left = self.limit - sum(map(len, listed))
            flows = oracle.flow_block.near(*oracle.arc_costs(context.duals, context.pricing), slack, left)
            if flows is None:
                return None
            listed.append(oracle.columns(flows))
        if len(listed) == 1:
            return Enumerated(listed[0])
        names = context.duals.names
        return Enumerated(Columns.concatenate(listed, names.keys, names.position))
