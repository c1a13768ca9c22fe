"""Fuzzed decomposed models, compared with reference optima."""

import numpy as np

from tests.fuzz import compacts
from tests.fuzz.templates import TEMPLATES, judge


def test_instances_with_unknown_truth_are_not_judged(monkeypatch):
    """HiGHS may branch on unbounded integers forever; such an instance counts as no answer."""
    monkeypatch.setattr(compacts, "_TRUTH_SECONDS", 0.0)
    sample = compacts.draw(np.random.default_rng([5, 0]))
    assert judge(sample) == (None, 0)
    assert TEMPLATES[compacts.NAME].judge_law(sample, 4.0) == (None, 0)


def test_boxes_of_identical_blocks_do_not_affect_other_blocks():
    """Two identical blocks share a pricing problem with boxes; two other blocks are priced together."""
    failure, _ = judge(compacts.draw(np.random.default_rng([33000, 401])))
    assert failure is None, failure.words
