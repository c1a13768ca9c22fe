"""Rank-1 cuts: all triples, local search, validity by enumeration, memory."""

import itertools

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.cuts.rank_one import VECTORS, memories_needed, violated_rank_one
from colgen.solvers.paths.counting import counts_along


def random_columns(seed, rows=8, columns=12, most=1):
    """Columns as lists of (row, amount), and values at which no row is packed more than its side, one."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(columns):
        mine = np.sort(rng.choice(rows, rng.integers(2, 5), replace=False))
        found.append([(int(i), int(rng.integers(1, most + 1))) for i in mine])
    table = np.zeros((columns, rows))
    for j, mine in enumerate(found):
        for i, a in mine:
            table[j, i] = a
    values = rng.random(columns)
    values /= (values @ table).max()
    return found, table, values


def compressed(columns):
    flat = np.array([pair for mine in columns for pair in mine]).reshape(-1, 2)
    return np.cumsum([0, *map(len, columns)]), flat[:, 0], flat[:, 1]


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_triples_are_all_that_are_violated_and_other_cuts_are_violated_as_stated(seed, most):
    columns, table, values = random_columns(seed, most=most)
    sides = np.ones(table.shape[1], dtype=int)
    cuts = violated_rank_one(*compressed(columns), values, sides, least=1e-6, limit=1000)
    expected = {t for t in itertools.combinations(range(8), 3) if values @ (table[:, t].sum(axis=1) // 2) > 1 + 1e-6}
    triples = [tuple(m[:3].tolist()) for m, d in zip(cuts.members, cuts.members[:, 3], strict=False) if d < 0]
    assert sorted(triples) == sorted(expected)
    vectors = [(tuple(w[w > 0].tolist()), int(d)) for w, d in zip(cuts.weights, cuts.divisors, strict=False)]
    assert set(vectors) <= set(VECTORS)
    for members, weights, divisor, side, violation in zip(*cuts, strict=False):
        mine = members >= 0
        activity = values @ (table[:, members[mine]] @ weights[mine] // divisor)
        assert side == weights.sum() // divisor
        assert activity - side == pytest.approx(violation)
    assert (np.diff(cuts.violations) <= 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_every_cut_holds_for_every_packing(seed):
    columns, table, values = random_columns(seed, rows=7, columns=10, most=2)
    sides = np.array([1, 2, 1, 3, 1, 2, 1])
    cuts = violated_rank_one(*compressed(columns), 6.0 * values, sides, least=1e-6, limit=1000)
    assert len(cuts.divisors)
    counts = np.array([table[:, m[m >= 0]] @ w[m >= 0] // d for m, w, d in zip(*cuts[:3], strict=False)])
    for amounts in itertools.product(range(3), repeat=len(columns)):
        if (amounts @ table <= sides).all():
            assert (counts @ amounts <= cuts.sides).all()


def test_a_local_search_finds_the_most_violated_cut():
    found = best = 0
    for seed in range(10):
        columns, table, values = random_columns(seed, rows=7, columns=14)
        cuts = violated_rank_one(*compressed(columns), values, np.ones(7, dtype=int), least=1e-6, sizes=(4, 5))
        for vector, divisor in VECTORS[1:]:
            activities = [
                values @ (table[:, p] @ vector // divisor) for p in itertools.permutations(range(7), len(vector))
            ]
            worst = max(activities) - sum(vector) // divisor
            if worst > 1e-6:
                mine = [
                    v for w, d, v in zip(cuts.weights, cuts.divisors, cuts.violations, strict=False)
                    if tuple(w[w > 0].tolist()) == vector and d == divisor
                ]  # fmt: skip
                best += 1
                found += bool(mine) and max(mine) == pytest.approx(worst)
    assert best >= 5
    assert found >= 0.85 * best


def searched(table, values, sides, weights, divisor, least):
    """What the local search finds when each step looks at every row, in plain Python."""
    size, found = len(weights), {}

    def activity(members):
        total = 0.0
        for j in range(len(values)):
            weight = sum(int(w) * int(table[j, i]) for i, w in members)
            total += values[j] * (weight // divisor)
        return total

    def gain(members, row, weight):
        total = 0.0
        for j in np.flatnonzero(table[:, row]):
            before = sum(int(w) * int(table[j, i]) for i, w in members)
            total += values[j] * ((before + weight * int(table[j, row])) // divisor - before // divisor)
        rest = sum(w * int(sides[i]) for i, w in members)
        return total - ((rest + weight * int(sides[row])) // divisor - rest // divisor)

    def best(members, weight):
        gains = [(gain(members, row, weight), row) for row in range(len(sides)) if row not in dict(members)]
        return max(gains, key=lambda pair: (pair[0], -pair[1]))

    for first in range(len(sides)):
        for order in (range(size), range(size - 1, -1, -1)) if table[:, first].any() else ():
            mine = {order[0]: first}
            for at in order[1:]:
                mine[at] = best([(i, weights[k]) for k, i in mine.items()], weights[at])[1]
            for _ in range(20):
                improved = False
                for at in range(size):
                    others = [(i, weights[k]) for k, i in mine.items() if k != at]
                    most, other = best(others, weights[at])
                    if most > gain(others, mine[at], weights[at]) + least * 1e-3:
                        mine[at], improved = other, True
                if not improved:
                    break
            rest = sum(w * int(sides[mine[k]]) for k, w in enumerate(weights))
            violation = activity([(mine[k], w) for k, w in enumerate(weights)]) - rest // divisor
            if violation > least:
                cut = tuple(i for _, i in sorted((-w, mine[k]) for k, w in enumerate(weights)))
                found.setdefault(cut, violation)
    return found


@pytest.mark.parametrize("most", [1, 2, 6])
@pytest.mark.parametrize("seed", range(4))
def test_a_local_search_considers_rows_without_common_columns(seed, most):
    """Amounts that fill up a column by themselves, rows without columns, ties and sides of all kinds among them."""
    rng = np.random.default_rng(seed)
    columns, table, values = random_columns(seed, rows=9, columns=14, most=most)
    table = np.insert(table.astype(int), 4, 0, axis=1)  # of this row there is no column
    columns = [[(i + (i >= 4), a) for i, a in mine] for mine in columns]
    values = rng.integers(0, 9, len(values)) / 8.0  # sums are exact, and many of them equal
    sides = rng.integers(0, 4, 10) if seed % 2 else np.full(10, max(1, most // 2))
    cuts = violated_rank_one(*compressed(columns), values, sides, least=1e-6, sizes=(4, 5), limit=1000)
    for vector, divisor in VECTORS[1:]:
        mine = {
            tuple(m[w > 0].tolist()): v
            for m, w, d, v in zip(cuts.members, cuts.weights, cuts.divisors, cuts.violations, strict=True)
            if tuple(w[w > 0].tolist()) == vector and d == divisor
        }
        assert mine == searched(table, values, sides, vector, divisor, 1e-6)


def test_triples_are_all_that_are_violated_where_one_pair_of_rows_is_enough():
    """Values that pack too much, as they are in a relaxation without some rows."""
    for seed in range(10):
        columns, table, values = random_columns(seed)
        sides = np.random.default_rng(seed).integers(0, 3, 8)
        cuts = violated_rank_one(*compressed(columns), 4.0 * values, sides, least=1e-6, limit=1000, sizes=(3,))
        expected = [
            list(t) for t in itertools.combinations(range(8), 3)
            if 4.0 * values @ (table[:, t].sum(axis=1) // 2) > sides[list(t)].sum() // 2 + 1e-6
        ]  # fmt: skip
        assert sorted(cuts.members[:, :3].tolist()) == expected


def test_the_needed_memory_gives_the_same_coefficients_as_full_memory():
    rng = np.random.default_rng(1)
    routes = [rng.integers(-1, 9, rng.integers(2, 10)).tolist() for _ in range(30)]
    starts, visits = np.cumsum([0, *map(len, routes)]), np.concatenate(routes)
    weights = np.zeros((3, 9), dtype=int)
    weights[0, [1, 4, 6]], weights[1, [0, 2, 3, 5]], weights[2, [1, 2, 3, 7, 8]] = 1, (2, 1, 1, 1), (3, 3, 2, 2, 1)
    divisors = np.array([2, 3, 4])
    needed = memories_needed(starts, visits, weights, divisors)
    assert (needed >= (weights > 0)).all()
    limited = counts_along(starts, visits, np.where(needed, weights, -1), divisors)
    assert (limited == counts_along(starts, visits, weights, divisors)).all()
    # Without any of those whom a route passes between two members, some route counts less.
    for k, v in np.argwhere(needed & (weights == 0)).tolist():
        less = np.where(needed, weights, -1)
        less[k, v] = -1
        assert (counts_along(starts, visits, less, divisors)[:, k] < limited[:, k]).any()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"values": [0.5, -0.5]}, "values"),
        ({"rows": [0, 1, 5]}, "rows"),
        ({"amounts": [1, 1, 0]}, "amounts"),
        ({"starts": [0, 4, 3]}, "starts"),
        ({"sizes": (2,)}, "sizes: expected some of 3, 4 and 5"),
    ],
)
def test_invalid_solutions_are_rejected(changed, message):
    given = {"starts": [0, 2, 3], "rows": [0, 1, 1], "amounts": [1, 1, 1], "values": [0.5, 0.5], "sides": [1, 1, 1]}
    with pytest.raises(ArrayError, match=message):
        violated_rank_one(**given | changed)
