"""A subclass that changes the result of ``super().master()`` is solved as changed, or refused (promise 4).

The truth is the same restricted master without anything that a template adds to it: its rows compiled from the Pyomo
model, its oracles, separations and branching rules, and none of its guesses, heuristics, bounds and reductions.
"""

import dataclasses
import functools
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Method, Problem, RestrictedMIP, Rows, Sense, Termination, Wentges, solve
from colgen.core.errors import InputError
from colgen.master.linear_master import LinearMaster
from colgen.master.statement import stated_rows
from colgen.method import CLAIMS
from colgen.model.rows import compile_master
from colgen.pricing.derived import Unlimited
from colgen.problems.assignment import Assignment
from colgen.problems.assignment.instance import random as random_machines
from colgen.problems.chain_map import ChainMAP
from colgen.problems.chain_map.instance import random as random_chains
from colgen.problems.colouring import Colouring
from colgen.problems.colouring.instance import random as random_graph
from colgen.problems.coreference import Coreference, LazyAllLink
from colgen.problems.coreference.instance import CoreferenceInstance, communities
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.grandparent_parsing import AutomataParsing, GrandparentParsing
from colgen.problems.grandparent_parsing.instance import random as random_trees
from colgen.problems.nonlocal_parsing import NonlocalParsing, ParsingByColumns
from colgen.problems.nonlocal_parsing.instance import random as random_parsing
from colgen.problems.title_path import LazyPath, TitlePath
from colgen.problems.title_path.instance import random as random_titles
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing.instance import random as random_customers
from tests import toys


def twice_the_first(model):
    """Double the side of the first row, or set it to 1 if it is 0."""
    if isinstance(model, Rows):
        for key, lower, upper in [*zip(model.row_keys, model.row_lower, model.row_upper, strict=True)][:1]:
            model.change_rows(key, lower=changed_side(lower), upper=changed_side(upper))
        return
    for row in model.component_data_objects(pyo.Constraint, active=True):
        lower, body, upper = row.to_bounded_expression(evaluate_bounds=True)
        row.set_value((changed_side(lower), body, changed_side(upper)))
        return


def changed_side(side):
    return None if side is None else 2.0 * side or 1.0


def all_once_more(model):
    """Increase every row's sides by one."""
    if isinstance(model, Rows):
        for name, block in model.row_blocks.items():
            lower, upper = model.row_lower[block.positions] + 1.0, model.row_upper[block.positions] + 1.0
            model.change_rows(name, lower=lower, upper=upper)
        return
    for row in model.component_data_objects(pyo.Constraint, active=True):
        lower, body, upper = row.to_bounded_expression(evaluate_bounds=True)
        row.set_value((lower if lower is None else lower + 1.0, body, upper if upper is None else upper + 1.0))


def at_least_as_much_of_the_last(model):
    """Add a row over two of the model's own variables."""
    if isinstance(model, Rows):
        one, other = model.column_keys[-2:]
        model.add_rows("of_the_subclass", terms={one: 1.0, other: -1.0}, lower=0.0)
        return
    *_, one, other = model.component_data_objects(pyo.Var)
    model.of_the_subclass = pyo.Constraint(expr=one - other >= 0.0)


def dearer_first(model):
    """Give the first of the model's own variables a cost."""
    if isinstance(model, Rows):
        model.change_variables(model.column_keys[0], cost=model.costs[0] - 0.25 * model.sense.sign)
        return
    objective = next(model.component_data_objects(pyo.Objective))
    first = next(model.component_data_objects(pyo.Var))
    objective.set_value(objective.expr + (-0.25 if objective.sense == pyo.maximize else 0.25) * first)


def rolls(seed):
    return CuttingStockInstance(20, (5 + seed, 7, 9), (3, 2 + seed, 2))


STATED = {
    "assignment": lambda kind, seed: kind(random_machines(3, 7, seed)),
    "assignment with cuts": lambda kind, seed: kind(random_machines(3, 7, seed), cuts=True),
    "colouring": lambda kind, seed: kind(random_graph(7, seed)),
    "colouring with cuts": lambda kind, seed: kind(random_graph(7, seed), cuts=True),
    "coreference": lambda kind, seed: kind(communities(6, seed, noise=0.3)),
    "coreference, lazy": lambda kind, seed: kind(communities(5, seed, noise=0.3)),
    "cutting stock": lambda kind, seed: kind(rolls(seed)),
    "cutting stock, exchanges": lambda kind, seed: kind(rolls(seed), exchanges="ranks"),
    "cutting stock with conflicts": lambda kind, seed: kind(replace(rolls(seed), conflicts=((0, 1),))),
    "grandparents": lambda kind, seed: kind(random_trees(4, seed, strength=2.0)),
    "siblings": lambda kind, seed: kind(random_trees(4, seed, siblings=True, strength=2.0)),
    "parsing by columns": lambda kind, seed: kind(random_parsing(4, seed, strength=2.0)),
    "title path, lazy": lambda kind, seed: kind(random_titles(6, 3, seed)),
    "routes": lambda kind, seed: kind(random_customers(seed, customers=5)),
}

KINDS = {
    "assignment": Assignment,
    "colouring": Colouring,
    "coreference": Coreference,
    "coreference, lazy": LazyAllLink,
    "cutting stock": CuttingStock,
    "grandparents": GrandparentParsing,
    "siblings": GrandparentParsing,
    "parsing by columns": ParsingByColumns,
    "title path, lazy": LazyPath,
    "routes": VehicleRouting,
}


def kind_of(name):
    return KINDS[name] if name in KINDS else KINDS[name.split(",")[0].split(" with")[0]]


def more_for_nothing(model):
    """Add a constant to the objective that is not a multiple of the step."""
    if isinstance(model, Rows):
        model.offset += 10.3
        return
    objective = next(model.component_data_objects(pyo.Objective))
    objective.set_value(objective.expr + 10.3)


def a_variable_of_its_own(model):
    """Add a variable that improves the objective."""
    if isinstance(model, Rows):
        model.add_variables("of_the_subclass", upper=1.0, cost=2.0 * model.sense.sign)
        return
    model.of_the_subclass = pyo.Var(bounds=(0.0, 1.0))
    objective = next(model.component_data_objects(pyo.Objective))
    objective.set_value(objective.expr + (2.0 if objective.sense == pyo.maximize else -2.0) * model.of_the_subclass)


ADDING = (at_least_as_much_of_the_last, dearer_first, more_for_nothing, a_variable_of_its_own)

CHANGES = [twice_the_first, all_once_more, *ADDING]


@functools.cache
def subclass(kind, change, pyomo=False):
    """A subclass that changes rows, or the Pyomo model that is made of them."""

    def master(self):
        model = super(changed, self).master()
        if pyomo and isinstance(model, Rows):
            model = model.pyomo()
        change(model)
        return model

    changed = type(f"Changed{kind.__name__}", (kind,), {"master": master})
    return changed


class Bare(Problem):
    """The rows, oracles and separations of a problem, its branching rules if they hold, and nothing else of it."""

    def __init__(self, problem, *, branches):
        self.problem = problem
        self.branches = branches

    @property
    def scale(self):
        return self.problem.scale

    def master(self):
        return LinearMaster(stated_rows(self.problem.master()))

    def pricing(self):
        pricing = self.problem.pricing()
        oracles = pricing if isinstance(pricing, (list, tuple)) else [pricing]
        return [Unlimited(oracle) for oracle in oracles]

    def separation(self):
        return self.problem.separation()

    def branching(self):
        return self.problem.branching() if self.branches else ()

    def check(self, answer):
        return None

    def method(self):
        return Method(heuristics=())


@pytest.mark.parametrize("relaxation", [True, False])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", STATED)
def test_changed_rows_of_a_subclass_are_solved(name, change, seed, relaxation):
    changed = functools.partial(STATED[name], subclass(kind_of(name), change, pyomo=seed == 1), seed)
    adds = change in ADDING
    truth = solve(Bare(changed(), branches=adds), relaxation=relaxation)
    result = solve(changed(), relaxation=relaxation)
    if adds or Termination.INFEASIBLE in (result.termination, truth.termination):
        assert result.termination is truth.termination
    if result.is_optimal and truth.is_optimal:
        assert result.objective == pytest.approx(truth.objective, abs=1e-6)
    assert not result.sense.is_better(truth.objective, result.dual_bound, 1e-6)
    assert not result.sense.is_better(result.objective, truth.dual_bound, 1e-6)


def test_claims_of_a_template_for_its_own_rows_are_omitted_with_a_note():
    (note,) = solve(STATED["cutting stock"](subclass(CuttingStock, twice_the_first), 0)).notes[:1]
    assert "ChangedCuttingStock has other rows than its template" in note
    assert "heuristics, " in note
    assert "branching()" in note
    added = solve(STATED["assignment"](subclass(Assignment, at_least_as_much_of_the_last), 0)).notes[0]
    assert "bounding, " in added
    assert "branching()" not in added


@pytest.mark.parametrize("name", ["cutting stock", "assignment", "colouring", "routes"])
def test_a_subclass_that_changes_rows_and_its_method_inherits_no_claim(name):
    class Smoothed(subclass(kind_of(name), twice_the_first)):
        def method(self):
            return dataclasses.replace(super().method(), stabilization=Wentges(0.2), heuristics=[RestrictedMIP()])

    problem = STATED[name](Smoothed, 0)
    method = problem.method()
    assert {field for field in CLAIMS if getattr(method, field) is not None} == {"heuristics"}
    result = solve(problem)
    assert not any("heuristics" in note for note in result.notes)
    assert result.objective == pytest.approx(solve(STATED[name](subclass(kind_of(name), twice_the_first), 0)).objective)


@pytest.mark.parametrize("name", STATED)
def test_the_same_rows_in_another_form_keep_the_claims_of_a_template(name):
    problem = STATED[name](subclass(kind_of(name), lambda model: None, pyomo=True), 0)
    result = solve(problem)
    assert result.is_optimal
    assert not any("has other rows than its template" in note for note in result.notes)


@pytest.mark.parametrize("name", STATED)
def test_the_pyomo_model_of_rows_is_compiled_to_the_same_rows(name):
    rows = STATED[name](kind_of(name), 0).master()
    if isinstance(rows, Rows):
        again = compile_master(rows.pyomo())
        assert again.is_same(rows)
        assert (again.row_keys, again.column_keys) == (rows.row_keys, rows.column_keys)
        assert (again.objective, again.solved_by) == (rows.objective, rows.solved_by)


def test_a_subclass_can_require_two_clusters_per_mention():
    class Twice(Coreference):
        def master(self):
            rows = super().master()
            rows.change_rows("cover", lower=2.0, upper=2.0)
            return rows

    class TwiceInPyomo(Coreference):
        def master(self):
            m = super().master().pyomo()
            for i in m.cover:
                m.cover[i].set_value(m.uncovered[i] == 2)
            return m

    instance = CoreferenceInstance(np.array([[0.0, 2.0], [2.0, 0.0]]))
    assert solve(Coreference(instance)).objective == 2.0
    assert solve(Twice(instance)).objective == 4.0
    assert solve(TwiceInPyomo(instance)).objective == 4.0


NOT_OVER_ROWS = {
    "chains": (ChainMAP, random_chains(0, length=3, labels=3)),
    "title path": (TitlePath, random_titles(6, 3, 0)),
    "non-local parsing": (NonlocalParsing, random_parsing(4, 0)),
    "automata": (AutomataParsing, random_trees(4, 0)),
}


def in_pyomo():
    m = pyo.ConcreteModel()
    m.y = pyo.Var(bounds=(0.0, 1.0))
    m.cost = pyo.Objective(expr=m.y)
    return m


@pytest.mark.parametrize("stated", [in_pyomo, lambda: Rows(Sense.MAXIMIZE)])
@pytest.mark.parametrize("name", NOT_OVER_ROWS)
def test_rows_are_refused_where_the_restricted_master_has_none(name, stated):
    kind, instance = NOT_OVER_ROWS[name]
    changed = type("Changed", (kind,), {"master": lambda self: stated()})
    with pytest.raises(InputError, match=rf"Changed\.master\(\) returns rows, but the oracles of {kind.__name__}"):
        solve(changed(instance))
    assert solve(kind(instance)).is_optimal


def fixed_by(name, value, seed, *, row):
    """The template with one of its model's variables at a value: fixed, or by bounds, or by a row."""

    def change(model):
        if isinstance(model, Rows):
            key = model.column_keys[seed]
            if row:
                model.add_rows("of_the_subclass", terms={key: 1.0}, lower=value, upper=value)
            else:
                model.change_variables(key, lower=value, upper=value)
            return
        variables = list(model.component_data_objects(pyo.Var))
        if row:
            model.of_the_subclass = pyo.Constraint(expr=variables[seed] == value)
        else:
            variables[seed].fix(value)

    return STATED[name](subclass(kind_of(name), change, pyomo=seed == 1), 1)


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("name", STATED)
def test_fixing_a_variable_equals_fixing_it_by_a_row(name, value):
    for seed in range(2):
        fixed, held = (solve(fixed_by(name, value, seed, row=row)) for row in (False, True))
        assert (Termination.INFEASIBLE is fixed.termination) == (Termination.INFEASIBLE is held.termination)
        assert fixed.objective == pytest.approx(held.objective, abs=1e-6)


def test_bounds_and_costs_of_arcs_of_a_subclass_are_used():
    def change(model):
        model.change_variables(("z", (0, 1)), upper=0.0)
        (z,) = model.column_blocks["z"].positions[[model.column_blocks["z"].indices.index((0, 2))]]
        model.change_variables(("z", (0, 2)), cost=model.costs[z] + 5.0)

    plain = solve(STATED["grandparents"](GrandparentParsing, 1))
    changed = solve(STATED["grandparents"](subclass(GrandparentParsing, change), 1))
    assert changed.answer[0] != 0
    assert changed.objective > plain.objective


def test_a_row_needed_by_clusters_is_kept():
    def change(model):
        next(model.component_data_objects(pyo.Constraint)).deactivate()

    with pytest.raises(InputError, match=r"has 5 rows.* expected 6.*change the bounds"):
        solve(STATED["coreference"](subclass(Coreference, change, pyomo=True), 1))


def test_a_problem_without_a_template_omits_nothing():
    result = solve(toys.CuttingStock())
    assert result.is_optimal
    assert not result.notes
