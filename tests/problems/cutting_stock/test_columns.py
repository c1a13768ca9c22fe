"""Tests over instances with each of the optional parts."""

import dataclasses
from dataclasses import replace

import pytest

from benchmarks.cutting_stock.orders import conflicting, few_patterns, several_bins
from colgen import IterationLimit, Method, Termination, TimeLimit, WarmStart, solve
from colgen.checkpoint.columns import read_columns, write_columns
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, Stock
from colgen.testing.conformance import check_problem

ORDERS = [
    several_bins(30, 3, concave=True),
    conflicting(40, 0.5, 0),
    conflicting(30, 0.3, 1, kinds=3),
    few_patterns(6, 5, 2),
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)
def test_an_interrupted_run_can_be_continued(order, tmp_path):
    path = tmp_path / "run.checkpoint"
    whole = solve(CuttingStock(order), stop=TimeLimit(60))
    assert whole.is_optimal
    problem = CuttingStock(order)
    no_list = Method(enumeration=())  # so that there is a tree
    first = solve(problem, checkpoint=path, stop=IterationLimit(15), method=dataclasses.replace(no_list, heuristics=()))
    assert first.termination in (Termination.ITERATION_LIMIT, Termination.OPTIMAL)
    assert first.dual_bound <= whole.objective
    if first.termination is Termination.OPTIMAL:
        return
    second = solve(CuttingStock(order), checkpoint=path, stop=TimeLimit(60), method=no_list)
    assert second.is_optimal
    assert second.objective == whole.objective


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)
def test_columns_of_one_run_start_another(order):
    problem = CuttingStock(order)
    result = solve(problem, stop=TimeLimit(60))
    written = write_columns("c", [column for column, _ in result.solution.columns], lambda structure: structure)
    again = solve(CuttingStock(order), start=WarmStart(columns=read_columns("c", *written)), stop=TimeLimit(60))
    assert again.is_optimal
    assert again.objective == result.objective


def test_a_subclass_may_override_a_part():
    class Bare(CuttingStock):
        def method(self):
            return dataclasses.replace(super().method(), enumeration=())

    order = ORDERS[1]
    result = solve(Bare(order), stop=TimeLimit(60))
    assert result.is_optimal
    assert order.check(result.answer) == result.objective


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)
def test_the_contract_is_kept_at_larger_sizes(order):
    check_problem(CuttingStock(order), seconds=20.0).raise_if_any()


def test_no_conflict_and_one_kind_of_roll_is_cutting_stock():
    instance = CuttingStockInstance(100, (45, 36, 31, 14), (9, 21, 15, 11))
    plain = solve(CuttingStock(instance)).objective
    single = CuttingStockInstance(100, (*instance.widths, 90), (*instance.demands, 1))
    alone = ((4, 4),)  # no conflict: one piece of width 90 is wanted
    assert solve(CuttingStock(replace(single, conflicts=alone))).objective == solve(CuttingStock(single)).objective
    stock = Stock((100, 60), (1.0, 1.0))
    assert solve(CuttingStock(replace(instance, stock=stock))).objective == plain
    stock = Stock((100,), (2.5,))
    assert solve(CuttingStock(replace(instance, stock=stock))).objective == 2.5 * plain
    both = replace(single, stock=stock, conflicts=alone)
    assert solve(CuttingStock(both)).objective == 2.5 * solve(CuttingStock(single)).objective
