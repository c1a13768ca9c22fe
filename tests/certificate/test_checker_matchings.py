"""Potentials of rows and columns, against all matchings."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_matchings import Matchings
from colgen.certificate.checker_pricing import CheckerState, WrongError


@pytest.mark.parametrize("seed", range(40))
def test_accepted_potentials_bound_all_matchings(seed):
    chance = random.Random(seed)
    rows = chance.randint(1, 3)
    count = chance.randint(rows, 4)
    pairs = [[None if chance.random() < 0.2 else chance.randint(-5, 5) for _ in range(count)] for _ in range(rows)]
    checked, values = Matchings(0, {"denominator": 2, "pairs": pairs}, 0), []
    for chosen in itertools.product(range(count), repeat=rows):
        scores = [pairs[i][j] for i, j in enumerate(chosen)]
        if len(set(chosen)) == rows and None not in scores:
            values.append(sum(scores))
            assert checked.column(list(chosen)) == (Fraction(sum(scores), 2), {})
        else:
            with pytest.raises(WrongError):
                checked.column(list(chosen))
    accepted = 0
    for _ in range(300):
        columns = [chance.choice([-1, 0, 0, 1, 2, 3]) for _ in range(count)]
        own = [
            max((s - c for s, c in zip(row, columns, strict=True) if s is not None), default=0)
            + chance.choice([-1, 0, 1])
            for row in pairs
        ]
        state = CheckerState(given={"rows": own, "columns": columns})
        try:
            found = checked.least((), Fraction(-1), {}, state)
        except WrongError:
            continue
        accepted += 1
        assert found == Fraction(-sum(own) - sum(columns), 2)
        assert sum(own) + sum(columns) >= max(values, default=-1000)
    assert accepted
