"""Misspelt hooks are refused before any work; a user's helpers are not (promise 12)."""

import re

import pytest

from colgen import BranchingRule, InputError, OraclePricing, Problem, RyanFoster, Separation, solve
from colgen.core.hooks import check_hooks
from colgen.core.renamed import METHODS
from colgen.master.linear_master import LinearMaster
from colgen.model.rows import compile_master
from tests.toys import CuttingStock, Knapsack


def made(kind, **members):
    return type("Mine", (kind,), members)


def unready(kind):
    """Return an object of a class that may lack abstract methods."""
    kind.__abstractmethods__ = frozenset()
    return object.__new__(kind)


MISSPELT = [
    (Problem, "separations", lambda self: (), "separation()"),
    (Problem, "branch", lambda self: (), "branching()"),
    (Problem, "warmstart", lambda self, budget: None, "warm_start()"),
    (Problem, "metod", lambda self: None, "method()"),
    (Problem, "objective_steps", 1.0, "objective_step"),
    (OraclePricing, "multiplicty", 3.0, "multiplicity"),
    (OraclePricing, "cost_bounds", 3.0, "cost_bound"),
    (OraclePricing, "other", lambda self, structure, duals, context: (), "others()"),
    (Separation, "seperate", lambda self, solution, context: (), "separate()"),
    (BranchingRule, "candidate", lambda self, solution: (), "candidates()"),
]


@pytest.mark.parametrize(("kind", "name", "member", "meant"), MISSPELT, ids=[name for _, name, _, _ in MISSPELT])
def test_a_misspelt_hook_is_reported_with_the_intended_one(kind, name, member, meant):
    with pytest.raises(InputError) as refused:
        check_hooks(unready(made(kind, **{name: member})))
    assert f"did you mean {meant}?" in str(refused.value)
    assert f"Mine.{name}" in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (Problem, {"separations": lambda self, node: ()}),  # the engine would pass no argument
        (Problem, {"branch": lambda self: (), "branching": lambda self: self.used()}),  # the hook itself is spelt right
        (Problem, {"answers": lambda self: ()}),
        (Problem, {"_separation": lambda self: ()}),
        (Problem, {"separations": ()}),  # data is not a method
        (Problem, {"costs": lambda self: (), "widths": (1, 2), "patterns": lambda self: ()}),
        (Problem, {"choices": lambda self: (), "solve_it": lambda self: self.choices()}),  # a helper with a caller
        (RyanFoster, {"pairs": lambda self, solution: ()}),
        (
            Problem,
            {"write": lambda self, path: None, "column": lambda self, members: (), "codes": lambda self: ()},
        ),
        (Knapsack, {"names": ("a", "b")}),
    ],
)
def test_helpers_are_accepted(kind, members):
    check_hooks(unready(made(kind, **members)))


@pytest.mark.parametrize("name", METHODS["Problem"])
def test_a_method_with_an_old_name_is_refused_with_the_new_one(name):
    expected = rf"\.{name}\(\) is never called: write {re.escape(METHODS['Problem'][name])}"
    with pytest.raises(InputError, match=r"Mine" + expected):
        solve(made(CuttingStock, **{name: lambda self: ()})())
    problem = CuttingStock()
    setattr(problem, name, lambda: ())
    with pytest.raises(InputError, match=r"CuttingStock" + expected):
        solve(problem)


@pytest.mark.parametrize("name", METHODS["Problem"])
def test_a_call_of_an_old_name_reports_the_new_one(name):
    with pytest.raises(AttributeError, match=re.escape(f"write {METHODS['Problem'][name]}")):
        getattr(CuttingStock(), name)()


def test_a_missing_attribute_in_a_property_is_reported():
    class Lacking(CuttingStock):
        @property
        def scale(self):
            return self.sizes

    with pytest.raises(AttributeError, match="no attribute 'sizes'"):
        _ = Lacking().scale


def test_data_with_an_old_name_is_accepted():
    assert solve(made(CuttingStock, choice=3, complete=True)()).is_optimal


def test_a_misspelt_hook_is_refused_before_any_work():
    def master(self):
        raise AssertionError

    with pytest.raises(InputError, match=r"Mine\.separations\(\) is never used: did you mean separation\(\)\?"):
        solve(made(CuttingStock, separations=lambda self: (), master=master)())


def test_hooks_of_a_problems_parts_are_checked_too():
    oracle = made(Knapsack, multiplicty=4.0)
    with pytest.raises(InputError, match="did you mean multiplicity"):
        solve(CuttingStock(oracle=oracle))


def test_hooks_of_a_master_are_checked_too():
    rows = compile_master(CuttingStock().master())
    mine = made(
        LinearMaster, __init__=lambda self: LinearMaster.__init__(self, rows), solutoin=lambda self, solved: None
    )
    with pytest.raises(InputError, match="did you mean solution"):
        solve(made(CuttingStock, master=lambda self: mine())())
