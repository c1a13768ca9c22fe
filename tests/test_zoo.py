"""The conformance kit finds nothing in correct problems of every kind, and names the mistakes of wrong ones."""

import ast
import dataclasses
import re

import pytest

from colgen import Wentges, solve
from colgen.testing.conformance import check_problem
from tests import zoo
from tests.amounts import examples
from tests.test_pages import blocks
from tests.toys import CuttingStock, Enumerated, Partition, Program, SetPartitioning

GENEROUS = 60.0
"""Limit in seconds of a check with findings, which ends long before."""

SHORT = examples(0.3, 1.0)
"""Limit in seconds of a check without findings, which continues to its limit."""

SCALES = (1e-9, 1e-4, 1e5, 1e9)

CORRECT = {
    "partitioning": zoo.Partitioning,
    "maximised": lambda: zoo.Partitioning(maximize=True, seed=1),
    "covering": lambda: zoo.Partitioning(cover=True),
    "packing": lambda: zoo.Partitioning(maximize=True, cover=True, seed=2),
    "without cuts": lambda: zoo.Partitioning(cuts=False, size=6),
    "larger": lambda: zoo.Partitioning(size=7, seed=3),
    "silent": lambda: zoo.Partitioning(oracle=zoo.Silent),
    "bounds only": lambda: zoo.Partitioning(oracle=zoo.Bounding),
    "bounds only, maximised": lambda: zoo.Partitioning(oracle=zoo.Bounding, maximize=True, seed=4),
    "arrays": lambda: zoo.Partitioning(oracle=zoo.Arrays),
    "a relaxation's bound": lambda: zoo.Partitioning(oracle=zoo.Relaxing),
    "a heuristic": lambda: zoo.Partitioning(oracle=zoo.Guess),
    "stages": lambda: zoo.Partitioning(oracle=zoo.Staged),
    "improving only": lambda: zoo.Partitioning(oracle=zoo.Improving),
    "totals": lambda: zoo.Partitioning(oracle=zoo.Totals),
    "a memory": zoo.Remembering,
    "columns with rows": zoo.Facilities,
    "columns with rows, larger": lambda: zoo.Facilities(customers=6, places=4, seed=1),
    "ranges": zoo.Ranges,
    "ranges, maximised": lambda: zoo.Ranges(maximize=True),
    "rows in another unit": lambda: zoo.Ranges(unit=1e-4),
    "rows in a large unit": lambda: zoo.Ranges(unit=1e5, seed=1),
    "infeasible": lambda: SetPartitioning(Partition(3, ((1.0, frozenset({0, 1})), (1.0, frozenset({1, 2}))))),
    "cutting stock": lambda: CuttingStock((7, 12, 9, 6)),
    "cutting stock, maximised": lambda: CuttingStock((7, 12, 9, 6), cost=-1.0),
    "static variables": lambda: Enumerated(PROGRAM),
    "static variables, maximised": lambda: Enumerated(PROGRAM.negated(), many=2, states=False),
    "Farley's bound": lambda: Enumerated(PROGRAM, farley=True),
    **{f"partitioning at {s:g}": lambda s=s: zoo.Partitioning(scale=s) for s in SCALES},
    **{f"packing at {s:g}": lambda s=s: zoo.Partitioning(maximize=True, cover=True, scale=s) for s in SCALES},
    **{f"facilities at {s:g}": lambda s=s: zoo.Facilities(scale=s) for s in SCALES},
    **{f"ranges at {s:g}": lambda s=s: zoo.Ranges(scale=s, maximize=s < 1) for s in SCALES},
}

PROGRAM = Program(
    maximize=False,
    row_lower=(2.0, -1.0, -float("inf")),
    row_upper=(2.0, 4.0, 6.0),
    groups=(
        ((3.0, (1.0, 0.0, 2.0)), (2.0, (0.0, 1.0, 1.0)), (4.5, (2.0, 1.0, 0.0))),
        ((1.0, (1.0, -1.0, 1.0)), (2.5, (0.0, 2.0, 1.0))),
    ),
    limits=(3.0, 2.0),
    variables=((1.5, (0.5, 1.0, 0.0), 0.0, 3.0, True), (-0.5, (0.0, 1.0, 1.0), -1.0, 2.0, False)),
    offset=10.0,
)


@pytest.mark.parametrize("name", CORRECT)
def test_nothing_is_found_in_a_correct_problem(name):
    report = check_problem(CORRECT[name](), seconds=SHORT)
    assert report.ok, report
    assert report.points, report


def definitions(page):
    """Return the definitions of a page without executing its other statements."""
    names: dict = {"__name__": "page"}
    kept = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    for language, text in blocks(page):
        if language == "python":
            tree = ast.parse(text)
            tree.body = [n for n in tree.body if isinstance(n, kept) or _sets_an_attribute(n)]
            exec(compile(tree, page, "exec"), names)
    return names


def _sets_an_attribute(node):
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.targets[0].value.id[0].isupper()
    )


@pytest.mark.parametrize("instance", [(3, 6, 1), (3, 7, 0), (4, 8, 0)])
@pytest.mark.parametrize("kind", ["GeneralizedAssignment", "WithCuts", "BranchPriceAndCut"])
def test_nothing_is_found_in_the_code_of_the_tutorial(kind, instance):
    names = definitions("docs/tutorial.md")
    report = check_problem(names[kind](names["random_data"](*instance)), seconds=SHORT)
    assert report.ok, report


@pytest.mark.parametrize("seed", range(3))
def test_correct_problems_are_solved(seed):
    for problem in (zoo.Partitioning(seed=seed), zoo.Facilities(seed=seed), zoo.Ranges(seed=seed)):
        assert solve(problem).is_optimal


@pytest.mark.parametrize("make", zoo.MISTAKES, ids=lambda make: make.__name__)
def test_each_mistake_is_found_and_named(make):
    problem = make()
    method = problem.method  # smoothing from the first round yields more dual points
    problem.method = lambda: dataclasses.replace(method(), stabilization=Wentges())
    report = check_problem(problem, seconds=GENEROUS)
    kind, pattern = make.expected
    messages = [str(finding) for finding in report.findings if finding.kind == kind]
    assert any(re.search(pattern, message) for message in messages), report


def test_there_are_enough_mistakes():
    assert len(zoo.MISTAKES) >= 25
