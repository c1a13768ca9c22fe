"""The combinatorial dual in the template: lazy or from arrays, a proof if it closes, else a start."""

from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InputError, LinearMaster, PricingContext, Record, Sense, solve
from colgen.core.budget import Budget
from colgen.core.errors import InfeasibleAnswerError
from colgen.master.statement import restricted_master
from colgen.model.rows import compile_model
from colgen.problems.dependency import SentenceScorer
from colgen.problems.grandparent_parsing import (
    CombinatorialDual,
    GrandparentInstance,
    GrandparentParsing,
    from_scores,
    parse,
    random,
)
from colgen.problems.grandparent_parsing.baseline import solve_complete
from colgen.problems.grandparent_parsing.dual import contracted_sets
from colgen.problems.grandparent_parsing.model import trees
from colgen.problems.grandparent_parsing.separation import TreeCuts
from colgen.solvers.trees.arborescence import arborescence
from tests.problems.dependency.treebank import random_weights, sentences


def grandparents_alone(seed, **options):
    weights = random_weights(sentences(12, seed), seed, **options)
    return weights.__class__(**{**vars_of(weights), "parts": ("grandparents",)})


def vars_of(weights):
    return {name: getattr(weights, name) for name in weights.__dataclass_fields__}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("single_root", [False, True])
def test_lazy_and_dense_scores_agree(seed, single_root):
    weights = grandparents_alone(seed, single_root=single_root)
    for sentence in sentences(12, seed)[:4]:
        instance = from_scores(weights.scorer(sentence), siblings=False, single_root=single_root)
        lazy = CombinatorialDual(weights.scorer(sentence), single_root=single_root)
        program = solve_complete(instance, single_root=single_root)
        assert lazy.bound >= program.objective - 1e-6
        heads = tuple(lazy.heads[1:].tolist())
        assert instance.check(heads) == pytest.approx(lazy.score)
        for (g, p, c), score in zip(*(array.tolist() for array in lazy.scored_parts()), strict=True):
            assert score == pytest.approx(instance.grandparent_scores[g, p, c])
        problem = GrandparentParsing(weights.scorer(sentence))
        result = solve(problem, relaxation=True)
        assert result.objective == pytest.approx(program.objective)
        assert problem.scored["grandparent"] <= program.parts
        assert solve(GrandparentParsing(weights.scorer(sentence))).objective == pytest.approx(parse(instance).score)


class Own(SentenceScorer):
    """A trained model's scorer with other grandparent scores."""

    def grandparents(self, triples):
        return super().grandparents(triples) - 1.0


def test_overridden_scores_are_used():
    weights = grandparents_alone(3)
    sentence = max(sentences(12, 3), key=len)
    own = Own(weights, weights.vocabulary.encode(sentence))
    instance = from_scores(Own(weights, weights.vocabulary.encode(sentence)), siblings=False)
    result = solve(GrandparentParsing(own), relaxation=True)
    assert result.objective == pytest.approx(solve_complete(instance).objective)
    both = Own(weights, weights.vocabulary.encode(sentence))
    assert parse(both).score == pytest.approx(parse(from_scores(both, single_root=weights.single_root)).score)


def test_a_proved_guess_needs_no_linear_program():
    arcs = np.zeros((4, 4))
    arcs[0, 1] = arcs[1, 2] = arcs[2, 3] = 5.0
    problem = GrandparentParsing(arcs, np.zeros((4, 4, 4)))
    result = solve(problem, record=Record(duals=True))
    assert not problem._has_program
    assert result.answer == (0, 1, 2)
    assert (result.objective, result.dual_bound) == (15.0, 15.0)
    (record,) = result.iterations
    assert (record.dual_bound, record.columns, record.rows) == (15.0, 2, 0)
    other = GrandparentParsing(arcs, np.zeros((4, 4, 4)))  # its oracles have not seen a descent
    priced = [oracle.price(record.duals, PricingContext(Sense.MAXIMIZE)) for oracle in other.oracles]
    assert sum(result.total for result in priced) + other.standard.constant == 15.0
    columns = result.solution.columns
    assert [column.structure[1] for column, _ in columns] == [(0, 1, 2), (1, 2, 3)]
    assert columns[1:][0][0].key == ("grandparent", (1, 2, 3))
    master = restricted_master(GrandparentParsing(arcs, np.zeros((4, 4, 4)), start="tree").master())
    assert master.rows.violation(result.solution) is None


@pytest.mark.parametrize("relaxation", [False, True])
def test_a_wrong_score_of_the_dual_tree_is_detected(relaxation, monkeypatch):
    arcs = np.zeros((4, 4))
    arcs[0, 1] = arcs[1, 2] = arcs[2, 3] = 5.0
    whole = CombinatorialDual.solution
    monkeypatch.setattr(CombinatorialDual, "solution", lambda self: replace(whole(self), objective=16.0))
    with pytest.raises(InfeasibleAnswerError, match="15"):
        solve(GrandparentParsing(arcs, np.zeros((4, 4, 4))), relaxation=relaxation)


def test_the_linear_program_starts_near_the_optimum():
    for seed in range(30):
        instance = random(7, seed, strength=2.5)
        problem = GrandparentParsing(instance)
        result = solve(problem, relaxation=True)
        if len(result.iterations) > 1:
            assert problem.present.sum() < 7 * 7
            assert result.iterations[1].objective >= problem.dual.score - 1e-6
            assert result.objective <= problem.dual.bound + 1e-6
            break
    else:
        raise AssertionError("no relaxation was fractional")


@pytest.mark.parametrize("seed", range(8))
def test_cuts_of_contracted_sets_prove_the_best_arborescence(seed):
    rng = np.random.default_rng(seed)
    n = 7
    instance = GrandparentInstance(rng.normal(size=(n + 1, n + 1)))
    m = trees(n, "cuts")
    m.score = pyo.Objective(expr=sum(float(instance.arcs[arc]) * m.z[arc] for arc in m.arc), sense=pyo.maximize)
    master = LinearMaster(compile_model(m))
    sets = contracted_sets(instance.arcs)
    master.add((), [TreeCuts(n).row(members) for members in sets])
    assert master.solve().objective == pytest.approx(arborescence(instance.arcs)[1])
    assert all(len(members) > 1 and 0 not in members for members in sets)


def test_few_rounds_are_left_where_the_dual_is_good():
    instance = random(15, 2, strength=1.0)
    begun = solve(GrandparentParsing(instance), relaxation=True)
    plain = solve(GrandparentParsing(instance, start="tree"), relaxation=True)
    assert begun.objective == pytest.approx(plain.objective)
    assert 0 < len(begun.iterations) < len(plain.iterations)


class Stated(GrandparentParsing):
    def separation(self):
        return super().separation()


def test_a_subclass_with_rows_does_not_use_the_dual():
    instance = random(5, 0)
    assert Stated(instance).start == "tree"
    warm = Stated(instance).warm_start(Budget())
    assert warm.duals is None
    assert warm.answers
    with pytest.raises(InputError, match=r"Stated: .*plain = True"):
        Stated(instance, start="dual")
    with pytest.raises(InputError, match="siblings=False"):
        GrandparentParsing(instance, connectivity="flow", start="dual")
    with pytest.raises(InputError, match="one of dual, tree, parts"):
        GrandparentParsing(instance, start="warm")


def test_a_subclass_with_its_own_master_uses_it():
    class Shallow(GrandparentParsing):
        """All tokens are attached to the root."""

        def master(self):
            rows = super().master()
            for h, t in rows.column_blocks["z"].indices:
                if h > 0:
                    rows.change_variables(("z", (h, t)), upper=0.0)
            return rows

    instance = random(4, 1)
    deep = solve(GrandparentParsing(instance, start="parts"))
    shallow = solve(Shallow(instance, start="parts"))
    assert shallow.answer == (0, 0, 0, 0)
    assert shallow.objective <= deep.objective
    assert solve(GrandparentParsing(instance, start="parts")).answer == deep.answer


def test_no_tree():
    arcs = np.full((4, 4), -np.inf)
    arcs[1, 2] = arcs[2, 1] = arcs[0, 3] = 1.0
    dual = CombinatorialDual(GrandparentInstance(arcs))
    assert not dual.is_feasible
    assert not solve(GrandparentParsing(GrandparentInstance(arcs))).is_optimal
