"""Scores of tuples against a dictionary of weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.factored_scores import ROW, distance_bin, empty_table, score_arcs, table_of
from solvers.tuple_scores import mark_tuples, score_allowed_arcs, score_tuples

SIZES = np.array([1, 3, 4, 6])


def random_table(templates, relations, weights, rng, capacity=4096):
    """A table with a weight under about half of all keys, and the same weights by template, codes and relation."""
    table = empty_table(np.array(templates), SIZES, weights=weights, relations=relations)
    known = {}
    keys, values = [], []
    for t, template in enumerate(templates):
        for codes in np.ndindex(*(SIZES[c] for c in template)):
            for relation in range(relations):
                if rng.random() < 0.5:
                    weight = rng.normal(size=weights).astype(np.float32)
                    known[t, codes, relation] = weight
                    keys.append(table.offsets[t] + (table.strides[t] * codes).sum() + relation)
                    values.append(weight)
    return table_of(table, np.array(keys), np.array(values)), known


@given(seed=st.integers(0, 10_000), width=st.integers(2, 5), parts=st.integers(0, 30))
def test_tuples(seed, width, parts):
    rng = np.random.default_rng(seed)
    templates = [tuple(rng.integers(0, 3, width).tolist()) for _ in range(3)]
    table, known = random_table(templates, 3, 1, rng)
    codes = np.stack([rng.integers(-1, size, 9) for size in SIZES]).astype(np.int32)
    columns = rng.integers(0, 9, (parts, width))
    relation = rng.integers(0, 3, parts)
    expected = np.zeros(parts)
    for part in range(parts):
        for t, template in enumerate(templates):
            of_part = tuple(int(codes[c, w]) for c, w in zip(template, columns[part], strict=True))
            expected[part] += known.get((t, of_part, int(relation[part])), [0.0])[0]
    assert score_tuples(codes, table, columns, relation) == pytest.approx(expected, abs=1e-5)


@given(seed=st.integers(0, 10_000))
def test_marking_then_scoring(seed):
    """A tuple whose features are marked once scores as many as it has features in common with what was marked."""
    rng = np.random.default_rng(seed)
    templates = [(1, 2, 3), (2, 2, 1)]
    table = empty_table(np.array(templates), SIZES, weights=1, relations=2)
    codes = np.stack([rng.integers(-1, size, 9) for size in SIZES]).astype(np.int32)
    columns, relation = rng.integers(0, 9, (4, 3)), rng.integers(0, 2, 4)
    delta, slots = np.zeros_like(table.values), np.empty(8, dtype=np.int64)
    count = mark_tuples(codes, table, delta, columns, relation, 1.0, slots)
    features = [
        [
            (t, tuple(codes[c, w] for c, w in zip(template, row, strict=True)), r)
            for t, template in enumerate(templates)
            if all(codes[c, w] >= 0 for c, w in zip(template, row, strict=True))
        ]
        for row, r in zip(columns, relation, strict=True)
    ]
    everything = [feature for of_part in features for feature in of_part]
    assert count == len(everything)
    marked = table._replace(values=delta)
    expected = [sum(everything.count(feature) for feature in of_part) for of_part in features]
    assert score_tuples(codes, marked, columns, relation) == pytest.approx(np.array(expected, dtype=float))


@given(seed=st.integers(0, 10_000), share=st.floats(0.0, 1.0))
def test_allowed_arcs_score_as_all_arcs_do(seed, share):
    rng = np.random.default_rng(seed)
    n = 7
    table, _ = random_table([(0, 0), (1, 0), (0, 2), (1, 2), (3, 3)], 2, ROW, rng)
    codes = np.stack([rng.integers(-1, size, n + 3) for size in SIZES]).astype(np.int32)
    codes[0] = 0
    tags = rng.integers(0, 3, n + 3)
    between = rng.normal(size=(3, 3, 2, 3)).astype(np.float32)
    allowed = rng.random((n + 1, n + 1)) < share
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    every = score_arcs(codes, table, tags, between)
    assert score_allowed_arcs(codes, table, tags, between, allowed) == pytest.approx(
        np.where(allowed, np.where(np.isfinite(every), every, 0.0), 0.0), abs=1e-4
    )
    assert distance_bin(1, 3) == 1
