"""Models with commodities: column generation over paths and trees, and capacities that are separated."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.column_batch import Columns
from colgen.core.columns import Codec, Column
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.cuts.separation import Separation
from colgen.decomposition.answers import Values, require_sum
from colgen.decomposition.decomposed import Decomposed
from colgen.decomposition.reading.compact_model import CompactModel, Floats, Ints
from colgen.decomposition.splitting import Splitting
from colgen.heuristics import Diving, RestrictedMIP
from colgen.method import Method
from colgen.model.rows import Rows
from colgen.networks.flow_block import FlowBlock, Routing
from colgen.networks.flow_branching import OnLeavingArcs
from colgen.networks.flows import CAPACITY, DEMAND, Capacities, CommodityPricing, PathListing, exceeding
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem


@dataclasses.dataclass(frozen=True)
class CommodityPath:
    """A path of an answer.

    Attributes
    ----------
    graph
        Name of the path block.
    commodity
        Index of the commodity.
    vertices
        Names of the visited vertices, with origin and destination.
    arcs
        Numbers of the arcs in the user's graph.
    amount
        Flow of the commodity on the path.
    """

    graph: str
    commodity: int
    vertices: tuple[Hashable, ...]
    arcs: tuple[int, ...]
    amount: float

    def __repr__(self) -> str:
        return f"{self.amount:g} × commodity {self.commodity}: {' → '.join(map(str, self.vertices))}"


class FlowValues(Values):
    """Values of a model's variables by name, and the paths of the commodities that they are the sum of."""

    def __init__(
        self, compact: CompactModel, array: Floats, kept: Ints, blocks: Sequence[FlowBlock], solution: Solution
    ) -> None:
        super().__init__(compact, array, kept)
        self.blocks, self._solution = tuple(blocks), solution

    def amounts(self, block: FlowBlock) -> dict[tuple[int, bytes], float]:
        """Return the flow of each path of a block, by commodity and arcs."""
        found: dict[tuple[int, bytes], float] = {}
        members = block.members
        for column, value in self._solution.columns:
            routing = column.structure
            if not isinstance(routing, Routing) or routing.number != block.number:
                continue
            mine = members.indices[members.indptr[routing.group] : members.indptr[routing.group + 1]].tolist()
            for k, path in zip(mine, routing.paths, strict=True):
                name = k, path.tobytes()
                found[name] = found.get(name, 0.0) + value * float(block.demands[k])
        return found

    @cached_property
    def paths(self) -> tuple[CommodityPath, ...]:
        """The paths in use, by block and commodity."""
        found = []
        for block in self.blocks:
            graph = block.graph
            for (k, data), amount in sorted(self.amounts(block).items()):
                arcs = np.frombuffer(data, dtype=np.int64)
                ends = (int(block.origins[k]), *graph.heads[arcs].tolist())
                vertices = tuple(graph.vertices[v] for v in ends)
                path = CommodityPath(block.name, int(block.commodities[k]), vertices, tuple(arcs.tolist()), amount)
                found.append(path)
        return tuple(found)

    def __repr__(self) -> str:
        return f"FlowValues({list(self.paths[:10])}{' ...' if len(self.paths) > 10 else ''})"


class FlowModel(Decomposed):
    """A model whose path blocks have commodities.

    The answer maps the names of the model's variables to values; its attribute ``paths`` lists the commodities' paths.
    """

    def __init__(self, splitting: Splitting, compact: CompactModel, blocks: tuple[FlowBlock, ...]) -> None:
        super().__init__(splitting, compact)
        self.blocks = blocks
        if any(block.own_costs is not None for block in blocks):
            self.objective_step = None

    # --- rows --------------------------------------------------------------------------------------------------------

    @cached_property
    def oracles(self) -> tuple[CommodityPricing, ...]:
        """The oracles of the blocks; the rows of demands follow the model's, and those of capacities follow them."""
        first, found = len(self.splitting.linking), []
        for block in self.blocks:
            found.append(CommodityPricing(block, first))
            first += block.num_groups
        for block in self.blocks:
            block.first_capacity = first
            first += len(block.tight)
        return tuple(found)

    def master(self) -> Rows:
        rows, known = super().master(), self.oracles
        groups = [(oracle.flow_block.number, g) for oracle in known for g in range(oracle.flow_block.num_groups)]
        demand = rows.add_rows(DEMAND, groups, lower=1.0, upper=1.0)
        rows.add_entries(demand, rows.add_variables("unserved", groups, artificial=True), 1.0)
        arcs = [(block.number, arc) for block in self.blocks for arc in block.tight.tolist()]
        rows.add_rows(CAPACITY, arcs, upper=np.concatenate([block.upper[block.tight] for block in self.blocks]))
        return rows

    def pricing(self) -> Sequence[Pricing]:
        return self.oracles

    def separation(self) -> Sequence[Separation]:
        return () if all(block.unsplittable for block in self.blocks) else (Capacities(self.blocks),)

    def branching(self) -> Sequence[BranchingRule]:
        split = [OnLeavingArcs(self.blocks)] if self._any_unsplittable else []
        return (OnTemplateVariable(), *split)

    def method(self) -> Method:
        """Return diving and the restricted master's integer program, if the model has integer variables."""
        if all(block.unsplittable for block in self.blocks):
            return Method(heuristics=(RestrictedMIP(5.0), Diving(2)), enumeration=PathListing(self.oracles))
        integer = self._any_unsplittable or self.splitting.compact.formulation.integer.any()
        return Method(heuristics=(RestrictedMIP(3.0), Diving(2)) if integer else ())

    @property
    def _any_unsplittable(self) -> bool:
        return any(block.unsplittable for block in self.blocks)

    # --- start -------------------------------------------------------------------------------------------------------

    def warm_start(self, budget: Budget) -> WarmStart:
        """Return the paths of a nearly optimal flow and its prices of capacities.

        Unsplittable commodities also start with other paths that are cheap at these prices.
        """
        for block in self.blocks:
            block.begin(budget)  # before groups and rows are made of it
        duals: dict[Any, float] = {}
        batches = []
        for oracle in self.oracles:
            block = oracle.flow_block
            multipliers = block.start.multipliers
            duals |= {(CAPACITY, (block.number, arc)): -multipliers[arc] for arc in block.tight.tolist()}
            values = block.members @ block.search(block.costs + multipliers).distances
            duals |= {(DEMAND, (block.number, g)): value for g, value in enumerate(values.tolist())}
            batches.append(oracle.columns(block.start_flows()))
            if block.unsplittable:
                batches.append(oracle.columns(block.nearest(multipliers)))
        keys = self.master().row_keys
        return WarmStart(duals, columns=Columns.concatenate(batches, keys, {key: k for k, key in enumerate(keys)}))

    # --- answers -----------------------------------------------------------------------------------------------------

    def answer(self, solution: Solution) -> FlowValues:
        splitting = self.splitting
        static = splitting.values(dataclasses.replace(solution, columns=()))
        for block in self.blocks:
            flow = np.zeros(len(block.costs))
            for column, value in solution.columns:
                routing = column.structure
                if isinstance(routing, Routing) and routing.number == block.number:
                    flow[routing.arcs] += value * routing.amounts
            mine = block.columns >= 0
            static[block.columns[mine]] = flow[mine]
        return FlowValues(self.compact, splitting.compact.to_user(static), splitting.linking, self.blocks, solution)

    def check(self, answer: Values) -> float:
        """Return the objective, after checking demands, limits, and all constraints of the model."""
        assert isinstance(answer, FlowValues)
        objective = super().check(answer)
        for block in self.blocks:
            objective += self._check_block(block, answer)
        return objective

    def _check_block(self, block: FlowBlock, answer: FlowValues) -> float:
        """Return the commodities' own costs, after checking their paths."""
        served, cost = np.zeros(len(block.demands)), 0.0
        total = np.zeros(len(block.costs))
        of_commodity: dict[int, Floats] = {}
        amounts = answer.amounts(block)
        for (k, data), amount in amounts.items():
            arcs = np.frombuffer(data, dtype=np.int64)
            ends = [int(block.origins[k]), *block.graph.heads[arcs].tolist()]
            if ends[:-1] != block.graph.tails[arcs].tolist() or ends[-1] != block.destinations[k] or amount < 0.0:
                raise InfeasibleAnswerError(f"a path of commodity {block.commodities[k]} is none: arcs {arcs.tolist()}")
            served[k] += amount
            np.add.at(total, arcs, amount)
            if block.own_costs is not None:
                cost += amount * float(block.own_costs[k][arcs].sum())
            if block.limits is not None:
                np.add.at(of_commodity.setdefault(k, np.zeros(len(total))), arcs, amount)
        room = TOLERANCES.feasibility * block.demands
        wrong = np.flatnonzero(np.abs(served - block.demands) > room)
        if len(wrong):
            k = int(wrong[0])
            raise InfeasibleAnswerError(
                f"the flow of commodity {block.commodities[k]} is {served[k]:.10g}, expected {block.demands[k]:.10g}"
            )
        if block.unsplittable and len(amounts) > len(block.demands):
            raise InfeasibleAnswerError("an unsplittable commodity uses several paths")
        for k, flow in of_commodity.items():
            assert block.limits is not None
            over = exceeding(flow, block.limits[k] * (1.0 + TOLERANCES.feasibility))
            if len(over):
                raise InfeasibleAnswerError(f"commodity {block.commodities[k]} exceeds its limit on arc {over[0]}")
        mine = block.columns >= 0
        require_sum(block.name, answer.array[block.columns[mine]], total[mine])
        return cost

    def certifier(self) -> Certifier:
        return Problem.certifier(self)

    @property
    def identity(self) -> Any:
        found = [(b.name, b.graph.tails, b.graph.heads, b.origins, b.destinations, b.demands) for b in self.blocks]
        return (*super().identity, found, [(b.own_costs, b.limits, b.unsplittable) for b in self.blocks])

    def codec(self) -> Codec:
        """Store a routing as the number of its block, its group, and the arcs of its paths."""

        def write(routing: Routing) -> Any:
            return routing.number, routing.group, [path.tolist() for path in routing.paths]

        return Codec(self._read, write)

    def _read(self, data: Any) -> Column | None:
        number, group, paths = data
        if not 0 <= number < len(self.blocks) or not 0 <= group < self.blocks[number].num_groups:
            return None
        oracle, pieces = self.oracles[number], [np.asarray(path, dtype=np.int64) for path in paths]
        flows = oracle.flow_block.given(group, pieces)
        if flows is None:
            return None
        rows = self.master()
        batch: Columns = oracle.columns(flows)
        return batch.over(rows.row_keys, {key: k for k, key in enumerate(rows.row_keys)})[0]
