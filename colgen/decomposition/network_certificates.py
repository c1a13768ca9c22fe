"""Certificates of models whose path blocks partition rows: paths are ruled out by reduced cost, or listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.certificate.certifier import Record, as_exact
from colgen.certificate.checker_instances import formulation_of
from colgen.certificate.checker_networks import NetworkPaths
from colgen.certificate.checker_pricing import exact
from colgen.certificate.listing import ListCertifier
from colgen.certificate.witness import WitnessPoint
from colgen.core.columns import Key
from colgen.core.duals import Duals
from colgen.core.solution import Solution
from colgen.core.warm_start import WarmStart
from colgen.decomposition.certificates import exact_decimal, exact_side
from colgen.networks.block import PathBlock
from colgen.networks.graph import Ints
from colgen.problem import Problem
from colgen.solvers.paths.labelling import Network, Resource
from colgen.solvers.paths.labelling.rules import as_rules
from colgen.solving import solve

_LARGEST = 40
"""Maximum number of rows, because the checker would need too many labels for more."""


def can_certify(blocks: Sequence[PathBlock]) -> bool:
    """Return whether the checker can price the paths of blocks, if no path visits a vertex twice."""
    return all(isinstance(each, Resource) for block in blocks for each in block.resources)


class NetworkCertifier(ListCertifier):
    """Certifies models in which paths cover up to 40 rows, each exactly once.

    Parameters
    ----------
    name
        Name of the model.
    blocks, of_vertex
        The path blocks, and for each the row of each vertex, -1 for none.
    keys
        Keys of the rows.
    without_cuts
        Return the problem without cuts.
    """

    def __init__(
        self,
        name: str,
        blocks: Sequence[PathBlock],
        of_vertex: Sequence[Ints],
        keys: Sequence[Key],
        without_cuts: Callable[[], Problem],
    ) -> None:
        super().__init__(name)
        self._blocks, self._of_vertex, self._keys, self._without_cuts = blocks, of_vertex, keys, without_cuts

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        graphs = list(map(_graph, self._blocks, self._of_vertex))
        return {"kind": "networks", "name": self.name, "rows": len(self._keys), "graphs": graphs}

    def formulation(self) -> Record:
        return self._formulation

    @cached_property
    def _formulation(self) -> Record:
        found = formulation_of(self._data)
        assert found is not None
        return found

    def priced(self) -> Sequence[NetworkPaths]:
        pricing = self._formulation["pricing"]
        return [NetworkPaths(k, problem, len(self._keys)) for k, problem in enumerate(pricing)]

    def columns(self, solution: Solution) -> list[Any]:
        found = []
        for column, value in solution.columns:
            path = column.structure
            steps = self._blocks[path.number].follow(path.arcs)
            assert steps is not None
            found.append([path.number, round(value), steps.tolist()])
        return found

    def objective(self, solution: Solution) -> Fraction:
        problems = self._problems
        return sum((times * problems[k].column(path)[0] for k, times, path in self.columns(solution)), Fraction(0))

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Any:
        return super().proof(answer, points, goal) if len(self._keys) <= _LARGEST else None

    def node_duals(self, point: WitnessPoint) -> NDArray[np.float64] | None:
        return np.array(list(map(point.duals.get, self._keys))) if isinstance(point.duals, Duals) else None

    def relaxation_duals(self, answer: Solution) -> NDArray[np.float64]:
        start = WarmStart(columns=[column for column, _ in answer.columns])
        result = solve(self._without_cuts(), relaxation=True, start=start)
        duals = {} if result.certificate is None else result.certificate.duals
        return np.array([duals.get(key, 0.0) for key in self._keys])


def _graph(block: PathBlock, of_vertex: Ints) -> Record:
    """Return a block as a pricing problem of the checker; a number of paths without limit is null."""
    network, (fewest, most) = block.network, block.count
    ends = zip(network.tails.tolist(), network.heads.tolist(), block.costs.tolist(), strict=True)
    rules = as_rules(network, block.solver_rules())
    return {
        "uses": [math.ceil(fewest), None if math.isinf(most) else math.floor(most)],
        "source": network.source,
        "sink": network.sink,
        "rows": [None if row < 0 else row for row in of_vertex.tolist()],
        "arcs": [[tail, head, exact_decimal(cost)] for tail, head, cost in ends],
        "resources": [record for each in block.resources for record in _resource(each, block.network)],
        "sets": [np.flatnonzero(members).tolist() for members in rules.sets],
        "requests": np.column_stack([rules.pickups, rules.deliveries]).tolist(),
    }


def _resource(resource: Resource, network: Network) -> Iterator[Record]:
    """Yield a resource; if paths do not wait, a lower limit is an upper limit of the negated value."""
    lower, upper, thresholds, rates = (
        np.broadcast_to(side, network.num_vertices).tolist()
        for side in (resource.lower, resource.upper, resource.threshold, resource.rate)
    )
    low, high = list(map(exact_side, lower)), list(map(exact_side, upper))
    start, used = exact_decimal(resource.start), list(map(exact_decimal, resource.consumption.tolist()))
    none = [None] * len(low)
    found: Record = {"name": resource.name, "start": start, "lower": low if resource.waiting else none, "upper": high}
    found |= {"consumption": used}
    if resource.rate.any():  # a value that costs has a limit: no path consumes more
        into = [Fraction(0)] * len(low)
        for head, each in zip(network.heads.tolist(), used, strict=True):
            into[head] = max(into[head], exact(each))
        limit = sum(into, max(exact(each) for each in (start, *low) if each is not None))
        found["upper"] = [as_exact(limit) if each is None else each for each in high]
        found["penalties"] = [list(map(exact_decimal, each)) for each in zip(thresholds, rates, strict=True)]
    yield found
    if not resource.waiting:
        negated = [None if each is None else as_exact(-exact(each)) for each in (start, *low, *used)]
        end = 1 + len(low)
        yield {"start": negated[0], "lower": none, "upper": negated[1:end], "consumption": negated[end:]}
