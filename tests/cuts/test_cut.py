"""Cuts that change pricing: their coefficients, the oracles that may price them, and the optimum with their duals."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Best, Column, Method, OraclePricing, Problem, RestrictedMIP, RyanFoster, Separation, solve
from colgen.core.activity import activities, activity
from colgen.core.column_batch import Columns
from colgen.core.errors import FormulationError
from colgen.core.solution import Solution
from colgen.core.terms import Box, Count, Linear
from colgen.cuts.cut import Cuts

ROWS = range(7)
"""A set packing problem whose columns are the sets of two or three rows."""

SETS = [s for size in (2, 3) for s in itertools.combinations(ROWS, size)]
WORTH = dict(zip(SETS, np.random.default_rng(5).integers(5, 30, len(SETS)).tolist(), strict=True))


class Sets(OraclePricing):
    """Looks at every set; what a cut's dual value takes from it is read from the terms."""

    multiplicity = 3.0
    prices = frozenset({Count, Linear, Box})

    def best(self, duals, context):
        pay = dict(duals.items("row"))  # linear terms over the rows are among these
        counted, boxes = duals.terms(Count), duals.terms(Box)
        arrays = counted.arrays({i: i for i in ROWS})
        best = None
        for chosen, worth in WORTH.items():
            if not context.allows(self.encode(chosen)):
                continue
            reduced = context.cost_weight * worth - sum(pay[i] for i in chosen)
            for k, value in enumerate(arrays.values.tolist()):
                mine = slice(arrays.starts[k], arrays.starts[k + 1])
                total = arrays.weights[mine][np.isin(arrays.members[mine], chosen)].sum()
                reduced -= value * (total // arrays.divisors[k])
            for term, value in zip(boxes.terms, boxes.values, strict=True):
                reduced -= value * all(low <= (i in chosen) <= high for i, low, high in term.bounds)
            if best is None or reduced > best.reduced_cost:
                best = Best(chosen, reduced)
        return best

    def encode(self, chosen):
        return Column(WORTH[chosen], {("row", i): 1.0 for i in chosen}, chosen)


FAMILY = Cuts("subset_row")
TRIPLES = [FAMILY.cut(Count("row", t, (1, 1, 1), 2), upper=1.0) for t in itertools.combinations(ROWS, 3)]


FIVES = list(itertools.combinations(ROWS, 5))


class Given(Separation):
    def __init__(self, rows):
        self.rows = rows

    def separate(self, solution):
        return [r for r, found in zip(self.rows, activities(self.rows, solution), strict=True) if found.excess > 1e-6]


class Packing(Problem):
    def __init__(self, cuts=(), oracle=Sets):
        self.cuts, self.oracle = cuts, oracle

    def master(self):
        m = pyo.ConcreteModel()
        m.idle = pyo.Var(ROWS, domain=pyo.NonNegativeReals)
        m.row = pyo.Constraint(ROWS, rule=lambda m, i: m.idle[i] == 1)
        m.worth = pyo.Objective(expr=0, sense=pyo.maximize)
        return m

    def pricing(self):
        return self.oracle()

    def separation(self):
        return [Given(self.cuts)] if self.cuts else []

    def branching(self):
        return [RyanFoster("row")]

    def method(self):
        return Method(heuristics=[RestrictedMIP()])


def complete(rows, whole=False):
    """The program of all columns and these cuts, by scipy alone."""
    from scipy import optimize

    columns = [Sets().encode(s) for s in SETS]
    packed = np.array([[float(i in s) for s in SETS] for i in ROWS])
    cut = np.array([[activity(row, Solution(0.0, ((c, 1.0),))).value for c in columns] for row in rows])
    matrix = np.vstack([packed, cut]) if rows else packed
    upper = [1.0] * len(ROWS) + [row.upper for row in rows]
    lower = [-np.inf] * len(ROWS) + [row.lower for row in rows]
    answer = optimize.milp(
        [-WORTH[s] for s in SETS],
        constraints=optimize.LinearConstraint(matrix, lower, upper),
        integrality=np.full(len(SETS), int(whole)),
    )
    return -answer.fun


@pytest.mark.parametrize(
    "rows",
    [
        (),
        TRIPLES,
        [*TRIPLES, *(FAMILY.cut(Count("row", f, (2, 1, 1, 1, 1), 3), upper=2.0) for f in FIVES)],
        [Cuts("few").cut(Linear("row", (0, 1, 3), (2.0, 1.0, 0.5)), upper=1.5)],
        [Cuts("kind").cut(Box("row", ((0, 1, 1), (1, 0, 0))), upper=0.25)],
    ],
)
def test_with_the_duals_of_cuts_the_relaxation_is_that_of_the_complete_program(rows):
    result = solve(Packing(rows), relaxation=True)
    assert result.objective == pytest.approx(complete(rows))
    assert result.dual_bound == pytest.approx(result.objective)
    assert not rows or result.rows_generated > 0


def test_subset_rows_keep_the_answers_and_tighten_the_relaxation():
    whole = complete((), whole=True)
    assert solve(Packing()).objective == pytest.approx(whole)
    cut = solve(Packing(TRIPLES))
    assert cut.objective == pytest.approx(whole)
    assert whole - 1e-6 <= complete(TRIPLES) < complete(())
    assert cut.root_bound == pytest.approx(complete(TRIPLES), abs=1.0)


# --- what terms count ------------------------------------------------------------------------------------------------


def naive(term, amounts, route=None):
    """The definition, one column."""
    if isinstance(term, Linear):
        return sum(c * amounts.get(i, 0) for i, c in zip(term.members, term.coefficients, strict=True))
    if isinstance(term, Box):
        return float(all(low <= amounts.get(i, 0) <= high for i, low, high in term.bounds))
    if term.memory is None:
        weight = dict(zip(term.members, term.weights, strict=True))
        return sum(w * amounts.get(i, 0) for i, w in weight.items()) // term.divisor
    state = count = 0
    for v in route:
        state = state + dict(zip(term.members, term.weights, strict=True)).get(v, 0) if v in term.memory else 0
        if state >= term.divisor:
            state, count = state - term.divisor, count + 1
    return count


def test_terms_of_a_batch_match_their_definition():
    rng = np.random.default_rng(3)
    routes = [tuple(rng.integers(0, 8, rng.integers(1, 9)).tolist()) for _ in range(40)]
    amounts = [{v: route.count(v) for v in set(route)} for route in routes]
    columns = [
        Column(1.0, {("other", 0): 1.0, **{("row", v): float(a) for v, a in sorted(mine.items())}}, route)
        for mine, route in zip(amounts, routes, strict=True)
    ]
    terms = [
        Count("row", (0, 2, 5), (1, 1, 1), 2),
        Count("row", (0, 2, 5, 6), (1, 1, 2, 2), 3, memory=(0, 2, 3, 5, 6)),
        Count("row", (1, 2, 3), (1, 1, 1), 2, memory=(1, 2, 3)),
        Linear("row", (1, 7), (0.5, -2.0)),
        Box("row", ((1, 1, 9), (2, 0, 1))),
    ]
    expected = [[naive(t, a, route) for t in terms] for a, route in zip(amounts, routes, strict=True)]
    by_rows = Cuts("cut", order=lambda column: column.structure)
    by_function = Cuts("cut", order=lambda column: column.structure, components=lambda c: {
        v: c.structure.count(v) for v in c.structure
    })  # fmt: skip
    keys = [("other", 0), *(("row", v) for v in range(8))]
    batch = Columns.of(columns).over(keys, {key: k for k, key in enumerate(keys)})
    for family, given in itertools.product((by_rows, by_function), (columns, batch)):
        assert family.coefficients(given, terms).tolist() == expected
    rows = [by_rows.cut(term, upper=1.0) for term in terms]
    solution = Solution(0.0, tuple((column, 0.5) for column in columns))
    assert [a.value for a in activities(rows, solution)] == pytest.approx([activity(r, solution).value for r in rows])
    assert by_rows.coefficients([], terms).shape == (0, 5)
    # A memory never counts more than none.
    whole = [Count(t.block, t.members, t.weights, t.divisor) for t in terms[1:3]]
    assert (by_rows.coefficients(columns, whole) >= by_rows.coefficients(columns, terms[1:3])).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cuts("cut").coefficients([Column(1.0, {})], [7]), "the index 7, expected a term"),
        (
            lambda: Cuts("cut").coefficients([Column(1.0, {("row", 1): 0.5})], [Count("row", (1,), (1,), 2)]),
            "not integers",
        ),
        (
            lambda: Cuts("cut").coefficients([Column(1.0, {})], [Count("row", (1,), (1,), 2, memory=(1,))]),
            "pass order=",
        ),
    ],
)
def test_invalid_terms_raise_errors(make, message):
    with pytest.raises(FormulationError, match=message):
        make()


def test_cached_terms_are_compared_by_identity():
    family = Cuts("cut", components=lambda column: dict(column.structure))
    terms = [Linear("x", ("a", "b"), (1.0, 2.0)), Count("x", ("a", "b", "c"), (1, 1, 1), 2)]
    others = [Linear("x", ("b",), (7.0,)), Count("x", ("a", "c"), (1, 1), 2)]
    columns = [Column(1.0, {}, (("a", 2.0), ("b", 1.0))), Column(1.0, {}, (("c", 1.0), ("b", 1.0)))]
    first = family.coefficients(columns, terms)
    assert first.tolist() == [[4.0, 1.0], [2.0, 1.0]]
    assert family.coefficients(columns[::-1], terms).tolist() == first[::-1].tolist()
    (known,) = family._known.values()
    family._known[tuple(map(id, others))] = known  # as after coming from another process
    assert family.coefficients(columns, others).tolist() == [[7.0, 1.0], [7.0, 0.0]]
