"""The context of oracles, and their combinations."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from colgen import (
    NO_STRUCTURE,
    Best,
    BranchingRule,
    Column,
    Decision,
    InputError,
    Method,
    OraclePricing,
    Pricing,
    PricingContext,
    PricingResult,
    Sense,
    Stages,
    Termination,
    solve,
)
from colgen.branching.rules import Bound
from colgen.core.decision import Apart, Together, groups_of
from colgen.core.terms import Count
from colgen.pricing.oracles import check_attributes
from tests.toys import CuttingStock, Knapsack


def at(index, block="cover"):
    return (block, index)


def context(*decisions):
    return PricingContext(Sense.MINIMIZE, decisions=decisions)


def bound(variable, upper, block="branch"):
    return Bound((block, variable), 0.0, upper, lambda column: float(variable in column.structure))


def test_forbidden_variables_are_those_whose_bound_is_zero():
    node = context(bound("a", 0.0), bound("b", 1.0), bound("c", 0.0, "arc"), Together(at(0), at(1)), bound("a", 0.0))
    assert node.forbidden("branch") == {"a"}
    assert node.forbidden("arc") == {"c"}
    assert node.forbidden("no such block") == frozenset()


def test_forbidden_variables_of_a_custom_decision():
    class Closed(Decision):
        def forbids(self, block):
            return {"x", "y"} if block == "site" else ()

    assert context(Closed()).forbidden("site") == {"x", "y"}
    assert context(Closed()).forbidden("branch") == frozenset()


def test_pairs_that_are_joined_make_groups():
    joined = [Together(at(i), at(j)) for i, j in [(4, 1), (2, 3), (1, 7), (3, 7), (8, 9)]]
    parted = [Apart(at(1), at(8)), Apart(at(1), at(8)), Apart(at(5), at(6))]
    node = context(*joined, *parted)
    assert [set(group) for group in node.together()] == [{1, 2, 3, 4, 7}, {8, 9}]
    assert node.apart() == ((1, 8), (5, 6))
    assert context().together() == context().apart() == ()


def test_groups_match_the_decisions():
    pairs = [(at(0), at(2)), (at(3), at(4)), (at(4), at(2))]
    node = context(*(Together(*pair) for pair in pairs))
    for members in range(1 << 5):
        held = {i for i in range(5) if members >> i & 1}
        column = Column(1.0, {at(i): 1.0 for i in held})
        assert node.allows(column) == all(held.issuperset(g) or held.isdisjoint(g) for g in node.together())
    assert groups_of([(at(1), at(1))]) == [(at(1),)]


def test_groups_of_several_blocks():
    node = context(Together(at(0), at(1)), Together(at(0, "task"), at(5, "task")), Apart(at(2), at(3)))
    assert node.together("cover") == ((0, 1),)
    assert node.together("task") == ((0, 5),)
    assert node.apart() == node.apart("cover") == ((2, 3),)
    assert node.apart("task") == ()
    with pytest.raises(InputError, match=r"rows of 'cover' and 'task'.*block"):
        node.together()


@pytest.mark.parametrize("value", [None, {"cost": 1.0}, (1.0, {})])
def test_an_encode_that_returns_no_column_is_named(value):
    class Oracle(OraclePricing):
        def best(self, duals, context):
            return "a structure"

        def encode(self, structure):
            return value

    with pytest.raises(InputError, match=r"Oracle\.encode\(\) returned .*expected a Column"):
        Oracle().price(None, None)


# --- results and declared attributes of oracles ----------------------------------------------------------------------


def forgetting(method):
    """An oracle one of whose methods has no ``return``."""
    return type("Forgetting", (Knapsack,), {method: lambda self, *asked: None})


@pytest.mark.parametrize("method", ["best", "encode", "others", "price"])
def test_a_missing_return_raises_an_error(method):
    with pytest.raises(InputError, match=rf"Forgetting\.{method}.*did you forget `return`\?"):
        solve(CuttingStock(oracle=forgetting(method)))


@pytest.mark.parametrize("method", ["best", "price"])
def test_a_missing_return_in_a_stage_raises_an_error(method):
    with pytest.raises(InputError, match=r"Forgetting\..*did you forget `return`\?"):
        solve(CuttingStock(oracle=lambda problem: Stages(forgetting(method)(problem), Knapsack(problem))))


@pytest.mark.parametrize("returned", [[], 3.0])
def test_an_invalid_result_raises_an_error(returned):
    oracle = type("Odd", (Pricing,), {"price": lambda self, duals, context: returned})
    with pytest.raises(InputError, match=r"Odd\.price\(\) returned .*: expected a PricingResult"):
        solve(CuttingStock(oracle=lambda problem: oracle()))


@pytest.mark.parametrize("exact", [True, False])
def test_no_structure_is_a_value(exact):
    oracle = type("Empty", (Knapsack,), {"best": lambda self, duals, context: NO_STRUCTURE, "exact": exact})
    result = solve(CuttingStock(oracle=oracle))
    assert result.termination is (Termination.INFEASIBLE if exact else Termination.NO_BOUND)
    assert any("No column was generated: Empty" in note for note in result.notes) == exact
    assert repr(NO_STRUCTURE) == "NO_STRUCTURE"


def test_infeasible_without_any_oracle_has_a_note():
    result = solve(CuttingStock(oracle=lambda problem: []))
    assert result.termination is Termination.INFEASIBLE
    assert any("pricing() returned no oracle" in note for note in result.notes)


@pytest.mark.parametrize("stated", [math.nan, "1", None])
def test_a_stated_reduced_cost_is_a_number(stated):
    class Stating(Knapsack):
        def best(self, duals, context):
            return Best(super().best(duals, context).structure, stated)

    with pytest.raises(InputError, match=r"Stating\.best\(\): the reduced cost: expected a number"):
        solve(CuttingStock(oracle=Stating))


OUT_OF_DOMAIN = [
    *(("multiplicity", value) for value in (0, 0.0, -2, math.nan, -math.inf, "4", None, [1.0], True, 1j)),
    *(("cost_bound", value) for value in (math.nan, "1", math.inf, -math.inf, [1.0], False)),
]


@pytest.mark.parametrize(("name", "value"), OUT_OF_DOMAIN)
def test_an_attribute_out_of_its_domain_is_refused(name, value):
    with pytest.raises(InputError, match=rf"Mine\.{name}.*: expected a .*number") as refused:
        solve(CuttingStock(oracle=type("Mine", (Knapsack,), {name: value})))
    assert len(str(refused.value)) < 200

    class Changing(Knapsack):
        calls = 0

        def best(self, duals, context):
            self.calls += 1
            if self.calls == 2:
                setattr(self, name, value)
            return super().best(duals, context)

    with pytest.raises(InputError, match=rf"Changing\.{name}.*: expected a .*number"):
        solve(CuttingStock(oracle=Changing))


@pytest.mark.parametrize("value", [1, 0.5, 2.5, np.float64(3.0), np.int64(2), math.inf])
def test_numbers_above_zero_are_multiplicities(value):
    check_attributes(type("Mine", (Knapsack,), {"multiplicity": value})(None))
    check_attributes(type("Mine", (Knapsack,), {"cost_bound": -min(value, 9.0)})(None))


@pytest.mark.parametrize(
    ("name", "value"), [("exact", "no"), ("exact", None), ("prices", Count), ("prices", ("Count",)), ("prices", None)]
)
def test_declared_attributes_of_a_wrong_type_raise_errors(name, value):
    with pytest.raises(InputError, match=rf"Mine\.{name}: expected .*, not "):
        solve(CuttingStock(oracle=type("Mine", (Knapsack,), {name: value})))


@pytest.mark.parametrize("name", ["bound", "total"])
def test_a_bound_is_a_number(name):
    class Stating(Knapsack):
        def price(self, duals, context):
            return dataclasses.replace(super().price(duals, context), **{name: "0"})

    with pytest.raises(InputError, match=rf"Stating\.price\(\): the {name} is '0', expected a number or None"):
        solve(CuttingStock(oracle=Stating))


@pytest.mark.parametrize("value", ["453", [453.0], 1j])
def test_a_check_returns_a_number(value):
    problem = CuttingStock()
    problem.check = lambda answer: value
    with pytest.raises(InputError, match=r"check\(\) returns: expected a number"):
        solve(problem)


def test_a_decision_whose_allows_returns_none_raises_an_error():
    @dataclasses.dataclass(frozen=True)
    class Silent(Bound):
        def allows(self, column):
            self.value(column)

    class Rule(BranchingRule):
        def branch(self, solution):
            return [[Silent(("branch", 0), 0.0, 0.0, lambda column: 1.0)]] * 2

    problem = CuttingStock(demands=(3, 3, 3, 3))
    problem.branching = lambda: [Rule()]
    with pytest.raises(InputError, match=r"Silent\.allows\(\).*None.*`return`"):
        solve(problem, method=Method(heuristics=()))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([None], "None .did you forget `return`.. among its columns"),
        (None, "None .did you forget `return`.. as the result's columns"),
        ([1.0], "a float among its columns"),
        (Column(1.0, {}), "a Column as the result's columns"),
        ((column for column in ()), "a generator as the result's columns"),
    ],
)
def test_an_invalid_list_of_columns_raises_an_error(columns, words):
    class Mistaken(Knapsack):
        def price(self, duals, context):
            return PricingResult(columns)

    with pytest.raises(InputError, match=rf"Mistaken\.price\(\) returned {words}"):
        solve(CuttingStock(oracle=Mistaken))


def test_a_bound_may_be_a_fraction():
    class Exact(Knapsack):
        def price(self, duals, context):
            result = super().price(duals, context)
            return dataclasses.replace(result, bound=Fraction(result.bound))

    assert solve(CuttingStock(oracle=Exact)).objective == solve(CuttingStock()).objective
