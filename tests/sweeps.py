"""Sweeps over seeds: a spread of them in the fast tests, all of them in `make test-all`."""

import pytest

FAST = 24
"""Seeds of a sweep that the fast tests run."""


def seeds(count, fast=FAST):
    """The seeds 0 to count - 1 as parameters, all but ``fast`` of them, evenly spread, marked slow.

    What is drawn from a seed often goes through its cases in order (``seed % 3``, ``seed // 3 % 4``): the fast ones are
    spread with a step that is no whole number, so that they meet all of them.
    """
    kept = {round(k * count / fast) for k in range(fast)} if fast < count else set(range(count))
    return [seed if seed in kept else pytest.param(seed, marks=pytest.mark.slow) for seed in range(count)]
