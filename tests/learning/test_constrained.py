"""Best structures under constraints, compared with enumeration."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.learning.reference import labellings, partitions, trees
from colgen import solve
from colgen.core.errors import InputError
from colgen.learning import (
    Chains,
    Constraint,
    EnumeratedStructures,
    Parts,
    ProjectiveTrees,
    Trees,
    at_least,
    at_most,
    best_structure,
    cannot_link,
    constrained,
    constrained_best,
    equal,
    must_link,
)
from colgen.learning.oracles import structure_from
from colgen.problems.learning_oracles import Clusterings, SecondOrderTrees

SHAPES = {
    "chain": (Chains(), [(4, 3), (3, 3)], [Chains.structure(np.array(x), 3) for x in labellings(4, 3)]),
    "short chain": (Chains(), [(1, 2), (2, 2)], [Chains.structure(np.array(x), 2) for x in labellings(1, 2)]),
    "tree": (Trees(), [(5, 5)], [Trees.structure(np.array(x)) for x in trees(4)]),
    "one root": (Trees(single_root=True), [(4, 4)],
                 [Trees.structure(np.array(x)) for x in trees(3, single_root=True)]),
    "projective": (ProjectiveTrees("siblings"), [(5, 5), (5, 5, 5)],
                   [ProjectiveTrees("siblings").structure(np.array(x)) for x in trees(4, projective=True)]),
    "clusters": (Clusterings(), [(4, 4)], [Clusterings.structure(np.array(x)) for x in partitions(4)]),
}  # fmt: skip


def best_by_enumeration(structures, constraints, every):
    """Return the largest total score of structures that satisfy the constraints, or -inf."""
    totals, sums = np.zeros(1), np.zeros((1, len(constraints)))
    for name, (_, *scores) in structures.items():
        found = [structure_from(one, scores) for one in every[name]]
        arrays = [[each.array(k, theta.shape) for k, theta in enumerate(scores)] for each in found]
        parts = np.array(
            [
                [
                    sum(c * own[p.array][p.where].sum() for p, c in one.terms if p.structure == name)
                    for one in constraints
                ]
                for own in arrays
            ]
        )
        totals = np.add.outer(totals, np.array([each.score(scores) for each in found])).ravel()
        sums = (sums[:, np.newaxis] + parts).reshape(len(totals), -1)
    lower, upper = (np.array([getattr(one, side) for one in constraints]) for side in ("lower", "upper"))
    return totals[((lower <= sums) & (sums <= upper)).all(axis=1)].max(initial=-np.inf)


@st.composite
def instances(draw, kinds):
    """Draw one or two structures with random scores, some of them -inf, and some constraints."""
    names = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    whole, forbidden = draw(st.booleans()), draw(st.sampled_from([0.0, 0.1]))
    structures, every = {}, {}
    for name in names:
        oracle, shapes, every[name] = SHAPES[name]
        scores = [rng.integers(-3, 4, shape).astype(float) if whole else rng.normal(size=shape) for shape in shapes]
        scores[0][rng.random(shapes[0]) < forbidden] = -np.inf
        structures[name] = (oracle, *scores)

    def selection():
        name = names[rng.integers(len(names))]
        k = int(rng.integers(len(SHAPES[name][1])))
        shape = SHAPES[name][1][k]
        return Parts(name, rng.random(shape) < rng.choice([0.1, 0.4, 0.8]), k)

    constraints = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["least", "most", "equal", "sum"]))
        if kind == "equal":
            constraints.append(equal(selection(), selection()))
        elif kind == "sum":
            terms = [(selection(), float(rng.integers(-2, 3))) for _ in range(2)]
            constraints.append(Constraint(terms, -2.0, float(rng.integers(-1, 4))))
        else:
            number = draw(st.integers(0, 3))
            constraints.append((at_least if kind == "least" else at_most)([selection()], number))
    return structures, constraints, every


@pytest.mark.parametrize("kinds", [["chain", "tree"], ["short chain", "one root", "projective"], ["chain", "clusters"]])
def test_structures_are_optimal(kinds):
    @given(instances(kinds))
    def check(instance):
        structures, constraints, every = instance
        for oracle, *scores in structures.values():
            try:
                best_structure(oracle, scores)
            except InputError:
                assume(False)
        expected = best_by_enumeration(structures, constraints, every)
        if expected == -np.inf:
            with pytest.raises(InputError):
                constrained_best(structures, constraints)
            return
        found = constrained_best(structures, constraints)
        assert found.proved
        assert found.objective == pytest.approx(expected, abs=1e-9)
        assert found.bound == found.objective
        own = {name: [structure] for name, structure in found.structures.items()}
        assert best_by_enumeration(structures, constraints, own) == pytest.approx(found.objective, abs=1e-9)

    check()


# --- one test per kind of constraint ---------------------------------------------------------------------------------

SCORES, STEPS = np.array([[2.0, 1.0], [2.0, 0.5], [2.0, 0.0]]), np.zeros((2, 2))
TAGS = {"tags": (Chains(), SCORES, STEPS)}


def labels_of(found, name="tags", labels=2):
    return (found.structures[name].parts[0][0] % labels).tolist()


def test_no_columns_are_generated_if_the_best_structures_satisfy_the_constraints():
    found = constrained_best(TAGS, [at_least(Parts("tags", np.s_[:, 0]), 3), at_most(Parts("tags", (0, 1)), 0)])
    assert (found.objective, found.bound, found.proved, found.columns) == (6.0, 6.0, True, 0)
    assert constrained_best(TAGS).objective == 6.0


def test_constraints_that_only_forbid_parts_need_no_columns():
    found = constrained_best(TAGS, [at_most([Parts("tags", np.s_[:2, 0])], 0)])
    assert (labels_of(found), found.objective, found.columns) == ([1, 1, 0], 3.5, 0)
    assert SCORES[0, 0] == 2.0  # the given array is not changed


def test_numbers_of_labels_and_of_transitions_are_limited():
    found = constrained_best(TAGS, [at_least(Parts("tags", np.s_[:, 1]), 1)])
    assert (labels_of(found), found.objective, found.proved) == ([1, 0, 0], 5.0, True)
    found = constrained_best(TAGS, [at_least(Parts("tags", (0, 1), array=1), 1)])
    assert (labels_of(found), found.objective) == ([0, 1, 0], 4.5)
    found = constrained_best(TAGS, [Constraint([(Parts("tags", np.s_[:, 1]), 1.0)], 2.0, 2.0)])
    assert (labels_of(found), found.objective) == ([1, 1, 0], 3.5)


def test_tasks_agree():
    other = {"spans": (Chains(), np.array([[0.0, 5.0], [0.0, 1.0], [1.0, 0.0]]), STEPS)}
    constraints = [equal(Parts("tags", (i, 1)), Parts("spans", (i, 1))) for i in range(3)]
    found = constrained_best({**TAGS, **other}, constraints)
    assert labels_of(found) == labels_of(found, "spans") == [1, 0, 0]
    assert found.objective == 5.0 + 6.0
    tree = {"tree": (Trees(), np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))}
    tags = {"tags": (Chains(), np.array([[0.5, 0.0], [0.5, 0.0]]), STEPS)}
    found = constrained_best(
        {**tree, **tags}, [equal(Parts("tree", (0, m)), Parts("tags", (m - 1, 1))) for m in (1, 2)]
    )
    assert labels_of(found) == [1, 0]
    assert found.structures["tree"].parts[0][0].tolist() == [0 * 3 + 1, 1 * 3 + 2]
    assert found.objective == 4.0 + 0.5


def test_items_are_linked():
    scores = np.array([[0.0, 1.0, -2.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    clusters = {"clusters": (Clusterings(), scores)}
    assert constrained_best(clusters, [cannot_link("clusters", 1, 2)]).objective == 1.0
    assert constrained_best(clusters, [must_link("clusters", 0, 2)]).objective == 1.0
    assert constrained_best(clusters, [must_link("clusters", 0, 2), cannot_link("clusters", 2, 1)]).objective == -2.0
    with pytest.raises(InputError, match="no structures satisfy"):
        constrained_best(
            clusters,
            [must_link("clusters", 0, 1), must_link("clusters", 1, 2), cannot_link("clusters", 0, 2)],
        )


def test_one_violated_constraint_needs_no_linear_program_unless_its_relaxation_is_fractional(monkeypatch):
    calls = []
    monkeypatch.setattr(constrained, "solve", lambda *args, **named: calls.append(1) or solve(*args, **named))
    scores = np.array([[0.0, 3.0, 3.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    found = constrained_best({"tree": (Trees(), scores)}, [at_most(Parts("tree", (0, [1, 2])), 1)])
    assert (found.objective, found.bound, found.proved, calls) == (4.0, 4.0, True, [])
    found = constrained_best(TAGS, [Constraint([(Parts("tags", (0, 0), array=1), 1.0)], -1.0, 0.0)])
    assert (found.objective, found.bound, found.proved, calls) == (4.5, 4.5, True, [])
    choice = {"choice": (EnumeratedStructures(np.eye(3)), np.array([3.0, 1.0, 2.5]))}
    fractional = Constraint([(Parts("choice", 1), 1.0), (Parts("choice", 2), 3.0)], 1.0, 2.0)
    found = constrained_best(choice, [fractional])  # half of the first and half of the last satisfy the constraint
    assert (found.objective, found.proved, calls) == (1.0, True, [1])


def test_a_constraint_may_be_used_for_scores_of_several_shapes():
    long = {"tags": (Chains(), np.vstack([SCORES, SCORES]), STEPS)}
    constraint = at_least(Parts("tags", np.s_[:, 1]), 1)
    assert [constrained_best(each, [constraint]).objective for each in (TAGS, long, TAGS)] == [5.0, 11.0, 5.0]


def test_second_order_trees_satisfy_constraints():
    rng = np.random.default_rng(3)
    oracle = SecondOrderTrees("grandchildren")
    scores = [rng.normal(size=(4, 4)), rng.normal(size=(4, 4, 4))]
    constraints = [at_most(Parts("tree", (0, slice(1, None))), 1), at_least(Parts("tree", (3, [1, 2])), 1)]
    every = {"tree": [oracle.structure(np.array(x)) for x in trees(3)]}
    found = constrained_best({"tree": (oracle, *scores)}, constraints)
    assert found.objective == pytest.approx(
        best_by_enumeration({"tree": (oracle, *scores)}, constraints, every), abs=1e-9
    )


@pytest.mark.parametrize("size", [1e-290, 1e290])
def test_tiny_and_huge_scores(size):
    found = constrained_best({"tags": (Chains(), SCORES * size, STEPS)}, [at_least(Parts("tags", np.s_[:, 1]), 2)])
    assert labels_of(found) == [1, 1, 0]
    assert found.objective / size == pytest.approx(3.5, abs=1e-9)


def test_any_oracle_takes_part():
    one_of = {"choice": (EnumeratedStructures(np.eye(3)), np.array([3.0, 2.0, 1.0]))}
    found = constrained_best({**one_of, **TAGS}, [equal(Parts("choice", 1), Parts("tags", (0, 1)))])
    assert found.objective == 3.0 + 6.0
    found = constrained_best(
        {**one_of, **TAGS}, [equal([Parts("choice", 0), Parts("choice", 2)], Parts("tags", (0, 1)))]
    )
    assert found.objective == 2.0 + 6.0


def test_the_search_stops_at_the_time_limit():
    found = constrained_best(TAGS, [at_least(Parts("tags", np.s_[:, 1]), 1)], time_limit=0.0)
    assert not found.proved
    assert found.bound >= 5.0 >= found.objective


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        (at_least(Parts("tags", np.s_[:, 1]), 4), "no structures satisfy all constraints"),
        (at_most(Parts("tags", np.s_[:, :]), 0), "every structure is forbidden"),
        (at_most(Parts("words", 0), 1), r"unknown structure 'words', expected \['tags'\]"),
        (at_most(Parts("tags", 0, 2), 1), "array 2 of 'tags', expected 0 to 1"),
        (at_most(Parts("tags", (0, 2)), 1), r"Parts\('tags', \(0, 2\)\): index 2 is out of bounds"),
        (at_most(Parts("tags", "x"), 1), "Parts"),
    ],
)
def test_impossible_and_invalid_constraints_raise_errors(constraint, said):
    with pytest.raises(InputError, match=said):
        constrained_best(TAGS, [constraint])


def test_invalid_arguments_raise_errors():
    with pytest.raises(InputError, match="expected lower ≤ upper"):
        Constraint([(Parts("tags", 0), 1.0)], 2.0, 1.0)
    with pytest.raises(InputError, match="coefficient"):
        Constraint([(Parts("tags", 0), np.inf)])
    with pytest.raises(InputError, match="pairs of Parts"):
        at_least([(0, 1)], 1)
    with pytest.raises(InputError, match="lower of a constraint"):
        at_least(Parts("tags", 0), np.nan)
    with pytest.raises(InputError, match="two different items"):
        must_link("clusters", 1, 1)
    with pytest.raises(InputError, match="one or more"):
        constrained_best({})
    with pytest.raises(InputError, match="time_limit"):
        constrained_best(TAGS, time_limit=-1.0)
    with pytest.raises(InputError, match="expected the shape"):
        constrained_best({"tags": (Chains(), SCORES, np.zeros((3, 3)))})
