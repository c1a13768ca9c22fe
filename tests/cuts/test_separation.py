"""The context of separations, when they are called, and how many of their rows are added."""

import dataclasses
import math

import pytest

from colgen import InputError, Method, Row, Sense, Separation, SeparationContext, Solution, TimeLimit, solve
from colgen.cuts.separation import violated_rows
from tests.zoo import Listed, Partitioning, Triples


class OfTheSolution(Separation):
    def separate(self, solution):
        return [Row(("seen", solution.objective))]


class OfTheContext(Separation):
    def separate(self, solution, context):
        return [Row(("seen", context.depth))]


class OfAnything(Separation):
    def separate(self, *given):
        return [Row(("seen", len(given)))]


class Lenient(Separation):
    def separate(self, solution, context=None):
        return [Row(("seen", context is None))]


def seen(separation, solution, context):
    (row,) = violated_rows(separation, solution, context)
    return row.key[1]


def test_separate_with_one_or_two_arguments():
    solution, context = Solution(7.0), SeparationContext(Sense.MINIMIZE, depth=3)
    assert seen(OfTheSolution(), solution, context) == 7.0
    assert seen(OfTheContext(), solution, context) == 3
    assert seen(OfAnything(), solution, context) == 2
    assert seen(Lenient(), solution, context) is False
    patched = OfTheContext()
    patched.separate = lambda solution: [Row(("seen", solution.objective))]  # not a method any more
    assert seen(patched, solution, context) == 7.0
    patched.separate = lambda solution, context: [Row(("seen", context.depth))]
    assert seen(patched, solution, context) == 3


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "None: did you forget `return`"),
        (Row(("seen", 0)), "a Row, expected a list of rows"),
        ([None], "a NoneType among its rows"),
        (1.0, "a float, expected a list of rows"),
    ],
)
def test_an_invalid_list_of_rows_raises_an_error(returned, words):
    separation = OfTheSolution()
    separation.separate = lambda solution: returned
    with pytest.raises(InputError, match=rf"OfTheSolution\.separate\(\) returned {words}"):
        violated_rows(separation, Solution(7.0), SeparationContext(Sense.MINIMIZE))


def test_gap_and_time():
    assert SeparationContext(Sense.MINIMIZE, bound=8.0, incumbent=10.0).gap == pytest.approx(0.2)
    assert SeparationContext(Sense.MAXIMIZE, bound=12.0, incumbent=10.0).gap == pytest.approx(0.2)
    assert SeparationContext(Sense.MINIMIZE, bound=8.0, incumbent=math.inf).gap == math.inf
    assert SeparationContext(Sense.MINIMIZE).gap == math.inf
    assert SeparationContext(Sense.MINIMIZE).deadline == SeparationContext(Sense.MINIMIZE).seconds_left() == math.inf


@pytest.mark.parametrize(("every", "levels"), [(1, [0, 1, 2, 3, 4]), (2, [0, 2, 4]), (3, [0, 3]), (0, [0])])
def test_levels(every, levels):
    separator = OfTheContext()
    separator.every = every
    assert [depth for depth in range(5) if separator.applies(depth)] == levels


class Watched(Triples):
    def __init__(self, problem):
        super().__init__(problem)
        self.seen = []
        self.taken = []

    def separate(self, solution, context):
        self.seen.append(context)
        rows = super().separate(solution)
        self.taken.append(len(rows))
        return rows


class Cut(Partitioning):
    def separation(self):
        self.watched = Watched(self)
        self.watched.every, self.watched.limit = self.how
        return [self.watched]


def run(every=1, limit=None, seed=4, *, method=Method(), **settings):
    problem = Cut(size=9, seed=seed)
    problem.how = every, limit
    return problem, solve(problem, method=dataclasses.replace(method, heuristics=()), **settings)


def test_the_context_has_node_and_depth():
    problem, result = run(stop=TimeLimit(60.0))
    assert result.is_optimal
    seen = [context for context in problem.watched.seen if context.duals is not None]
    depths = {record.number: record.depth for record in result.nodes}
    assert all(context.depth == depths[context.node] for context in seen)
    assert [context.round for context in seen] == sorted(context.round for context in seen)
    assert all(context.sense is Sense.MINIMIZE and context.seconds_left() < 60.0 for context in seen)
    first = seen[0]
    assert (first.node, first.depth) == (0, 0)
    assert first.bound <= result.objective + 1e-6
    assert len(first.duals.array("cover")) == 9
    assert any(context.whole for context in problem.watched.seen)


@pytest.mark.parametrize("every", [0, 2])
def test_fractional_solutions_are_looked_at_on_some_levels_only(every):
    problem, result = run(every=every, limit=1)
    _, expected = run()
    assert result.is_optimal
    assert result.objective == pytest.approx(expected.objective)
    levels = {context.depth for context in problem.watched.seen if not context.whole}
    assert levels <= ({0} if every == 0 else {0, 2, 4, 6, 8})


def test_no_more_rows_than_the_limit_are_added_a_round():
    problem, result = run(limit=1, seed=7)
    _, expected = run(seed=7)
    assert max(problem.watched.taken) > 1
    assert max(iteration.new_rows for iteration in result.iterations) == 1
    assert result.is_optimal
    assert result.objective == pytest.approx(expected.objective)


def test_integer_solutions_are_separated_at_every_level():
    """A separation that defines what an answer is, and asks for fractional solutions at the root alone."""

    class Few(Separation):
        every = 0

        def separate(self, solution, context):
            # At most three sets: an answer by definition, not by the rows of the template.
            used = sum(value for _, value in solution.columns)
            return [Row(("few", None), upper=3.0, coefficient=lambda column: 1.0)] if used > 3.0 + 1e-6 else []

    class Charged(Listed):
        def value(self, items, duals, context):
            return super().value(items, duals, context) - duals.get(("few", None))

    class Defined(Partitioning):
        def separation(self):
            return [Few()]

    result = solve(Defined(size=8, seed=1, cuts=False, oracle=Charged), method=Method(heuristics=()))
    assert result.is_optimal
    assert len(result.answer) <= 3


def test_a_separation_may_yield_its_rows():
    class Yielding(Triples):
        def separate(self, solution):
            yield from super().separate(solution)

    class Cut(Partitioning):
        def separation(self):
            return [Yielding(self)]

    expected, found = solve(Partitioning(seed=3), relaxation=True), solve(Cut(seed=3), relaxation=True)
    assert solve(Partitioning(seed=3, cuts=False), relaxation=True).objective < expected.objective - 0.1
    assert found.objective == pytest.approx(expected.objective)
