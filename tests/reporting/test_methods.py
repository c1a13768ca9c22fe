"""Variants of ablations, and invalid ones."""

import pytest

from colgen import ColumnGeneration, Diving, Method, NoStabilization, RestrictedMIP, Wentges, ablation
from colgen.core.errors import InputError
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.reporting.methods import BOUNDINGS, CHOICES, HEURISTICS, PRICINGS, STABILIZATIONS, replace_parts, without
from tests.assignment import Assignment, assignment


def test_sets_can_be_joined():
    sets = (STABILIZATIONS, BOUNDINGS, PRICINGS, CHOICES, HEURISTICS)
    names = [name for each in sets for name in each if name != "default"]
    assert len(set(names)) == len(names)


def test_parts_of_the_problem_are_replaced_in_a_copy():
    problem = assignment()
    own = problem.branching()
    methods = {
        "as it is": Method(),
        "no rules": replace_parts(branching=()),
        "the same": replace_parts(branching=lambda rules: list(rules)),
        "another": assignment(seed=1),
        "made of it": lambda own: assignment(seed=1 if own is problem else 2),
    }
    found = ablation(problem, methods)
    as_it_is, _, same, another, made = found.lines
    assert same.rounds == another.rounds == made.rounds == as_it_is.rounds
    assert "branching" not in vars(problem)
    assert type(problem.branching()[0]) is type(own[0])


def test_cuts_and_rules_are_left_out_one_by_one():
    problem = assignment()
    assert list(without(problem, "branching")) == ["default", "no branching"]
    assert list(without(problem, "separation")) == ["default"]
    assert list(without(problem, "heuristics")) == [
        *("default", "without Exchanging", "without Diving", "without RestrictedMIP", "no heuristics"),
    ]

    class Two(Assignment):
        def branching(self):
            return [*super().branching(), *other.branching()]

    class Other(type(problem.branching()[0])):
        pass

    other = assignment()
    two = Two(problem.costs, problem.sizes, problem.capacities)
    rule = problem.branching()[0]
    two.branching = lambda: [rule, Other(lambda column: {})]
    methods = without(two, "branching")
    assert list(methods) == ["default", "without OnOriginalVariable", "without Other", "no branching"]
    assert [type(each) for each in methods["without Other"](two).branching()] == [type(rule)]
    with pytest.raises(InputError, match="not 'rows'"):
        without(problem, "rows")


def test_heuristics_are_removed_from_the_method_of_the_copy():
    class Noted(RestrictedMIP):
        def __init__(self, problem):
            super().__init__()
            self.problem = problem

    class Stated(Assignment):
        def method(self):
            return Method(heuristics=(Noted(self), Diving()))

    problem = assignment(kind=Stated)
    other = without(problem, "heuristics")["without Diving"](problem)
    (left,) = other.method().heuristics
    assert left.problem is other
    assert other is not problem
    assert type(other.method().bounding) is ColumnGeneration  # the default


def test_one_column_per_call_generates_fewer_columns_per_round():
    instance = CuttingStockInstance(100, tuple(range(21, 61)), (3,) * 40)
    found = ablation(CuttingStock(instance), PRICINGS, relaxation=True)
    many, one = found.lines[0], found.lines[1]
    assert one.generated <= one.rounds
    assert many.generated / many.rounds > 1.5
    assert one.objective == pytest.approx(many.objective)


def test_runs_are_independent():
    smoothing = Wentges()
    found = ablation([assignment(seed=1), assignment(seed=1)], {"Wentges": Method(stabilization=smoothing)})
    first, second = found.lines
    assert (first.rounds, first.generated) == (second.rounds, second.generated)
    assert smoothing.alpha == 0.5


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        ({}, "methods: expected at least one"),
        ([NoStabilization()], "methods: .*not a list"),
        ({1: Method()}, "methods: .*not 1"),
        ({"a": NoStabilization()}, "a: expected a Method.*not a NoStabil"),
        ({"a": dict}, "a: expected a Method"),
        ({"a": {"heuristics": ()}}, "a: expected a Method.*not a dict"),
        ({"a": lambda own: 7}, "makes a problem.*7"),
    ],
)
def test_a_value_that_is_no_method_is_refused(methods, expected):
    with pytest.raises(InputError, match=expected):
        ablation(assignment(), methods)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"branching": 7}, "branching: expected a BranchingRule.*7"),
        ({"rows": ()}, "rows: .*pricing, "),
    ],
)
def test_invalid_parts_are_refused(parts, expected):
    with pytest.raises(InputError, match=expected):
        replace_parts(**parts)
