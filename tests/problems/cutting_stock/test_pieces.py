import numpy as np
import pytest

from colgen import Duals, Method, PricingContext, Solution, solve
from colgen.core.decision import Apart, Together
from colgen.master.statement import restricted_master
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, Stock
from colgen.problems.cutting_stock.piece_pricing import Pieces, merge
from colgen.problems.cutting_stock.pieces import PieceModel
from tests.twins.orders import cheapest

NONE = ((0, 0),)
"""A conflict of item 0 with itself, which excludes nothing if its demand is 1."""


def test_first_plans_respect_the_supplies():
    # The widest roll has supply 0, so each piece gets a narrow one.
    stock = Stock((5, 1), (0.0, 0.0), (0, None))
    order = CuttingStockInstance(5, (1, 1), (1, 1), stock=stock, conflicts=NONE)
    result = solve(CuttingStock(order))
    assert result.is_optimal
    assert order.check(result.answer) == 0.0
    assert {kind for _, _, kind in result.answer} == {1}


def test_pieces_wider_than_all_available_rolls_have_no_plan():
    stock = Stock((5, 3), (1.0, 1.0), (0, None))
    order = CuttingStockInstance(5, (4,), (1,), stock=stock, conflicts=NONE)
    assert PieceModel(order).fill([]) is None
    assert solve(CuttingStock(order)).termination.name == "INFEASIBLE"


def test_decisions_merge_pieces_and_their_conflicts():
    pieces = Pieces.of(CuttingStockInstance(10, (4, 3, 2), (1, 2, 1), conflicts=((0, 2), (1, 1))))
    assert pieces.items.tolist() == [0, 1, 1, 2]
    assert pieces.conflicts.astype(int).tolist() == [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    key = lambda k: ("demand", k)  # noqa: E731
    told = PricingContext(None, decisions=(Together(key(0), key(1)), Apart(key(2), key(3))))
    node = merge(pieces, told, 10)
    place = {tuple(np.flatnonzero(row)): k for k, row in enumerate(node.groups)}
    assert node.widths[place[0, 1]] == 7
    both, third, last = place[0, 1], place[(2,)], place[(3,)]
    assert node.conflicts[both, third]
    assert node.conflicts[both, last]
    assert node.conflicts[third, last]
    assert not node.conflicts.diagonal().any()
    # Conflicting pieces that must be together fit onto no roll.
    assert merge(pieces, PricingContext(None, decisions=(Together(key(1), key(2)),)), 10).widths.max() == 11


def test_a_piece_that_is_covered_twice_is_cut_once():
    order = CuttingStockInstance(10, (4, 3), (1, 2), conflicts=NONE)
    problem = CuttingStock(order)
    oracle = problem.model.oracles[0]
    twice = Solution(2.0, ((oracle.encode([0, 1]), 1.0), (oracle.encode([1, 2]), 1.0)))
    answer = problem.answer(twice)
    assert sorted(answer) == [(((0, 1), (1, 1)), 1), (((1, 1),), 1)]
    assert order.check(answer) == 2
    idle = Solution(3.0, (*twice.columns, (oracle.encode([0]), 1.0)))
    assert order.check(problem.answer(idle)) == 3


@pytest.mark.parametrize("seed", range(12))
def test_without_guesses_and_heuristics_the_tree_proves_the_same(seed):
    rng = np.random.default_rng(seed)
    n = 8
    widths = tuple(rng.integers(3, 9, n).tolist())
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.3]
    order = CuttingStockInstance(12, widths, (1,) * n, conflicts=(*NONE, *pairs))
    problem = CuttingStock(order)
    result = solve(problem, method=Method(heuristics=(), enumeration=()))
    assert result.is_optimal
    assert result.objective == cheapest(order)
    written = [problem.codec().write(column.structure) for column, _ in result.solution.columns]
    made = [problem.codec().read(structure) for structure in written]
    assert [column.cost for column in made] == [column.cost for column, _ in result.solution.columns]


def test_stored_structures_that_do_not_fit_the_instance_are_refused():
    problem = CuttingStock(CuttingStockInstance(10, (4, 3), (1, 2), conflicts=((0, 1),)))
    assert problem.codec().read((0, [0, 1])) is None
    assert problem.codec().read((0, [0, 0])) is None
    assert problem.codec().read((1, [0])) is None
    assert problem.codec().read((0, [])) is None
    assert problem.codec().read((0, [1, 1])).coefficients == {("demand", 1): 1.0, ("demand", 2): 1.0}


def test_a_roll_that_must_be_used_is_priced_with_a_piece_on_it():
    problem = CuttingStock(CuttingStockInstance(10, (4, 3), (1, 1), conflicts=NONE))
    master = restricted_master(problem.master())
    duals = master.solve().duals
    assert isinstance(duals, Duals)
    nothing = duals.replace(np.zeros(len(duals.values)))
    priced = problem.model.oracles[0].price(nothing, PricingContext(master.sense, cost_weight=-1.0))
    assert priced.bound == -1.0
    assert len(priced.columns) == 1
