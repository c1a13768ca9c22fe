"""The open tree: its best bound, and nodes that a queue has dropped."""

import pytest

from colgen import Sense
from colgen.tree.queues import LevelWise
from tests.tree.scripts import SCRIPT, search


def test_the_best_open_bound_does_not_visit_all_open_nodes():
    looked = []

    class Counting(LevelWise):
        def __iter__(self):
            for node in super().__iter__():
                looked.append(node.number)
                yield node

    levels = 8
    script = {format(k, "b")[1:].replace("0", "l").replace("1", "r"): float(k) for k in range(1, 2**levels)}
    result, _, _ = search(script, queue=Counting)
    assert len(result.nodes) == len(script)
    assert len(looked) <= 2 * len(script)  # whether a node is open, and no more


@pytest.mark.parametrize("sense", list(Sense))
def test_nodes_that_a_queue_has_dropped_stay_open(sense):
    class Beam(LevelWise):
        """Keeps one child, and proves nothing of the others."""

        def push(self, children):
            super().push(children[:1])

    result, _, run = search(SCRIPT, sense, Beam)
    assert run.objective == sense.sign * 14
    assert not result.termination.is_proof
    assert result.bound == sense.sign * 10  # r, which has only the bound of the root
