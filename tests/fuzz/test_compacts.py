"""Models that are taken apart, against truths found without them."""

import numpy as np

from tests.fuzz import compacts
from tests.fuzz.templates import TEMPLATES, judge


def test_nothing_is_said_of_what_nobody_knows(monkeypatch):
    """HiGHS branches on whole numbers without end for ever: the instance counts as no answer."""
    monkeypatch.setattr(compacts, "_TRUTH_SECONDS", 0.0)
    drawn = compacts.draw(np.random.default_rng([5, 0]))
    assert judge(drawn) == (None, 0)
    assert TEMPLATES[compacts.NAME].judge_law(drawn, 4.0) == (None, 0)


def test_boxes_of_blocks_that_are_the_same_concern_no_others():
    """Two blocks are one pricing problem, whose points are counted in boxes; two others are priced together."""
    failure, _ = judge(compacts.draw(np.random.default_rng([33000, 401])))
    assert failure is None, failure.words
