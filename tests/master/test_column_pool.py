"""The pool: columns that the linear program temporarily lacks change no result."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colgen.master.idle_columns as idle_columns
from colgen import Column, Diving, Method, RestrictedMIP, solve
from colgen.core.decision import Apart, Together
from tests.amounts import examples
from tests.master.test_batches import ITEMS, as_batch, columns, master
from tests.toys import CuttingStock


@pytest.fixture
def eager(monkeypatch):
    """Lets go of whatever is priced out, as soon as there are more columns than rows."""
    monkeypatch.setattr(idle_columns, "_MANY", 0)
    monkeypatch.setattr(idle_columns, "_ENOUGH", 0)
    monkeypatch.setattr(idle_columns, "_FEW", 0)


def retired(each):
    """The same master, after it has let go of all that is priced out."""
    each.node.remove_stale(1)


@settings(deadline=None, max_examples=examples(15, 30))
@given(st.lists(columns(most=12), min_size=2, max_size=5), st.booleans(), st.data())
def test_idle_columns_do_not_change_optima(parts, decide, data):
    one, other = master(), master()
    decisions = [[], [Apart(("demand", 0), ("demand", 1))], [Together(("demand", 1), ("demand", 2))]]
    saved = None
    for number, part in enumerate(parts):
        assert one.add(as_batch(part, one), (), 0) == other.add(part, (), 0)
        if decide:
            for each in (one, other):
                each.node.apply(decisions[number % 3])
        mine, theirs = one.solve(), other.solve()
        assert mine.status is theirs.status
        assert mine.phase == theirs.phase
        if mine.duals is None:
            continue
        assert mine.objective == pytest.approx(theirs.objective)
        if mine.phase == 2:
            fault = one.rows.violation(one.solution(mine))
            assert fault is None or "fraction" in fault
        # Its dual values keep out all columns, those that it does without as well.
        gains = -one.objective.reduced_costs(mine.duals)
        open_ = np.isinf(one.table.upper_now) & ~one.table.artificial
        assert (gains[open_] <= 1e-7).all()
        assert one.table.num_idle + len(one.table.active) == len(one.table)
        assert one.lp.num_columns == len(one.table.active)
        if saved is None or data.draw(st.booleans()):
            saved = one.node.basis()
        retired(one)
        if data.draw(st.booleans()):
            one.node.restore(saved)  # whose columns may be idle by now
            assert one.solve().objective == pytest.approx(theirs.objective)
        if mine.phase == 2 and other.integer.solve()[0] is not None:
            answer = other.integer.solve()[0]
            found = one.integer.solve(start=answer)[0]  # brings back what the answer is made of
            assert found.objective <= answer.objective + 1e-6
            assert one.rows.violation(found) is None
    assert list(one.columns) == list(other.columns)


def test_columns_wait_in_the_pool_until_they_improve(eager):
    each = master()
    for i in range(ITEMS):
        each.add([Column(5.0, {("demand", i): 1.0}, i)])
    dear = [Column(50.0 + i, {("demand", i): 1.0}, ("dear", i)) for i in range(ITEMS)]
    each.add(dear)
    each.solve()
    assert each.table.num_idle == ITEMS
    assert each.lp.num_columns == len(each.table) - ITEMS
    assert (each.find(dear) >= 0).all()
    assert each.rows.best_known(each.solve().duals, 1)[0] == pytest.approx(0.0)
    # Those that are cheap are forbidden: the dear ones come back.
    each.node.fix({dear[0].identity: 1.0})
    assert {c.structure: x for c, x in each.solution(each.solve()).columns}["dear", 0] >= 1.0
    each.node.fix({})
    assert each.solve().objective == pytest.approx(1 + 5.0 * sum(range(1, ITEMS + 1)))


def test_order_of_columns_that_all_come_back():
    each = master()
    present = [Column(1.0 + (i % 2), {("demand", i // 2): 1.0}, i) for i in range(2 * ITEMS)]
    each.add(present)
    before = each.solve()
    assert each.node.remove_stale(1) == ITEMS
    assert each.add(present) == 0  # adding an idle column again brings it back
    assert each.table.num_idle == 0
    assert each.table.active.tolist() != sorted(each.table.active.tolist())
    after = each.solve()
    assert after.values.tolist() == before.values.tolist()
    assert each.rows.violation(each.solution(after)) is None


@pytest.mark.parametrize("seed", range(3))
def test_runs_end_in_the_same_proof(eager, seed):
    rng = np.random.default_rng(seed)
    demands = tuple(int(d) for d in rng.integers(20, 90, 4))
    with_pool = solve(CuttingStock(demands=demands), method=Method(heuristics=(Diving(), RestrictedMIP())))
    idle_columns._MANY = math.inf
    without = solve(CuttingStock(demands=demands), method=Method(heuristics=(Diving(), RestrictedMIP())))
    assert with_pool.root_bound == pytest.approx(without.root_bound)
    assert with_pool.objective >= with_pool.root_bound - 1e-9
    assert without.objective <= with_pool.objective + 1.0  # fewer columns for the heuristics


@settings(deadline=None, max_examples=examples(10, 30))
@given(st.lists(columns(most=12), min_size=1, max_size=5), st.booleans(), st.data())
def test_structures_of_many_columns_are_those_of_each(parts, batches, data):
    """Columns that came one by one and in batches, and the master's own, which mean nothing."""
    each = master()
    for part in parts:
        each.add(as_batch(part, each) if batches else part, (), 0)
    table = each.table
    places = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=40))
    assert table.structures(places) == [table.structure(place) for place in places]
    batch = table.batch(np.array(sorted(set(places)), dtype=np.int64))
    assert batch.structures == [batch.meanings.of(k) for k in range(len(batch))]
    some = batch.take(np.arange(len(batch))[::-2])
    assert some.structures == batch.structures[::-2]
