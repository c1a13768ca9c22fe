"""Features of tuples, their scores and marks, against dictionaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.dependency.features.arc_scores import arc_index, score_arcs
from colgen.problems.dependency.features.factored_scores import distance_bin, empty_table
from colgen.problems.dependency.features.factored_scores import table_of as hashed_table_of
from colgen.problems.dependency.features.mixed_radix import keys_of, radix_of
from colgen.problems.dependency.features.tuple_index import index_of
from colgen.problems.dependency.features.tuple_scores import mark_tuples, score_tuples, table_of
from colgen.problems.nonlocal_parsing.kernels.part_tuples import (
    NUM_BINS,
    adjacent_tuples,
    arc_tuples,
    outermost_tuples,
    pairs_of,
    to_cube,
)
from colgen.problems.nonlocal_parsing.kernels.part_tuples import score_arcs as score_allowed_arcs

SIZES = np.array([1, 3, 4, 6])


def random_table(templates, relations, weights, rng, share=0.5):
    """A table with a share of all features, and its weights by template, codes and relation."""
    radix = radix_of(templates, SIZES, relations)
    known = {}
    keys, values = [], []
    for t, template in enumerate(templates):
        for codes in np.ndindex(*(SIZES[c] for c in template)):
            for relation in range(relations):
                if rng.random() < share:
                    weight = rng.normal(size=weights).astype(np.float32)
                    known[t, codes, relation] = weight
                    keys.append(radix.offsets[t] + (radix.strides[t] * codes).sum() + relation)
                    values.append(weight)
    found = np.array(values, dtype=np.float32).reshape(-1, weights)
    return table_of(radix, np.array(keys, dtype=np.int64), found), known


def random_codes(rng, length=9):
    """Codes of some tokens, some -1; the constant conjunction has code 0."""
    codes = np.stack([rng.integers(-1, size, length) for size in SIZES]).astype(np.int32)
    codes[0] = 0
    return codes


def features_of(codes, templates, row, relation):
    """The features of a tuple: template, codes, relation."""
    for t, template in enumerate(templates):
        of_tuple = tuple(int(codes[c, w]) for c, w in zip(template, row, strict=True))
        if min(of_tuple) >= 0:
            yield t, of_tuple, int(relation)


@given(
    seed=st.integers(0, 10_000),
    width=st.integers(2, 5),
    parts=st.integers(0, 40),
    share=st.sampled_from([0.0, 0.02, 0.5, 1.0]),
    ordered=st.booleans(),
    weights=st.sampled_from([1, 3]),
)
def test_tuples(seed, width, parts, share, ordered, weights):
    rng = np.random.default_rng(seed)
    templates = [tuple(rng.integers(0, 4 if width < 4 else 3, width).tolist()) for _ in range(4)]
    table, known = random_table(templates, 3, weights, rng, share)
    codes = random_codes(rng)
    columns = rng.integers(0, 9 if width < 4 else 3, (parts, width))
    if ordered:
        columns = columns[np.lexsort(columns.T[::-1])]
    relation, bins = rng.integers(0, 3, parts), rng.integers(0, weights, parts)
    expected = np.zeros(parts)
    for part in range(parts):
        for feature in features_of(codes, templates, columns[part], relation[part]):
            row = known.get(feature, np.zeros(weights))
            expected[part] += row[0] + (row[bins[part]] if weights > 1 else 0.0)
    found = score_tuples(codes, table.features, table.weights, columns, relation, bins)
    assert found == pytest.approx(expected, abs=1e-5)


@given(seed=st.integers(0, 10_000), weights=st.sampled_from([1, 3]))
def test_marks_match_the_table(seed, weights):
    rng = np.random.default_rng(seed)
    templates = [(1, 2, 3), (2, 2, 1), (0, 3, 0), (0, 0, 0)]
    table, known = random_table(templates, 2, weights, rng)
    codes = random_codes(rng)
    columns, relation, bins = rng.integers(0, 9, (5, 3)), rng.integers(0, 2, 5), rng.integers(0, weights, 5)
    plus, marks = bool(rng.integers(2)), np.empty(50, dtype=np.int64)
    count = mark_tuples(codes, table.features, weights, columns, relation, bins, plus, marks, 7)
    numbers = {feature: number for number, feature in enumerate(known)}
    expected = []
    for row, r, b in zip(columns, relation, bins, strict=True):
        for feature in features_of(codes, templates, row, r):
            if feature in numbers:
                expected += [numbers[feature] * weights + bin for bin in ([0, b] if weights > 1 else [0])]
    assert sorted((marks[7:count] >> 1).tolist()) == sorted(expected)
    assert (marks[7:count] & 1 == plus).all()


@given(seed=st.integers(0, 10_000))
def test_keys_cover_all_features(seed):
    rng = np.random.default_rng(seed)
    templates = [(1, 2, 3), (2, 0, 1), (0, 0, 0)]
    radix, codes = radix_of(templates, SIZES, 2), random_codes(rng)
    columns, relation = rng.integers(0, 9, (6, 3)), rng.integers(0, 2, 6)
    expected = [
        radix.offsets[t] + (radix.strides[t] * of_tuple).sum() + r
        for row, r in zip(columns, relation, strict=True)
        for t, of_tuple, r in features_of(codes, templates, row, r)
    ]
    assert keys_of(radix, codes, columns, relation).tolist() == expected


def test_invalid_keys():
    radix = radix_of([(1, 2)], SIZES, 2)
    for keys in ([3, 3], [4, 2], [-1, 2]):
        with pytest.raises(ValueError, match="ascending"):
            index_of(radix, np.array(keys))
    with pytest.raises(ValueError, match="below 24"):
        index_of(radix, np.array([3, 24]))
    with pytest.raises(ValueError, match="weights of 2"):
        table_of(radix, np.array([1, 2]), np.zeros((3, 1), dtype=np.float32))
    with pytest.raises(OverflowError, match="63 bits"):
        radix_of([(1, 1, 1)], np.array([1, 2**21]), 2)
    with pytest.raises(OverflowError, match="31 bits"):
        index_of(radix_of([(1,)], np.array([1, 2**30]), 2), np.array([3]))


@given(seed=st.integers(0, 10_000), share=st.floats(0.0, 1.0))
def test_arcs_score_as_in_a_hash_table(seed, share):
    rng = np.random.default_rng(seed)
    n = 7
    templates = [(0, 0), (1, 0), (0, 2), (1, 2), (3, 3)]
    table, _ = random_table(templates, 2, 1 + NUM_BINS, rng)
    hashed = empty_table(np.array(templates), SIZES, weights=1 + NUM_BINS, relations=2)
    hashed = hashed_table_of(hashed, table.keys, table.weights)
    codes = random_codes(rng, n + 3)
    tags = rng.integers(0, 3, n + 3)
    between = rng.normal(size=(3, 3, 2, 3)).astype(np.float32)
    allowed = rng.random((n + 1, n + 1)) < share
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    every = score_arcs(codes, arc_index(hashed), tags, between)
    found = score_allowed_arcs(codes, table.features, table.weights, tags, between, allowed)
    assert found == pytest.approx(np.where(allowed, np.where(np.isfinite(every), every, 0.0), 0.0), abs=1e-4)


def test_tuples_of_arcs():
    rows = np.array([(h, m) for h in range(30) for m in range(1, 30) if h != m])
    _, relation, bins = arc_tuples(rows)
    for (h, m), right, bin_number in zip(rows.tolist(), relation, bins, strict=True):
        assert right == (h > m)
        assert bin_number == 1 + distance_bin(h, m)
    allowed = np.zeros((4, 4), dtype=bool)
    allowed[[0, 2, 2], [1, 1, 3]] = True
    assert pairs_of(allowed).tolist() == [[0, 1], [2, 1], [2, 3]]


def test_tuples_of_local_parts():
    rows = np.array([[0, 3, 0], [5, 3, 4], [5, 1, 4], [1, 9, 2]])
    columns, relation, _ = adjacent_tuples(rows, 10)
    assert columns.tolist() == [[0, 3, 10], [5, 3, 4], [5, 1, 4], [1, 9, 2]]
    assert relation.tolist() == [2 * 2, 1, 2 * 2 + 1, 2 * 3]  # distances 3, 1, 3 and 7, by side
    rows = np.array([[2, 5, 5], [2, 5, 4], [2, 5, 2], [2, 5, 7], [6, 3, 4], [6, 3, 1]])
    columns, relation, _ = outermost_tuples(rows, 10)
    assert columns[:, 2].tolist() == [10, 4, 11, 7, 4, 1]
    assert relation.tolist() == [0, 0, 2, 2, 1, 3]
    cube = to_cube(rows, np.arange(1.0, 7.0), 8)
    assert cube[tuple(rows.T)].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert cube.sum() == 21.0
