"""Exact scores of labellings, compared with the checker's."""

import numpy as np
import pytest

from colgen.certificate.checker_chains import Labellings
from colgen.problems.chain_map import random
from colgen.problems.chain_map.kernels.integer_labels import best_scores
from colgen.solvers.arrays import ArrayError


@pytest.mark.parametrize("seed", range(6))
def test_best_scores_equal_those_of_the_checker(seed):
    chance, instance = np.random.default_rng(seed), random(seed, chains=6, length=4, labels=5)
    forest, never = instance.forest, -(10**6)
    scores = chance.integers(-9, 10, instance.scores.shape)
    tables = chance.integers(-9, 10, instance.pairwise.tables.shape)
    scores[chance.random(scores.shape) < 0.3], tables[chance.random(tables.shape) < 0.2] = never, never
    if seed == 0:
        scores[0] = never  # a tree without a labelling
    data = {
        "denominator": 1,
        "parents": forest.parent.tolist(),
        "of_table": forest.table.tolist(),
        "scores": [[None if x == never else x for x in row] for row in scores.tolist()],
        "tables": [[[None if x == never else x for x in row] for row in table] for table in tables.tolist()],
    }
    found = best_scores(forest, scores, tables, never)
    checked = Labellings(0, data, 0).best
    roots = forest.starts[1:] - 1
    assert {int(root): int(best) for root, best in zip(roots, found, strict=True) if best > never // 2} == checked


def test_wrong_arrays_raise():
    instance = random(0, chains=1, length=2, labels=3)
    scores, tables = instance.scores.astype(np.int64), instance.pairwise.tables.astype(np.int64)
    for wrong in ((scores.astype(float), tables), (scores[1:], tables), (scores, tables[:, 1:])):
        with pytest.raises(ArrayError):
            best_scores(instance.forest, *wrong, -1)
