"""A pricing task: a network, costs, duals and limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colgen.solvers.paths.labelling.boxes import Boxes
from colgen.solvers.paths.labelling.clock import Clock
from colgen.solvers.paths.labelling.custom import CustomResource, Functions, default_functions
from colgen.solvers.paths.labelling.directions import Direction, side_of
from colgen.solvers.paths.labelling.layout import Floats, Side
from colgen.solvers.paths.labelling.mirror import Mirror
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import Fields
from colgen.solvers.paths.labelling.requests import Requests
from colgen.solvers.paths.labelling.rules import Rules

_NOTHING = np.zeros(0, dtype=np.uint64)


class Task(NamedTuple):
    """A network with resources and memory, arc costs, and limits.

    * ``requests``: charges and dominance of requests, or None.
    * ``ahead``, ``back``: the directions.
    * ``mirror``: the symmetry of network and costs, or None.
    * ``both``: whether routes are joined from paths of both directions.
    * ``usable``: mask of usable arcs.
    * ``penalty_weight``: factor of the resources' penalties.
    """

    network: Network
    neighbourhoods: Mask
    rules: Rules
    requests: Requests | None
    custom: CustomResource | None
    ahead: Direction
    back: Direction
    mirror: Mirror | None
    both: bool
    max_labels: int
    costs: Floats
    usable: Mask
    cuts: Fields
    boxes: Boxes
    clock: Clock
    penalty_weight: float = 1.0

    def side(self, direction: Direction, *, relaxed: bool = False) -> Side:
        """Return a direction with arc costs, in the form of the kernels."""
        costs, ignored, requests, network = self.costs, _NOTHING, self.requests, self.network
        if requests is not None:
            forwards = direction.origin == network.source
            costs = costs + (requests.ahead[network.heads] if forwards else requests.back[network.tails])
            free = requests.free_ahead if forwards else requests.free_back
            ignored = np.bitwise_or.reduce(requests.bits * free[:, None].astype(np.uint64), axis=0)
        side = side_of(
            direction, network, self.custom, costs, self.usable, self.cuts, self.boxes, ignored, relaxed=relaxed
        )
        return side if self.penalty_weight == 1.0 else side._replace(rate=self.penalty_weight * side.rate)

    @property
    def functions(self) -> tuple[Functions, Functions]:
        """The user's functions in both directions."""
        if self.custom is None:
            return default_functions(), default_functions()
        mine = self.custom
        return (
            Functions(mine.extend, mine.dominates, mine.joins),
            Functions(mine.backward, mine.dominates_backward, mine.joins),
        )
