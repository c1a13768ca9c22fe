"""Rank-1 cuts over the rows of vertices, against all colourings."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
from scipy import optimize

from colgen import PricingContext, RankOne, Record, Sense, solve
from colgen.certificate.checker import check
from colgen.core.decision import Apart, Together
from colgen.core.terms import Count
from colgen.cuts.cut import Cuts
from colgen.master.statement import restricted_master
from colgen.problems.colouring import Colouring, from_networkx, mycielski, random
from colgen.problems.colouring.zykov import VERTEX
from colgen.testing import check_problem
from tests.amounts import examples
from tests.solvers.graphs.small_graphs import graph, stable_sets
from tests.twins.colouring import fewest_colours


class Listening(RankOne):
    """Stores the cuts that it finds."""

    def __init__(self):
        super().__init__(VERTEX, least=1e-3, progress=0.0)
        self.found = []

    def separate(self, solution, context):
        rows = super().separate(solution, context)
        self.found += rows
        return rows


class Listened(Colouring):
    """Only cuts and branching."""

    def __init__(self, instance):
        super().__init__(instance, cuts=True)
        self.listening = Listening()

    def separation(self):
        return (self.listening,)

    def method(self):
        return dataclasses.replace(super().method(), enumeration=())


def colourings(adjacency):
    """All colourings, with colours in the order of their first vertices."""

    def colour(given):
        v = len(given)
        if v == len(adjacency):
            yield given
            return
        for c in range(max(given, default=-1) + 2):
            if all(given[u] != c for u in range(v) if adjacency[u, v]):
                yield from colour([*given, c])

    yield from colour([])


def relaxation(adjacency, terms=()):
    """The value of the relaxation over all stable sets under some cuts, by scipy alone."""
    sets = np.array([np.isin(np.arange(len(adjacency)), s) for s in stable_sets(adjacency) if s])
    counted = [sets[:, term.members] @ np.array(term.weights) // term.divisor for term in terms]
    return optimize.linprog(
        np.ones(len(sets)),
        A_eq=sets.T,
        b_eq=np.ones(len(adjacency)),
        A_ub=np.array(counted) if counted else None,
        b_ub=[term.side for term in terms] if counted else None,
    ).fun


GRAPHS = [
    *(from_networkx(nx.cycle_graph(n)) for n in (5, 7, 9)),
    from_networkx(nx.complement(nx.cycle_graph(7))),
    from_networkx(nx.circulant_graph(10, [1, 3, 4])),
    *(random(9, seed, density=0.35) for seed in range(examples(2, 12))),
]


@pytest.mark.parametrize("instance", GRAPHS, ids=range(len(GRAPHS)))
def test_cuts_leave_every_colouring_and_raise_the_bound(instance):
    problem = Listened(instance)
    cut = solve(problem, relaxation=True)
    kept = problem.reduced.kept
    adjacency = instance.adjacency[np.ix_(kept, kept)]
    place = {vertex: k for k, vertex in enumerate(kept.tolist())}
    terms = [
        Count(VERTEX, tuple(place[v] for v in row.term().members), row.term().weights, row.term().divisor)
        for row in problem.listening.found
    ]
    plain, needed = relaxation(adjacency), fewest_colours(instance)
    assert plain - 1e-6 <= cut.dual_bound <= needed + 1e-6
    assert cut.dual_bound <= cut.objective + 1e-6
    if cut.is_optimal:
        assert cut.objective == pytest.approx(relaxation(adjacency, terms), abs=1e-5)
    result = solve(Listened(instance))
    assert result.is_optimal
    assert result.objective == needed == instance.check(result.answer)
    given = np.array(list(colourings(adjacency)))
    for term in terms:
        mine = given[:, term.members]
        counted = [(mine == c) @ np.array(term.weights) // term.divisor for c in range(len(adjacency))]
        assert (sum(counted) <= term.side).all()


def test_cuts_close_the_gap_of_odd_cycles_at_the_root():
    problem = Listened(GRAPHS[1])
    cut = solve(problem, relaxation=True)
    assert problem.listening.found
    assert relaxation(GRAPHS[1].adjacency) == pytest.approx(7 / 3)
    assert cut.dual_bound >= 2.8 - 1e-9


@pytest.mark.parametrize("seed", range(examples(12, 60)))
@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7])
def test_the_bound_of_the_oracle_equals_enumeration(seed, scale):
    """With merged and separated vertices, dual values of either sign, and very small and very large charges."""
    rng = np.random.default_rng(seed)
    adjacency = graph(8, 0.3, seed)
    edges = nx.from_numpy_array(adjacency)
    strangers = np.argwhere(np.triu(~adjacency, 1)).tolist()
    (u, v), (s, t) = strangers[0], strangers[-1]
    decisions = (Together((VERTEX, u), (VERTEX, v)), Apart((VERTEX, s), (VERTEX, t))) if seed % 2 else ()
    problem = Colouring(from_networkx(edges), cuts=True)
    problem.__dict__["reduced"] = type(problem.reduced)(np.arange(8), np.arange(1), ())
    master = restricted_master(problem.master())
    family = Cuts("rank_one")
    terms = [
        Count(VERTEX, (0, 1, 2), (1, 1, 1), 2),
        Count(VERTEX, (2, 3, 4, 5), (2, 1, 1, 1), 3),
        Count(VERTEX, (3, 4, 5, 6, 7), (3, 2, 2, 1, 1), 5),
    ]
    rows = [family.cut(term, upper=float(term.side)) for term in terms]
    master.add((), rows)
    pays = rng.integers(-1, 6, 8) / 4.0 * scale
    charges = -rng.choice([0.0, 1e-9, 0.25, 0.5, 10.0], 3) * scale
    duals = master.rows.guess({VERTEX: pays} | {row.key: c for row, c in zip(rows, charges, strict=True)})
    context = PricingContext(Sense.MINIMIZE, decisions=decisions, cost_weight=1.0)
    result = problem.pricing().price(duals, context)
    best = np.inf
    for chosen in stable_sets(adjacency):
        if decisions and ((u in chosen) != (v in chosen) or (s in chosen and t in chosen)):
            continue
        paid = sum(
            c * (sum(w for i, w in zip(term.members, term.weights, strict=True) if i in chosen) // term.divisor)
            for term, c in zip(terms, charges, strict=True)
        )
        best = min(best, 1.0 - pays[chosen].sum() - paid)
    if result.bound is not None:
        assert result.bound <= best + 1e-12 * scale
        assert result.bound == pytest.approx(min(best, 1.0), abs=1e-9 * scale) or best > 0.0
    elif best < -1e-6:
        assert len(result.columns)


@pytest.mark.parametrize("instance", [mycielski(4), random(24, 1, density=0.4)], ids=["Grötzsch", "random"])
def test_certificates_trust_bounds_from_cuts(tmp_path, instance):
    result = solve(Colouring(instance, cuts=True), record=Record(certificate=tmp_path / "proof.jsonl"))
    verdict = check((tmp_path / "proof.jsonl").read_text().splitlines())
    assert result.objective == verdict.objective == solve(Colouring(instance)).objective
    assert verdict.bound <= verdict.objective
    assert bool(verdict.claims.trusted) == bool(result.rows_generated)


def test_the_oracle_passes_the_conformance_kit():
    report = check_problem(Colouring(mycielski(3), cuts=True), seconds=examples(1.5, 6.0))
    assert report.ok, report
