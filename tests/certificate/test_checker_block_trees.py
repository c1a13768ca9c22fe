"""Trees of bounds of blocks: no point gains more, whatever the tree; and limits that rows imply hold at all points."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_block_trees import gain_of_tree, tighten
from colgen.certificate.checker_blocks import BlockPricing
from colgen.certificate.checker_bounds import bound_of
from colgen.certificate.checker_pricing import NO, CheckerState, WrongError, holds
from colgen.certificate.checker_program import Claims, Program

HALVES = [Fraction(k, 2) for k in range(-4, 7)]


def drawn(chance):
    """A block of up to three variables, some of them continuous, and up to three rows of any kind."""
    size = chance.randint(1, 3)
    variables = [
        [0, low := chance.randint(-2, 1), low + chance.randint(0, 3), chance.random() < 0.6] for _ in range(size)
    ]
    rows = []
    for _ in range(chance.randint(0, 3)):
        terms = [[v, chance.choice([-3, -1, 1, 2, "1/2", "4/3"])] for v in range(size) if chance.random() < 0.7]
        low, high = chance.randint(-4, 2), chance.randint(-1, 6)
        rows.append([chance.choice([None, low]), chance.choice([None, max(low, high), low]), terms])
    rows = [row for row in rows if row[2]]
    entries = [[] for _ in variables]
    return BlockPricing(0, {"cost": 0, "variables": variables, "entries": entries, "rows": rows}, 0)


def points_of(block):
    for point in itertools.product(HALVES, repeat=len(block.costs)):
        try:
            block.column([str(value) for value in point])
        except WrongError:
            continue
        yield point


def tree_of(chance, block, depth=2):
    """A tree of splits, and dual values of any size, of sides that the rows have."""
    split = [v for v, is_integer in enumerate(block.integer) if is_integer]
    if depth and split and chance.random() < 0.7:
        part = {"split": [chance.choice(split), chance.randint(-2, 2)]}
        return [part, *tree_of(chance, block, depth - 1), *tree_of(chance, block, depth - 1)]
    duals = [[row, chance.randint(-9, 9)] for row in range(len(block.rows))]
    return [{"over": 3, "duals": [[r, d] for r, d in duals if d and block.rows[r][0][d > 0] is not None]}]


@pytest.mark.parametrize("seed", range(80))
def test_no_point_gains_more_than_a_tree(seed):
    chance = random.Random(seed)
    block = drawn(chance)
    gains = [chance.randint(-9, 9) for _ in block.costs]
    boxes = []
    for v, is_integer in enumerate(block.integer):
        if is_integer and chance.random() < 0.7:
            boxes.append(
                (block.box([[v, chance.choice([None, 0]), chance.choice([None, 1])]]), chance.choice([-5, 7, NO]))
            )
    bound = gain_of_tree(block.rows, block.integer, gains, boxes, block.limits(CheckerState()), tree_of(chance, block))
    for point in points_of(block):
        gain = sum(g * x for g, x in zip(gains, point, strict=True))
        gain += sum(paid for box, paid in boxes if all(holds(point[v], ends) for v, *ends in box))
        assert gain <= bound


@pytest.mark.parametrize("seed", range(60))
def test_limits_of_rows_hold_at_all_points(seed):
    chance = random.Random(seed)
    block = drawn(chance)
    rows = [((NO if low is None else low, -NO if high is None else high), terms) for (low, high), terms in block.rows]
    ends = [(NO, high) if chance.random() < 0.5 else (low, -NO) for low, high in block.limits(CheckerState())]
    found = tighten(rows, ends, block.integer)
    for point in points_of(block):
        assert all(low <= x <= high for x, (low, high) in zip(point, found, strict=True))


def test_a_row_bounds_its_variables():
    rows = [((NO, 7), {0: 2, 1: 3}), ((0, 0), {1: 1, 2: -2})]
    whole, part = [True, True, True], [False, False, False]
    assert tighten(rows, [(0, math.inf)] * 3, whole) == [(0, 3), (0, 2), (0, 1)]
    assert tighten(rows, [(0, math.inf)] * 3, part) == [(0, Fraction(7, 2)), (0, Fraction(7, 3)), (0, Fraction(7, 6))]
    assert tighten(rows, [(0, math.inf), (NO, math.inf), (0, 9)], whole)[1] == (0, 2)


LEAF = {"over": 2, "duals": [[0, 1]]}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([], "a leaf for each part"),
        ([{"split": [0, 0]}, LEAF], "a leaf for each part"),
        ([LEAF, LEAF], "no part of a tree after"),
        ([{"split": [1, 0]}, LEAF, LEAF], "split of an integer variable"),
        ([{"split": [-1, 0]}, LEAF, LEAF], "split of an integer variable"),
        ([{"split": [0, "1/2"]}, LEAF, LEAF], "expected an integer"),
        ([{"split": [0, 0], "more": 1}, LEAF, LEAF], "'more' is unknown"),
        ([{"duals": [[0, 1]]}], "'over' is missing"),
        ([{"over": 0, "duals": []}], "denominator"),
        ([{"over": 2, "duals": [[0, -1]]}], "a side that it does not have"),
        ([{"over": 2, "duals": [[1, 1]]}], "rows of the block"),
        ([{"over": 2, "duals": [[-1, 1]]}], "rows of the block"),
        ([{"over": 2, "duals": [[0, "1"]]}], "expected an integer"),
        ([{"over": 2, "duals": []}], "unbounded"),
    ],
)
def test_each_condition_of_a_tree(tree, message):
    block = BlockPricing(
        0,
        {
            "cost": 0,
            "variables": [[0, 0, 3, True], [0, 0, None, False]],
            "entries": [[], []],
            "rows": [[None, 4, [[0, 1], [1, 2]]]],
        },
        0,
    )
    limits = [(0, 3), (0, math.inf)]
    assert gain_of_tree(block.rows, block.integer, [1, 1], [], limits, [LEAF]) == Fraction(7, 2)
    with pytest.raises(WrongError, match=message):
        gain_of_tree(block.rows, block.integer, [1, 1], [], limits, tree)


def test_trees_belong_to_pricing_problems():
    block = {"kind": "block", "uses": [1, 1], "cost": 0, "variables": [[-1, 0, 3, True]], "entries": [[]], "rows": []}
    knapsack = {
        "kind": "knapsack",
        "uses": [0, 1],
        "capacity": 1,
        "sizes": [1],
        "copies": [1],
        "rows": [0],
        "cost": 0,
        "costs": [],
    }
    tree, head = (
        [{"over": 1, "duals": []}],
        {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [-3], "bound": -3},
    )
    program = Program({"sense": "minimize", "step": None, "rows": [], "pricing": [block]})
    assert bound_of(program, CheckerState(), {**head, "potentials": [tree]}, Claims()) == -3
    with pytest.raises(ValueError, match="shorter"):
        bound_of(program, CheckerState(), {**head, "potentials": [tree, None]}, Claims())
    program = Program({"sense": "minimize", "step": None, "rows": [[None, 1]], "pricing": [block, knapsack]})
    head = {**head, "duals": [0], "least": [-3, 0]}
    assert bound_of(program, CheckerState(), {**head, "potentials": [tree, None]}, Claims()) == -3
    with pytest.raises(WrongError, match="without potentials"):
        bound_of(program, CheckerState(), {**head, "potentials": [tree, tree]}, Claims())
