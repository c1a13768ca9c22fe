import re
from dataclasses import replace

import pytest

import colgen.problems.cutting_stock as room
from colgen import InputError
from colgen.core.renamed import RENAMED
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, Stock
from colgen.problems.cutting_stock.instance import MOST_RUNS, MOST_SINGLE

PLAIN = CuttingStockInstance(10, (6, 4), (2, 3))


def given(**parts):
    return replace(PLAIN, **parts)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stock((), ()), "at least one width"),
        (lambda: Stock((10, 8), (1.0,)), "1 costs, expected 2"),
        (lambda: Stock((10,), (1.0,), (1, 2)), "2 supplies, expected 1"),
        (lambda: Stock((0,), (1.0,)), "roll 0 has width 0"),
        (lambda: Stock((2.5,), (1.0,)), "each of the stock's widths.* 2.5"),
        (lambda: Stock((10,), (-1.0,)), "at least 0, not -1.0"),
        (lambda: Stock((10,), (float("nan"),)), "at least 0, not nan"),
        (lambda: Stock((10,), ("1",)), "at least 0, not '1'"),
        (lambda: Stock((10,), (None,)), "must be a number, not None"),
        (lambda: Stock((10,), (1.0,), (-1,)), "roll 0 has supply -1"),
        (lambda: Stock((10,), (1.0,), (1.5,)), "each of the supplies.* 1.5"),
        (lambda: given(patterns=0), "limit on patterns is 0"),
        (lambda: given(patterns=2.5), "the number of patterns"),
        (lambda: given(conflicts=((0, 1, 2),)), "conflicts: expected pairs"),
        (lambda: given(conflicts=(3,)), "expected pairs of items, not 3"),
        (lambda: given(conflicts=((0, -1),)), "items from 0 to 1"),
        (lambda: given(conflicts=3), "expected pairs of items, not 3"),
        (lambda: given(conflicts=((0, 2),)), r"conflict \(0, 2\).*0 to 1"),
        (
            lambda: given(stock=Stock((8,), (1.0,))),
            "roll width is 10, expected 8",
        ),
        (lambda: given(stock=((10, 1.0),)), "stock: expected Stock"),
        (
            lambda: given(patterns=2, conflicts=((0, 1),)),
            "limit on patterns.*conflicts",
        ),
        (
            lambda: given(patterns=2, stock=Stock((10,), (1.0,))),
            "limit on patterns.*several roll widths",
        ),
        (
            lambda: CuttingStockInstance(10, (5,), (MOST_SINGLE + 1,), conflicts=((0, 0),)),
            f"{MOST_SINGLE + 1} pieces, expected at most {MOST_SINGLE}",
        ),
        (
            lambda: CuttingStockInstance(10, (5,), (MOST_RUNS + 1,), patterns=1),
            f"demand is {MOST_RUNS + 1}, expected at most {MOST_RUNS}",
        ),
    ],
)
def test_invalid_data_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_parts_cannot_be_combined_with_exchanges():
    with pytest.raises(InputError, match="exchanges need rolls of one width"):
        CuttingStock(given(conflicts=((0, 1),)), "ranks")


def test_steps_of_costs():
    assert Stock((10, 8), (6, 4)).step == 2.0
    assert Stock((10, 8), (6, 4.5)).step == 1.5
    assert Stock((10, 8), (6, 0)).step == 6.0
    assert Stock((10,), (0.1,)).step == 0.1
    assert Stock((10, 8), (0.1, 0.3)).step is None
    assert Stock((10,), (0,)).step is None


def test_dominated_kinds_are_left_out():
    stock = Stock((10, 8, 8, 6, 6, 5), (5.0, 5.0, 4.0, 3.0, 3.0, 9.0), (None, None, None, None, 4, 2))
    assert stock.useful == (0, 2, 3)
    # A limited kind dominates no other, and is left out if an unlimited one is as good.
    assert Stock((10, 10), (1.0, 2.0), (3, None)).useful == (0, 1)
    assert Stock((10, 10), (2.0, 1.0), (3, None)).useful == (1,)
    assert Stock((10, 8), (2.0, 1.0), (0, 0)).useful == (0,)


@pytest.mark.parametrize(
    ("order", "answer", "message"),
    [
        (given(stock=Stock((10, 6), (3.0, 1.0))), [(((0, 1),), 2)], "pattern, rolls, kind"),
        (given(stock=Stock((10, 6), (3.0, 1.0))), [(((0, 1),), 2, 2)], "roll 2 does not exist"),
        (given(stock=Stock((10, 6), (3.0, 1.0))), [(((0, 1), (1, 2)), 2, 1)], "needs width"),
        (
            given(stock=Stock((10, 6), (3.0, 1.0))),
            [(((0, 1), (1, 1)), 2, 1), (((1, 1),), 1, 1)],
            "width 10, roll 1 has 6",
        ),
        (
            given(stock=Stock((10, 6), (3.0, 1.0), (None, 2))),
            [(((0, 1),), 2, 1), (((1, 1),), 3, 1)],
            "roll 1 is used 5 times.*2",
        ),
        (given(conflicts=((1, 0),)), [(((0, 1), (1, 1)), 3)], r"conflicting items \(0, 1\)"),
        (given(conflicts=((1, 1),)), [(((1, 2),), 2), (((0, 1),), 2)], r"conflicting items \(1, 1\)"),
        (
            given(conflicts=((1, 1),)),
            [(((1, 1), (1, 1)), 2), (((0, 1),), 2)],
            r"conflicting items \(1, 1\)",
        ),
        (given(patterns=1), [(((0, 1),), 2), (((1, 2),), 2)], "2 patterns, expected at most 1"),
        (PLAIN, [(((0, 1),), 2)], "item 1 is cut 0 times"),
        (PLAIN, [(((0, 1),), 1.5)], "is used 1.5 times"),
        (PLAIN, [3], "patterns of"),
    ],
)
def test_infeasible_answers_are_refused(order, answer, message):
    with pytest.raises(ValueError, match=message):
        order.check(answer)


def test_costs_are_recomputed():
    stock = Stock((10, 6), (3.0, 1.25))
    assert given(stock=stock).check([(((0, 1),), 2, 1), (((1, 2),), 2, 0)]) == 8.5
    assert given(patterns=1).check([(((0, 1), (1, 1)), 2), (((1, 1), (0, 1)), 1)]) == 3
    assert given(conflicts=((0, 0),)).check([(((0, 1), (1, 1)), 2), (((1, 1),), 1)]) == 3


@pytest.mark.parametrize(("name", "new"), RENAMED["CuttingStock"].items())
def test_an_old_keyword_is_refused_with_its_new_form(name, new):
    with pytest.raises(InputError, match=re.escape(f"write {new}")):
        CuttingStock(PLAIN, **{name: None})


@pytest.mark.parametrize(("name", "part"), [("AtMost", "patterns"), ("Conflicts", "conflicts"), ("Order", "stock")])
def test_an_old_class_is_refused_with_its_new_form(name, part):
    with pytest.raises(ImportError, match=f"CuttingStockInstance.*{part}="):
        getattr(room, name)
    assert not hasattr(room, "Orders")
