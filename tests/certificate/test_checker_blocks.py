"""Blocks of compact models: the checker's dynamic program against enumeration of all points."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from colgen.certificate import checker_blocks
from colgen.certificate.checker_blocks import BlockPricing, formulation
from colgen.certificate.checker_pricing import CheckerState, UnreadableError, WrongError, holds


def drawn(seed):
    """A block of up to four integer variables of either sign, and up to three rows of any kind."""
    chance = random.Random(seed)
    size = chance.randint(1, 4)
    variables = []
    for _ in range(size):
        low = chance.randint(-2, 1)
        variables.append([chance.choice([0, chance.randint(-9, 9), "5/2"]), low, low + chance.randint(0, 3), True])
    rows = []
    for _ in range(chance.randint(0, 3)):
        terms = [[v, chance.choice([-3, -1, 1, 2, "1/2", "4/3"])] for v in range(size) if chance.random() < 0.7]
        low, high = chance.randint(-4, 2), chance.randint(-1, 6)
        rows.append([chance.choice([None, low]), chance.choice([None, max(low, high), low]), terms])
    entries = [[[row, chance.choice([-2, 1, "1/3"])] for row in range(2) if chance.random() < 0.7] for _ in range(size)]
    rows = [row for row in rows if row[2]]
    return {"kind": "block", "uses": [1, 1], "cost": 4, "variables": variables, "entries": entries, "rows": rows}


def points_of(block):
    ranges = [range(int(low), int(high) + 1) for low, high in block.bounds]
    for point in itertools.product(*ranges):
        try:
            yield point, *block.column(point)
        except WrongError:
            continue


@pytest.mark.parametrize("seed", range(60))
def test_the_least_reduced_cost_is_that_of_all_points(seed):
    chance, block = random.Random(seed), BlockPricing(3, drawn(seed), 2)
    size = len(block.costs)
    duals, unit = [chance.randint(-5, 5) for _ in range(2)], Fraction(chance.choice([-2, 0, 1, 3]))
    state, counts = CheckerState(), {}
    for _ in range(chance.randint(0, 2)):
        v, low = chance.randrange(size), chance.randint(-2, 2)
        state.narrow(3, v, *chance.choice([(low, None), (None, low), (low, low + 1)]))
    for _ in range(chance.randint(0, 3)):
        some = sorted(chance.sample(range(size), chance.randint(1, size)))
        low = [chance.randint(-2, 2) for _ in some]
        box = [[v, *chance.choice([(a, None), (None, a), (a, a + 1)])] for v, a in zip(some, low, strict=True)]
        counts[3, block.box(box)] = chance.randint(-6, 6)
    state.without = tuple((k, box) for k, box in list(counts)[2:])  # no point is within these
    counts[2, ((0, 0, None),)] = 100  # another block's
    costs = []
    for point, cost, entries in points_of(block):
        if all(holds(point[v], limits) for (_, v), limits in state.bounds.items()):
            paid = sum(duals[row] * entry for row, entry in entries.items())
            for (k, box), dual in counts.items():
                if k == 3 and all(holds(point[v], (low, high)) for v, low, high in box):
                    paid += -math.inf if (k, box) in state.without else dual
            costs.append(unit * cost - paid)
    costs = [cost for cost in costs if cost < math.inf]
    if costs:
        assert block.least(duals, unit, counts, state) == min(costs)
    elif unit:
        with pytest.raises(WrongError, match="no point"):
            block.least(duals, unit, counts, state)
    else:
        assert block.least(duals, unit, counts, state) == 1


def test_unbounded_or_continuous_variables_are_refused():
    data = {"cost": 0, "entries": [[], []], "rows": [[None, 2, [[0, 1], [1, 1]]]]}
    free = BlockPricing(0, {**data, "variables": [[1, None, None, True], [0, 0, 1, True]]}, 0)
    with pytest.raises(WrongError, match="unbounded"):
        free.least([], Fraction(1), {}, CheckerState())
    mixed = BlockPricing(0, {**data, "variables": [[1, 0, 1, True], [0, 0, 1, False]]}, 0)
    with pytest.raises(WrongError, match="continuous variable"):
        mixed.least([], Fraction(1), {}, CheckerState())
    with pytest.raises(WrongError, match="in order"):
        mixed.box([[0, 1, None], [0, None, 2]])
    with pytest.raises(WrongError, match="integer variables"):
        mixed.box([[1, 1, None]])
    alone = BlockPricing(0, {**data, "rows": [], "variables": [[-1, 0, None, False], [0, 0, 1, True]]}, 0)
    with pytest.raises(WrongError, match="unbounded"):
        alone.least([], Fraction(1), {}, CheckerState())


MODEL = {
    "kind": "compact",
    "sense": "minimize",
    "offset": "1/2",
    "variables": [[2, 0, 1, True], [2, 0, 1, True], [3, 0, 5, True]],
    "rows": [[1, None, [[0, 1], [1, 1], [2, 1]]], [None, 1, [[0, 2]]], [None, 1, [[1, 2]]]],
    "linking": [0],
    "blocks": [[[0], [1]]],
}


def test_a_model_is_a_program_over_points_of_its_blocks():
    program = formulation(MODEL)
    block, static = program["pricing"]
    assert program["rows"] == [[1, None]]
    assert Fraction(program["step"]) == Fraction(1, 2)
    assert (block["uses"], block["rows"], block["entries"]) == ([2, 2], [], [[[0, 1]]])
    assert block["variables"] == [[2, 0, 0, True]]  # the row is a bound
    assert (static["uses"], static["cost"], static["variables"]) == ([1, 1], "1/2", [[3, 1, 5, True]])


@pytest.mark.parametrize(
    "changed",
    [
        {"variables": [[2, 0, 1, True], [1, 0, 1, True], [3, 0, 5, True]]},  # another cost
        {"rows": [MODEL["rows"][0], MODEL["rows"][1], [None, 2, [[1, 2]]]]},  # another side
        {"rows": [[1, None, [[0, 1], [1, 2], [2, 1]]], *MODEL["rows"][1:]]},  # another entry in a linking row
        {"blocks": [[[0], [0]]]},
        {"blocks": [[[0], [1], [-1]]]},
        {"linking": [0, 0]},
        {"linking": [0, -1]},
        {"linking": [1]},  # a row over two blocks does not link
    ],
)
def test_different_or_invalid_blocks_are_refused(changed):
    with pytest.raises((WrongError, LookupError, ValueError)):
        formulation({**MODEL, **changed})


def test_blocks_are_identical_if_rows_give_the_same_bounds():
    def model(side):
        variables = [[2, 0, 3, True], [2, 0, 4, True], [3, 0, 5, True]]
        rows = [[5, None, [[0, 1], [1, 1], [2, 1]]], [None, side, [[0, 2]]], [None, side, [[1, 2]]]]
        return {**MODEL, "variables": variables, "rows": rows}

    assert formulation(model(5))["pricing"][0]["variables"] == [[2, 0, 2, True]]
    with pytest.raises(WrongError, match="identical blocks"):
        formulation(model(8))


def test_sums_are_counted_before_memory_is_full(monkeypatch):
    size = 12
    rows = [[None, 200, [[v, (v + 1) ** power] for v in range(size)]] for power in (1, 2, 3)]
    variables = [[1, 0, 1, True] for _ in range(size)]
    block = BlockPricing(0, {"cost": 0, "variables": variables, "entries": [[] for _ in variables], "rows": rows}, 0)
    assert block.least([], Fraction(-1), {}, CheckerState()) < 0
    monkeypatch.setattr(checker_blocks, "TABLE_LIMIT", 1000)
    with pytest.raises(UnreadableError, match="at most 1,000 sums"):
        block.least([], Fraction(-1), {}, CheckerState())


def test_true_is_no_variable_number():
    model = {"kind": "compact", "sense": "minimize", "offset": 0, "linking": [0], "blocks": [[[0, 1]]]}
    model["variables"] = [[1, 0, 1, True], [1, 0, 1, True]]
    for v in (1, True):
        model["rows"] = [[1, None, [[v, 1]]], [0, 2, [[0, 1], [v, 1]]]]
        if v is not True:
            assert formulation(model)["rows"] == [[1, None]]
        else:
            with pytest.raises(WrongError, match="expected an integer, not True"):
                formulation(model)
    model["rows"] = [[1, None, [[1, 1]], "more"]]
    with pytest.raises(ValueError, match="too many values"):
        formulation(model)


@pytest.mark.parametrize("seed", range(80))
def test_presolve_keeps_all_points(seed):
    """Rows repeated, multiplied, weaker or over one variable; the remaining rows and limits have the same points."""
    chance = random.Random(seed)
    size = chance.randint(1, 3)
    variables = [[0, low := chance.randint(-1, 1), low + chance.choice([0, 1, 2]), True] for _ in range(size)]
    rows = []
    for _ in range(chance.randint(1, 5)):
        terms = [[v, chance.choice([-2, 1, 3, "1/2"])] for v in range(size) if chance.random() < 0.6]
        low, high = chance.randint(-3, 1), chance.randint(-1, 4)
        rows.append([chance.choice([None, low]), chance.choice([None, high]), terms])
    for low, high, terms in list(rows):
        times, wider = chance.choice([1, 2, -1, -3]), chance.choice([0, 1, -1])
        low, high = (None if side is None else times * side for side in ((low, high) if times > 0 else (high, low)))
        high = None if high is None else high + wider
        rows.append([low, high, [[v, str(times * Fraction(a))] for v, a in terms]])
    chance.shuffle(rows)
    found, fixed, redundant = checker_blocks.presolve(variables, rows)

    def points(variables, rows):
        exact = [([None if s is None else Fraction(s) for s in row[:2]], row[2]) for row in rows]
        for point in itertools.product(range(-1, 4), repeat=size):
            within = all(holds(x, (low, high)) for x, (_, low, high, _) in zip(point, variables, strict=True))
            if within and all(holds(sum(Fraction(a) * point[v] for v, a in terms), s) for s, terms in exact):
                yield point

    assert list(points(found, [row for k, row in enumerate(rows) if k not in redundant])) == list(
        points(variables, rows)
    )
    for point in points(variables, rows):
        assert all(point[v] == value for v, value in fixed.items())


def test_presolve_takes_rows_in_turn():
    rows = [[None, 9, [[0, 3], [1, 2]]], [4, 4, [[0, 2]]], ["1/2", None, [[2, "1/3"]]]]
    variables = [[1, 0, 9, True], [1, 0, None, False], [1, 0, None, True]]
    found, fixed, redundant = checker_blocks.presolve(variables, rows)
    assert found == [[1, 2, 2, True], [1, 0, "3/2", False], [1, 2, None, True]]
    assert (fixed, redundant) == ({0: 2}, {0, 1, 2})
