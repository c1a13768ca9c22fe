"""The theorem on the prices of non-candidate arcs, against enumeration."""

import itertools

import numpy as np
import pytest

from colgen.problems.grandparent_parsing.kernels.arc_prices import Bounds, price_arcs
from colgen.problems.grandparent_parsing.kernels.automata_dual import relax
from colgen.problems.grandparent_parsing.kernels.head_automata import optimistic_multipliers
from colgen.problems.grandparent_parsing.kernels.second_order import select_heads
from colgen.problems.grandparent_parsing.kernels.tree_parts import automata_of, given_parts
from tests.problems.grandparent_parsing.kernels.test_automata_dual import scores, trees, worth


def bounds_of(grandparents, siblings):
    n = len(grandparents) - 1
    vertices = np.arange(n + 1)
    most = grandparents.max(axis=0)
    most[0] = 0.0
    last = np.ascontiguousarray(siblings[vertices, :, vertices])
    return Bounds(most, siblings.max(axis=1), last, np.zeros((n + 1, n + 1), dtype=np.bool_))


@pytest.mark.parametrize("single_root", [False, True])
def test_better_trees_contain_no_priced_out_arc(single_root):
    n, held = 4, 0
    for seed in range(80):
        arcs, grandparents, siblings = scores(seed, n)
        grandparents, siblings = 0.2 * grandparents, 0.2 * siblings
        parts = given_parts(n + 1, grandparents, siblings)
        candidates = select_heads(arcs, 2)
        a = automata_of(candidates, arcs, parts)
        alive = np.ones(len(a.heads), dtype=np.bool_)
        leaving, entering, best = optimistic_multipliers(a, alive), np.zeros(len(alive)), np.full(n + 1, -1)
        _, lower, _ = relax(a, alive, leaving, entering, -np.inf, best, 20, single_root, False, 1.0)
        if lower == -np.inf:
            continue
        bounds = bounds_of(grandparents, siblings)
        bound, short, _, _ = price_arcs(a, leaving, entering, arcs, bounds, parts, single_root, lower, 1.0)
        assert not (short & candidates).any()
        # Excluded arcs become candidates; the theorem covers the others.
        if short.any():
            continue
        held += 1
        for heads in trees(n):
            if single_root and (heads[1:] == 0).sum() != 1:
                continue
            value = worth(arcs, grandparents, siblings, heads)
            new = (~candidates[heads[1:], np.arange(1, n + 1)]).sum()
            assert value <= bound - new * max(bound - lower, 0.0) + 1e-6
    assert held >= 10


# --- the theorem's premises, one by one, by enumeration --------------------------------------------------------------


def consecutive(siblings, p, modifiers):
    """The total score of the sibling parts of p's modifiers."""
    total = 0.0
    for path in ([m for m in reversed(modifiers) if m < p], [m for m in modifiers if m > p]):
        if path:
            total += sum(siblings[p, s, m] for s, m in itertools.pairwise([p, *path, p]))
    return total


def worst_excess(automata, arcs, given, short, costs, pays):
    """The largest increase of an automaton's value by non-candidate arcs that were not excluded.

    All subsets of modifiers and all heads are tried, with the scores themselves in place of bounds.
    """
    grandparents, siblings = given
    n = len(arcs) - 1
    worst = -np.inf
    for p in range(n + 1):
        usable = [m for m in range(1, n + 1) if m != p and arcs[p, m] > -np.inf and not short[p, m]]
        heads = [-1] if p == 0 else [g for g in range(n + 1) if arcs[g, p] > -np.inf and not short[g, p]]
        known, others = -np.inf, -np.inf
        for size in range(len(usable) + 1):
            for chosen in itertools.combinations(usable, size):
                fixed = consecutive(siblings, p, chosen) - sum(costs[p, m] for m in chosen)
                inside = all(automata.arc[p, m] >= 0 for m in chosen)
                for g in heads:
                    if g in chosen:
                        continue
                    value = fixed - (pays[g, p] if g >= 0 else 0.0)
                    if p > 0:
                        value += sum(grandparents[g, p, m] for m in chosen)
                    if inside and (g < 0 or automata.arc[g, p] >= 0):
                        known = max(known, value)
                    else:
                        others = max(others, value)
        worst = max(worst, others - known)
    return worst


def priced(arcs, grandparents, siblings, *, width=1, iterations=12, single_root=False, unit=1.0, margin=0.0):
    """Arcs priced against a Lagrangian that has not converged: premises of the theorem, and the result.

    ``margin``: the tree to be beaten is worth so much less than the one that is known.
    """
    n = len(arcs) - 1
    parts = given_parts(n + 1, grandparents, siblings)
    candidates = select_heads(arcs, width)
    a = automata_of(candidates, arcs, parts)
    alive = np.ones(len(a.heads), dtype=np.bool_)
    leaving, entering, best = optimistic_multipliers(a, alive), np.zeros(len(alive)), np.full(n + 1, -1)
    _, lower, _ = relax(a, alive, leaving, entering, -np.inf, best, iterations, single_root, False, unit)
    if lower == -np.inf:
        return None
    bounds = bounds_of(grandparents, siblings)
    lower -= margin
    bound, short, costs, pays = price_arcs(a, leaving, entering, arcs, bounds, parts, single_root, lower, unit)
    excess = worst_excess(a, arcs, (grandparents, siblings), short, costs, pays)
    return excess, candidates, short, bound, lower


def attracting(seed, n, arcs_times, parts_times, siblings_times, share):
    """Grandparent parts of one sign, a share of them 0."""
    arcs, grandparents, siblings = scores(seed, n)
    there = np.random.default_rng(seed).random(grandparents.shape) < share
    others = 0.0 if seed % 2 else -np.abs(grandparents)
    return arcs_times * arcs, parts_times * np.where(there, np.abs(grandparents), others), siblings_times * siblings


@pytest.mark.parametrize(
    ("seed", "n", "iterations", "times", "share"),
    [(583388, 5, 1, (0.5, 0.5, 0.1), 0.3), (724181, 6, 10, (1.0, 1.0, 0.0), 1.0)],
)
def test_payments_cover_the_last_examination(seed, n, iterations, times, share):
    excess, *_ = priced(*attracting(seed, n, *times, share), iterations=iterations)
    assert excess <= 1e-8


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("unit", [1.0, 2.0**-30, 2.0**30])
def test_remaining_arcs_do_not_raise_any_automaton(single_root, whole, unit):
    held = 0
    for seed in range(24):
        n = 4 + (seed % 12 == 0)
        arcs, grandparents, siblings = attracting(seed, n, 1.0, (0.3, 1.0, 2.0)[seed % 3], 0.3, (0.3, 1.0)[seed % 2])
        if whole:  # ties
            arcs, grandparents, siblings = (np.round(2.0 * array) for array in (arcs, grandparents, siblings))
        if seed % 5 == 0:  # a penalty
            arcs[1, 2] = grandparents[0, 1, 3] = -100.0
        given = [unit * array for array in (arcs, grandparents, siblings)]
        found = priced(*given, width=1 + seed % 2, iterations=(1, 6, 30)[seed % 3], single_root=single_root, unit=unit)
        if found is None:
            continue
        excess, candidates, short, bound, lower = found
        assert excess <= 1e-8 * unit
        assert not (short & candidates).any()
        held += not short.all()
        gap = max(bound - lower, 0.0)
        for heads in trees(n):
            arcs_of = heads[1:], np.arange(1, n + 1)
            if (short[arcs_of]).any() or (single_root and (heads[1:] == 0).sum() != 1):
                continue
            new = (~candidates[arcs_of]).sum()
            assert worth(*given, heads) <= bound - new * gap + 1e-7 * unit
    assert held >= 10
