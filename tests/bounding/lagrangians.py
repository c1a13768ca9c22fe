"""Small linear programs over several pricing problems, with optima by scipy, for tests of Lagrangian bounds."""

import math

import numpy as np
from hypothesis import strategies as st

from tests.toys import Program

SCALES = (2.0**-30, 2.0**-3, 1.0, 2.0**20, 2.0**30)


@st.composite
def programs(draw, scales=SCALES, least=-4):
    """Feasible and bounded programs with all kinds of rows, of either sense, at odd scales, with ties and penalties."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scale = draw(st.sampled_from(scales))
    penalty = draw(st.sampled_from((1.0, 2.0**20)))
    rows, num_groups = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    groups, limits = [], []
    for _ in range(num_groups):
        size = int(rng.integers(1, 6))
        costs = rng.integers(least, 8, size) * scale  # few values, so that ties are many
        entries = rng.integers(-1, 3, (size, rows)).astype(float)
        groups.append(tuple((float(c), tuple(a.tolist())) for c, a in zip(costs, entries, strict=True)))
        limits.append(float(rng.integers(1, 4)))
    variables = []
    for _ in range(int(rng.integers(0, 3))):
        entries = tuple(rng.integers(-2, 3, rows).astype(float).tolist())
        variables.append((float(rng.integers(-3, 4)) * scale, entries, 0.0, float(rng.integers(1, 4)), False))
    if rng.random() < 0.5:  # one that is unlimited, and costs what keeps it from improving without end
        entries = tuple((-rng.integers(0, 3, rows)).astype(float).tolist())
        variables.append((penalty * scale * 16.0, entries, 0.0, math.inf, False))
    activity = np.zeros(rows)
    for group, limit in zip(groups, limits, strict=True):
        share = rng.dirichlet(np.ones(len(group) + 1))[:-1] * limit
        activity += share @ np.array([a for _, a in group])
    for _, entries, low, high, _ in variables:
        activity += np.array(entries) * (low + rng.random() * (min(high, 1.0) - low))
    room = rng.random(rows)
    kinds = rng.integers(0, 4, rows)  # =, ≥, ≤, ranged
    lower = np.where(kinds == 2, -np.inf, np.where(kinds == 0, activity, activity - room))
    upper = np.where(kinds == 1, np.inf, np.where(kinds == 0, activity, activity + room))
    program = Program(
        False,
        tuple(lower.tolist()),
        tuple(upper.tolist()),
        tuple(groups),
        tuple(limits),
        tuple(variables),
        float(rng.integers(-3, 4)) * scale,
    )
    return program.negated() if draw(st.booleans()) else program


def largest(program):
    """The size of what objectives are made of."""
    costs, *_ = program.arrays()
    return float(np.abs(np.append(costs, program.offset)).max())
