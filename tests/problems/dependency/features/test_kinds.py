"""Kinds of tokens, and pairs of them, against dictionaries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.dependency.features.kinds import no_kinds, number_kinds, number_pairs

CONJUNCTIONS = np.array([0, 2])


@given(seed=st.integers(0, 10_000), kinds=st.integers(0, 12), pairs=st.integers(0, 60))
def test_numbers_match_dictionaries(seed, kinds, pairs):
    """Each kind and each pair has a unique, stable number while memory lasts."""
    rng = np.random.default_rng(seed)
    known = no_kinds(CONJUNCTIONS, kinds, pairs)
    by_codes, by_pair = {}, {}
    for _ in range(5):
        n = int(rng.integers(1, 8))
        codes = rng.integers(-1, 3, size=(3, n + 3)).astype(np.int32)
        numbers, found = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
        number_kinds(known, codes, numbers)
        for token in range(n + 1):
            kind = tuple(codes[CONJUNCTIONS, token].tolist())
            if kind not in by_codes and len(by_codes) < kinds:
                by_codes[kind] = len(by_codes)
            assert numbers[token] == by_codes.get(kind, -1)
        for head in range(n + 1):
            places = rng.integers(-1, 3, size=n + 1)
            number_pairs(known, numbers[head], numbers, places, 3, found)
            for m in range(1, n + 1):
                key = (numbers[head], numbers[m], places[m])
                if min(key) < 0:
                    assert found[m] == -1
                elif key in by_pair:
                    assert found[m] == by_pair[key]
                elif len(by_pair) < pairs:
                    by_pair[key] = len(by_pair)
                    assert found[m] == -2 - by_pair[key]  # a new pair
                else:
                    assert found[m] == -1
    assert known.counts.tolist() == [len(by_codes), len(by_pair)]
