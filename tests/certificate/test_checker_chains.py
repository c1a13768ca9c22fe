"""The checker's own dynamic program over labels, against all labellings."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_chains import Labellings
from colgen.certificate.checker_pricing import CheckerState, WrongError


def drawn(seed):
    chance = random.Random(seed)
    nodes, labels, tables = chance.randint(1, 5), chance.randint(1, 4), chance.randint(1, 2)

    def score():
        return None if chance.random() < 0.15 else chance.randint(-6, 6)

    return {
        "parents": [chance.randint(k + 1, nodes - 1) if k < nodes - 1 else -1 for k in range(nodes)],
        "of_table": [chance.randrange(tables) for _ in range(nodes)],
        "denominator": 4,
        "scores": [[score() for _ in range(labels)] for _ in range(nodes)],
        "tables": [[[score() for _ in range(labels)] for _ in range(labels)] for _ in range(tables)],
    }


@pytest.mark.parametrize("seed", range(60))
def test_the_best_labelling_of_a_tree(seed):
    data, best = drawn(seed), None
    checked = Labellings(0, data, 0)
    for labels in itertools.product(range(len(data["scores"][0])), repeat=len(data["parents"])):
        used = [data["scores"][node][label] for node, label in enumerate(labels)]
        for node, parent in enumerate(data["parents"]):
            used += [data["tables"][data["of_table"][node]][labels[node]][labels[parent]]] if parent >= 0 else []
        if None not in used:
            assert checked.column(list(labels)) == (Fraction(sum(used), 4), {})
            best = sum(used) if best is None else max(best, sum(used))
        else:
            with pytest.raises(WrongError):
                checked.column(list(labels))
    assert checked.least((), Fraction(-2), {}, CheckerState()) == Fraction(-2 * (best or 0), 4)
    missing = [-1] * len(data["parents"])
    if best is None:
        assert checked.column(missing) == (0, {})
    else:
        with pytest.raises(WrongError):
            checked.column(missing)
