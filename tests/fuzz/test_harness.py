"""A few seeded cases of the engine pass."""

import pytest

from tests.fuzz.harness import fuzz


@pytest.mark.parametrize("seed", [2])
def test_the_engine_proves_correct_results(seed):
    tally = fuzz("engine", seed, count=15, shrinking=0.0)

    assert tally.runs >= 15
    assert [failed["words"] for failed in tally.failed] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_engine_proves_correct_results_for_a_minute():
    tally = fuzz("engine", 12, seconds=60.0)

    assert [failed["words"] for failed in tally.failed] == []
