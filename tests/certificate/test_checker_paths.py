"""The checker's own dynamic program over walks, against all paths."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_paths import Paths
from colgen.certificate.checker_pricing import CheckerState, WrongError


def drawn(seed):
    chance = random.Random(seed)
    n = chance.randint(1, 6)

    def weights():
        return [None if chance.random() < 0.2 else chance.randint(-6, 6) for _ in range(n)]

    classes = [chance.randrange(4) for _ in range(n)]
    lists = {"first": weights(), "last": weights(), "weights": [weights() for _ in range(n)]}
    return {"denominator": 4, "length": chance.randint(1, 4), "classes": classes, **lists}


def best_of(checked):
    best = None
    for path in itertools.product(range(len(checked.classes)), repeat=checked.length):
        try:
            weight = checked.column(list(path))[0] * checked.unit
        except WrongError:
            continue
        best = weight if best is None else max(best, weight)
    return best


@pytest.mark.parametrize("seed", range(60))
def test_a_claim_about_all_paths_holds_if_no_path_weighs_more(seed):
    checked, chance = Paths(0, drawn(seed), 0), random.Random(-seed)
    best, classes = best_of(checked), range(max(checked.classes) + 1)
    penalties = [chance.randrange(5) for _ in classes]
    for most in range(-30, 31):
        for remembered in (list(classes), [], [c for c in classes if chance.random() < 0.5]):
            walk = checked.above(most, penalties, remembered)
            if best is not None and best > most:
                assert walk is not None  # whatever the penalties are
            elif len(remembered) == len(classes):
                assert walk is None
    state = CheckerState(given={"most": int(best or 0), "penalties": penalties, "remembered": list(classes)})
    assert checked.least((), Fraction(-1), {}, state) == Fraction(-int(best or 0), 4)


@pytest.mark.parametrize(
    "given",
    [
        {"most": 9, "penalties": [0, 0], "remembered": []},
        {"most": 10, "penalties": [0, -1], "remembered": [0, 1]},
        {"most": 10, "penalties": [0], "remembered": [0, 1]},
        {"most": "10", "penalties": [0, 0], "remembered": []},
    ],
)
def test_false_claims_are_refused(given):
    data = {"denominator": 1, "length": 2, "classes": [0, 1], "first": [5, 0], "last": [0, 5]}
    checked = Paths(0, {**data, "weights": [[9, 0], [9, 9]]}, 0)
    assert checked.least((), Fraction(-1), {}, CheckerState(given={**given, "most": 14, "penalties": [0, 0]})) == -14
    with pytest.raises(WrongError):
        checked.least((), Fraction(-1), {}, CheckerState(given=given))
