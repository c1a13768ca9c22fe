"""The order of pricing problems within a round."""

import numpy as np
import pytest

from colgen.pricing.order import ORACLE_FEATURES, OracleQueue


@pytest.mark.parametrize(("count", "step"), [(1, 1), (4, 1), (4, 3), (5, 2), (5, 5)])
def test_without_an_order_problems_take_turns(count, step):
    """Each round begins where the calls of the last have ended, and names every problem once."""
    queue, start = OracleQueue(["a"] * count, step, None), 0
    for parts in (1, 2, 1, 3):
        order = queue.begin()
        assert order == [k % count for k in range(start, start + count)]
        for first in range(0, min(parts * step, count), step):
            queue.called(order[first : first + step])
            start = (start + step) % count


def test_history_by_hand():
    seen = []

    class Order:
        def score(self, history):
            seen.append(history.values.copy())
            return [0.0, np.nan, 1.0]

    queue = OracleQueue(["a", "b", "c"], 1, Order())
    assert queue.begin() == [2, 0, 1]
    queue.called([2])
    queue.found(2, np.array([-1.0, 3.0]), 0.5)
    assert queue.begin() == [2, 0, 1]
    queue.called([2])
    queue.found(2, np.empty(0), 0.5)
    queue.called([0])
    queue.found(0, np.array([0.2]), 0.5)
    queue.begin()
    assert ORACLE_FEATURES == ("calls", "waited", "last_gain", "last_columns", "successes")
    assert seen[0].tolist() == [[0, 1, 0, 0, 0]] * 3
    assert seen[1].tolist() == [[0, 2, 0, 0, 0], [0, 2, 0, 0, 0], [1, 1, 3, 2, 1]]
    assert seen[2].tolist() == [[1, 1, 0.2, 1, 0], [0, 3, 0, 0, 0], [2, 1, 0, 0, 0.5]]
