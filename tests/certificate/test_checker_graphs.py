"""The checker's own search for the heaviest stable set, against all sets of vertices."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_graphs import StableSets, heaviest
from colgen.certificate.checker_pricing import CheckerState, WrongError


@pytest.mark.parametrize("seed", range(40))
def test_the_heaviest_stable_set(seed):
    chance = random.Random(seed)
    n = chance.randint(1, 9)
    edges = [pair for pair in itertools.combinations(range(n), 2) if chance.random() < 0.4]
    duals = [chance.randint(-2, 9) for _ in range(n)]
    pairs = tuple((*chance.sample(range(n), 2), chance.random() < 0.5) for _ in range(n // 3 if n > 1 else 0))
    sets = StableSets(0, {"edges": edges, "cost": 1}, n)
    best = 0
    for chosen in itertools.product((False, True), repeat=n):
        fits = not any(chosen[u] and chosen[v] for u, v in edges)
        for u, v, together in pairs:
            fits = fits and (chosen[u] == chosen[v] if together else not (chosen[u] and chosen[v]))
        if fits:
            best = max(best, sum(dual for dual, inside in zip(duals, chosen, strict=True) if inside))
    for unit in (best - 1, best, best + 3):
        if unit >= 0:
            assert sets.least(duals, Fraction(unit), {}, CheckerState(pairs=pairs)) == min(unit - best, 0)
    assert heaviest([0] * n, [1] * n) == n


def test_sets_with_neighbours_or_strangers_are_refused():
    sets = StableSets(0, {"edges": [[0, 1]], "cost": 1}, 3)
    assert sets.column([2, 0]) == (1, {2: 1, 0: 1})
    for members in ([0, 1], [0, 0], [3], [-1]):
        with pytest.raises(WrongError):
            sets.column(members)
