"""What one question to a labelling is about."""

from __future__ import annotations

from typing import NamedTuple

from colgen.solvers.paths.labelling.boxes import Boxes
from colgen.solvers.paths.labelling.clock import Clock
from colgen.solvers.paths.labelling.custom import CustomResource, Functions, functions
from colgen.solvers.paths.labelling.directions import Direction, side_of
from colgen.solvers.paths.labelling.layout import Floats, Side, Words
from colgen.solvers.paths.labelling.mirror import Mirror
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import Fields


class Task(NamedTuple):
    """A network with its resources and memory, the costs of the arcs, and the time there is.

    Attributes
    ----------
    own
        The bits of the vertices, those of boxes behind.
    ahead, back
        The directions.
    mirror
        How the network is its own reversal, with these costs; None if it is not.
    both
        Whether routes are joined from paths of both directions.
    usable
        Whether each arc may be used.
    """

    network: Network
    neighbourhoods: Mask
    own: Words
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

    def side(self, direction: Direction, *, relaxed: bool = False) -> Side:
        """A direction with the costs of its arcs, as the kernels take it."""
        return side_of(
            direction, self.network, self.own, self.custom, self.costs, self.usable, self.cuts, self.boxes,
            relaxed=relaxed,
        )  # fmt: skip

    @property
    def written(self) -> tuple[Functions, Functions]:
        """The user's functions in both directions."""
        if self.custom is None:
            return functions(), functions()
        mine = self.custom
        return (
            Functions(mine.extend, mine.dominates, mine.joins),
            Functions(mine.backward, mine.dominates_backward, mine.joins),
        )
