"""A master given batches is the master given their columns one by one: same table, solves, dual values, runs."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import Column, Columns, LinearMaster, PricingResult, Row, artificial, solve
from colgen.branching.rules import Bound
from colgen.core.decision import Apart
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.model.rows import compile_model
from colgen.pricing.oracles import Pricing
from tests.amounts import examples
from tests.toys import CuttingStock

ITEMS = 5


def master(sense=pyo.minimize):
    m = pyo.ConcreteModel()
    m.item = pyo.RangeSet(0, ITEMS - 1)
    m.unmet = artificial(m.item)
    m.y = pyo.Var(bounds=(0, 3))
    m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] + (m.y if i == 0 else 0) >= i + 1)
    m.cost = pyo.Objective(expr=(9 if sense == pyo.minimize else -9) * m.y + 1, sense=sense)
    return LinearMaster(compile_model(m))


def as_batch(columns, linear, **more):
    """Columns as an oracle would state them: by row numbers."""
    position = linear.rows.names.position
    return Columns(
        [c.cost for c in columns],
        np.cumsum([0, *(len(c.coefficients) for c in columns)]),
        np.array([position[key] for c in columns for key in c.coefficients], dtype=np.int64),
        [a for c in columns for a in c.coefficients.values()],
        lambda k: columns[k].structure,
        None if all(c.key is None for c in columns) else [c.key for c in columns],
        [c.upper for c in columns],
        **more,
    )


@st.composite
def columns(draw, most=8):
    found = []
    for _ in range(draw(st.integers(0, most))):
        pattern = draw(st.dictionaries(st.integers(0, ITEMS - 1), st.sampled_from([1.0, 2.0, 0.5]), max_size=ITEMS))
        key = draw(st.sampled_from([None, None, None, ("x", len(found))]))
        cost, upper = draw(st.sampled_from([1.0, 2.0, 4.0])), draw(st.sampled_from([math.inf, math.inf, 2.0]))
        entries = {("demand", i): a for i, a in pattern.items()}
        found.append(Column(cost, entries, tuple(sorted(pattern.items())), key, upper=upper))
    return found


ROWS = [
    Row(("by key", 0), upper=50.0, coefficients={("x", 0): 2.0, ("y", None): 1.0, ("x", 3): 1.0}),
    Row(("by function", 0), upper=90.0, coefficient=lambda column: float(len(column.structure))),
]


@settings(deadline=None, max_examples=examples(25, 60))
@given(st.lists(columns(), min_size=1, max_size=4), st.booleans(), st.booleans(), st.booleans())
def test_a_batch_and_its_singles_make_the_same_master(parts, rows, decide, maximize):
    sense = pyo.maximize if maximize else pyo.minimize
    one, other = master(sense), master(sense)
    s = one.sense.sign
    decisions = [Apart(("demand", 0), ("demand", 1)), Bound(("b", 0), 0.0, 2.0, lambda c: float(len(c.structure) > 2))]
    for number, part in enumerate(parts):
        part = [Column(s * c.cost, c.coefficients, c.structure, c.key, upper=c.upper) for c in part]
        if rows and number == 1:
            for each in (one, other):
                each.add((), ROWS)
        if decide and number == 2:
            for each in (one, other):
                each.node.apply(decisions)
        guess = {"demand": s * np.linspace(0.5, 3.0, ITEMS)}
        batch = as_batch(part, one)
        assert one.price(batch, one.rows.guess(guess)) == pytest.approx(
            np.asarray(other.price(part, other.rows.guess(guess)))
        )
        assert one.add(batch, (), number) == other.add(part, (), number)
        mine, theirs = one.solve(), other.solve()
        assert mine.status is theirs.status
        assert mine.phase == theirs.phase
        if mine.duals is None:
            continue
        assert mine.objective == pytest.approx(theirs.objective)
        assert mine.duals.values.tolist() == theirs.duals.values.tolist()
        assert mine.values.tolist() == theirs.values.tolist()
        assert one.solution(mine) == other.solution(theirs)
        assert one.rows.best_known(mine.duals, 1) == other.rows.best_known(theirs.duals, 1)
    assert list(one.columns) == list(other.columns)
    assert one.table.entry_lists() == other.table.entry_lists()
    assert one.table.origins.tolist() == other.table.origins.tolist()
    assert [one.find(part).tolist() for part in parts] == [other.find(part).tolist() for part in parts]


def test_invalid_batches_raise_errors():
    linear = master()
    with pytest.raises(FormulationError, match="is a variable of the template"):
        linear.add(Columns([1.0], [0, 0], [], [], keys=[("y", None)]))
    with pytest.raises(FormulationError, match=f"row number 99, but the master has {ITEMS} rows"):
        linear.add(Columns([1.0], [0, 1], [99], [1.0]))
    foreign = Columns([1.0], [0, 1], [0], [1.0], ["far"]).over([("elsewhere", 0)], {("elsewhere", 0): 0})
    with pytest.raises(UnknownRowError, match=r"'far'.*\('elsewhere', 0\)"):
        linear.add(foreign)
    linear.add((), [Row(("cut", 0), upper=1.0, coefficient=lambda column: math.nan)])
    with pytest.raises(FormulationError, match=r"'odd'.*finite"):
        linear.add(Columns([1.0], [0, 1], [0], [1.0], ["odd"]))


class InBatches(Pricing):
    """Another oracle's columns as arrays."""

    def __init__(self, oracle):
        self.oracle = oracle
        self.multiplicity, self.cost_bound = oracle.multiplicity, oracle.cost_bound

    def price(self, duals, context):
        found = self.oracle.price(duals, context)
        columns = list(found.columns)
        numbers = dict(zip(duals.members("demand"), duals.rows("demand").tolist(), strict=True))
        batch = Columns(
            [c.cost for c in columns],
            np.cumsum([0, *(len(c.coefficients) for c in columns)]),
            np.array([numbers[index] for c in columns for _, index in c.coefficients], dtype=np.int64),
            [a for c in columns for a in c.coefficients.values()],
            [c.structure for c in columns],
        )
        return PricingResult(batch, found.bound, found.reduced_costs)


@pytest.mark.parametrize("relaxation", [True, False])
def test_a_problem_runs_the_same_with_batches_and_with_single_columns(relaxation):
    class Batches(CuttingStock):
        def pricing(self):
            return InBatches(super().pricing())

    single = solve(CuttingStock(), relaxation=relaxation)
    batched = solve(Batches(), relaxation=relaxation)
    assert batched.termination is single.termination
    assert batched.objective == single.objective
    assert batched.solution.columns == single.solution.columns
    for one, other in zip(batched.iterations, single.iterations, strict=True):
        assert (one.objective, one.dual_bound, one.new_columns) == (
            other.objective,
            other.dual_bound,
            other.new_columns,
        )
