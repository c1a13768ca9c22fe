"""Every kernel that proves anything about clusterings, on up to six items, against all clusterings and all subsets."""

from functools import cache

import numpy as np
import pytest

from colgen.solvers.clusters import dual_proof, persistency
from colgen.solvers.clusters.contraction import contract
from colgen.solvers.clusters.dual_proof import settle
from colgen.solvers.clusters.persistency import contract_only, find_persistent
from colgen.solvers.clusters.subset import search
from colgen.solvers.clusters.transitivity import violated_triangles
from colgen.solvers.clusters.triangle_dual import keep_apart, triangle_bound
from colgen.solvers.clusters.two_partition import violated_stars
from colgen.solvers.flows.min_cut import violated_cuts
from tests.amounts import examples
from tests.solvers.clusters.test_dual_proof import partitions
from tests.twins.coreference import symmetric

ROUNDING = 1e-9
KINDS = ("signs", "ties", "whole", "broken", "near ties", "penalties", "sizes")
SCALES = (1e-9, 3e-5, 1.0, 7e4, 1e9)


@cache
def clusterings(n):
    """Labels of all clusterings, and which pairs each has together, shape (clusterings, n (n - 1) / 2)."""
    labels = np.array(list(partitions(n)))
    first, second = np.triu_indices(n, 1)
    return labels, (labels[:, first] == labels[:, second]).astype(float)


def draw(kind, rng, n):
    m = n * (n - 1) // 2
    signs = rng.choice([-1.0, 1.0], m)
    return {
        "signs": lambda: signs,
        "ties": lambda: rng.choice([-1.0, 0.0, 0.5, 1.0], m),
        "whole": lambda: rng.integers(-3, 4, m).astype(float),
        "broken": lambda: rng.normal(size=m),
        "near ties": lambda: signs + rng.choice([0.0, 1e-13, -1e-13, 1e-6], m),
        "penalties": lambda: np.where(
            rng.random(m) < 0.3, -(10.0 ** rng.uniform(0.0, 3.0, m)), rng.uniform(-0.5, 1.5, m)
        ),
        "sizes": lambda: signs * 10.0 ** rng.uniform(-4.0, 0.0, m),
    }[kind]()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_proved_is_true(kind, scale, monkeypatch):
    rng = np.random.default_rng([KINDS.index(kind), SCALES.index(scale)])
    monkeypatch.setattr(persistency, "_SMALLEST_BOUNDED", 3)
    for number in range(examples(20, 60)):
        n = int(rng.integers(2, 7))
        # All ways to prove and decide, with and without earlier reductions.
        monkeypatch.setattr(persistency, "_LARGEST", int(rng.choice([2, 200])))
        monkeypatch.setattr(dual_proof, "_SMALL", int(rng.choice([2, 40])))
        upper = scale * draw(kind, rng, n)
        scores, (labels, incidence) = symmetric(n, upper), clusterings(n)
        worth = incidence @ upper
        best, slack = worth.max(), ROUNDING * np.abs(upper).max()
        good = worth >= best - slack

        def value(labels, upper=upper):
            labels = np.asarray(labels)
            first, second = np.triu_indices(len(labels), 1)
            return float(upper[labels[first] == labels[second]].sum())

        found, settled, _ = settle(scores, np.arange(n), largest=60)
        if settled.all():
            assert value(found) >= best - slack, number
        groups = contract(scores, found)
        kept = (labels[:, :, None] == labels[:, None, :])[:, groups[:, None] == groups].all(axis=1)
        assert (kept & good).any(), number
        bounded = triangle_bound(scores, np.arange(n))
        assert bounded.bound >= best - slack
        assert not bounded.closed or bounded.score >= best - slack
        same = labels[:, :, None] == labels[:, None, :]
        as_good = worth >= bounded.score + slack
        assert same[as_good][:, np.equal.outer(bounded.together, bounded.together)].all()
        assert not (same[as_good] & bounded.apart).any()
        changed = keep_apart(scores, bounded.apart)[np.triu_indices(n, 1)]
        assert (incidence @ changed).max() == pytest.approx(best, abs=slack)
        for left in (find_persistent(scores), contract_only(scores)):
            known = sum(0.5 * scores[np.ix_(c, c)].sum() for c in [*left.settled, *left.groups])
            rest = 0.0
            if left.groups:
                _, of_groups = clusterings(len(left.groups))
                rest = (of_groups @ left.scores[np.triu_indices(len(left.groups), 1)]).max(initial=0.0)
            assert known + rest == pytest.approx(best, abs=slack)
            assert left.bound >= best - slack


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_search_bounds_all_packings(kind, scale):
    rng = np.random.default_rng([KINDS.index(kind), SCALES.index(scale), 1])
    for _ in range(60):
        n = int(rng.integers(2, 7))
        upper = draw(kind, rng, n)
        profits = rng.choice(
            [rng.normal(size=n), rng.integers(-2, 3, n).astype(float), -0.5 * symmetric(n, upper).sum(1)]
        )
        scores, (labels, _) = scale * symmetric(n, upper), clusterings(n)
        profits = scale * profits
        masks = np.array(np.meshgrid(*[[0.0, 1.0]] * n)).reshape(n, -1).T
        values = masks @ profits + 0.5 * np.einsum("si,ij,sj->s", masks, scores, masks)
        of = dict(zip(map(tuple, masks.astype(int).tolist()), values.tolist(), strict=True))
        packing = max(
            sum(max(of[tuple((row == k).astype(int).tolist())], 0.0) for k in range(row.max() + 1)) for row in labels
        )
        found = search(scores, profits)
        slack = ROUNDING * max(np.abs(scores).max(), np.abs(profits).max())
        assert found.complete
        assert found.total >= packing - slack
        for members, worth in zip(found.members, found.values, strict=True):
            assert worth == pytest.approx(of[tuple(members.astype(int).tolist())], abs=slack)


def test_rows_that_are_separated_hold_for_every_clustering():
    rng = np.random.default_rng(0)
    for number in range(300):
        n = int(rng.integers(3, 7))
        x = symmetric(n, rng.choice([rng.random(n * (n - 1) // 2), rng.choice([0.0, 0.5, 1.0], n * (n - 1) // 2)]))
        labels, _ = clusterings(n)
        same = (labels[:, :, None] == labels[:, None, :]).astype(float)
        triangles, violations = violated_triangles(x, 1e-6)
        for (i, j, k), violation in zip(triangles.tolist(), violations.tolist(), strict=True):
            assert x[i, k] + x[k, j] - x[i, j] - 1.0 == pytest.approx(violation)
            assert (same[:, i, k] + same[:, k, j] - same[:, i, j] <= 1.0).all()
        most = max(
            x[i, k] + x[k, j] - x[i, j] for i in range(n) for j in range(n) for k in range(n) if len({i, j, k}) == 3
        )
        assert (len(triangles) > 0) == (most > 1.0 + 1e-6), number  # exact
        for centre, members, violation in zip(*violated_stars(x, 4, 1e-6, 3), strict=True):
            chosen = members[members >= 0]
            inside = np.ix_(chosen, chosen)
            assert x[centre, chosen].sum() - 0.5 * x[inside].sum() - 1.0 == pytest.approx(violation)
            assert (
                same[:, centre, chosen].sum(axis=1) - 0.5 * same[:, chosen][:, :, chosen].sum(axis=(1, 2)) <= 1
            ).all()


def test_cuts_are_found_where_there_are_some():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 6))
        weights = rng.choice([0.0, 0.25, 0.5, 1.0], (n + 1, n + 1)) * (rng.random((n + 1, n + 1)) < 0.5)
        np.fill_diagonal(weights, 0.0)
        sets = [np.flatnonzero([mask >> v & 1 for v in range(n)]) + 1 for mask in range(1, 2**n)]
        into = {tuple(s.tolist()): weights[np.setdiff1d(np.arange(n + 1), s)][:, s].sum() for s in sets}
        found = violated_cuts(weights)
        assert all(into[chosen] < 1.0 - 1e-6 for chosen in found)
        assert bool(found) == any(total < 1.0 - 1e-6 for total in into.values())
