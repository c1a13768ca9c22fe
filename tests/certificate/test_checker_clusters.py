"""Dual values of triangles, against all clusterings."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_clusters import Clusterings
from colgen.certificate.checker_pricing import CheckerState, WrongError
from colgen.certificate.checker_program import Claims, Program


def drawn(seed):
    chance = random.Random(seed)
    n = chance.randint(1, 5)
    scores = [[0] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        scores[i][j] = scores[j][i] = None if chance.random() < 0.1 else chance.randint(-6, 6)
    return {"denominator": 4, "scores": scores}


def clusterings(n):
    for labels in itertools.product(range(n), repeat=n):
        clusters = [[i for i in range(n) if labels[i] == c] for c in sorted(set(labels))]
        if [cluster[0] for cluster in clusters] == sorted(cluster[0] for cluster in clusters):
            yield clusters


@pytest.mark.parametrize("seed", range(60))
def test_any_dual_values_bound_all_clusterings_of_a_node(seed):
    checked, chance = Clusterings(0, drawn(seed), 0), random.Random(-seed)
    n = checked.size
    for _ in range(10):
        over = chance.randint(1, 3)
        triangles = [
            [*chance.sample(range(n), 3), chance.randint(0, 8)] for _ in range(chance.randint(0, 8) if n > 2 else 0)
        ]
        pairs = tuple(
            (*chance.sample(range(n), 2), chance.random() < 0.5) for _ in range(chance.randint(0, 2) if n > 1 else 0)
        )
        state = CheckerState(pairs=pairs, given={"over": over, "triangles": triangles})
        least = checked.least((), Fraction(-1), {}, state)
        for clusters in clusterings(n):
            of = {i: c for c, cluster in enumerate(clusters) for i in cluster}
            if all((of[u] == of[v]) == joined for u, v, joined in pairs):
                try:
                    assert checked.column(clusters)[0] <= -least
                except WrongError:
                    continue


@pytest.mark.parametrize("triangle", [[0, 1, 2, -1], [0, 1, 1, 1], [0, 1, 3, 1], [0, -1, 2, 1], [0, 1, 2, "1"]])
def test_false_claims_are_refused(triangle):
    checked = Clusterings(0, {"denominator": 1, "scores": [[0, 5, 5], [5, 0, -9], [5, -9, 0]]}, 0)
    good = {"over": 1, "triangles": [[1, 2, 0, 5]]}
    assert checked.least((), Fraction(-1), {}, CheckerState(given=good)) == -5
    with pytest.raises((WrongError, KeyError)):
        checked.least((), Fraction(-1), {}, CheckerState(given={"over": 1, "triangles": [triangle]}))


def test_items_may_be_together_or_apart():
    data = {"kind": "clusterings", "uses": [1, 1], "denominator": 1, "scores": [[0, 1], [1, 0]]}
    program = Program({"sense": "maximize", "step": None, "rows": [], "pricing": [data]})
    together, apart = program.split(CheckerState(), {"pair": [0, 1]}, 2, Claims())
    assert (together.pairs, apart.pairs) == (((0, 1, True),), ((0, 1, False),))
    for split, count in (({"pair": [0, 0]}, 2), ({"pair": [0, 2]}, 2), ({"pair": [0, 1]}, 1)):
        with pytest.raises(WrongError):
            program.split(CheckerState(), split, count, Claims())
