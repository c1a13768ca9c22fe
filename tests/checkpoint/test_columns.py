"""Columns and solutions in files: data are read as written, and invalid data are refused."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import Column, Columns, InputError, Row, Solution, WarmStart, solve
from colgen.checkpoint.columns import ColumnWriter, read_columns, read_solution, write_columns, write_solution
from colgen.checkpoint.pools import read_pool
from tests.core.test_column_batch import ROWS, batch_of, singles
from tests.toys import CuttingStock

structures = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        | st.frozensets(st.integers() | st.text(max_size=2), max_size=3)
    ),
)


def identity(structure):
    return structure


def through_json(description, arrays):
    return json.loads(json.dumps(description)), arrays


@settings(max_examples=40)
@given(singles, st.lists(structures, max_size=4), st.booleans())
def test_columns_and_solutions_are_read_as_written(columns, meanings, batched):
    keyed = [Column(2.0, {ROWS[0]: 1.0}, m, ("x", (k, "a"))) for k, m in enumerate(meanings)]
    expected = columns if batched else [*columns, *keyed]
    written = write_columns("c", batch_of(columns) if batched else expected, identity)
    found = read_columns("c", *through_json(*written))
    assert list(found) == expected
    assert [type(c.structure) for c in found] == [type(c.structure) for c in expected]
    solution = Solution(3.5, [(column, 0.5 + k) for k, column in enumerate(expected)], {("x", 1): 2.0}, {("x", 1)})
    again = read_solution("s", *through_json(*write_solution("s", solution, identity)))
    assert (again.objective, list(again.columns)) == (3.5, list(solution.columns))
    assert (again.variables, again.integer) == ({("x", 1): 2.0}, {("x", 1)})


def test_a_growing_batch_is_written_like_a_complete_one():
    columns = [Column(0.0, {"a": 1.0}, 0), Column(1.0, {"b": 2.0}, 1, "k"), Column(2.0, {"a": 3.0}, 2)]
    batch = write_columns("c", columns, identity)
    converted = []
    writer = ColumnWriter("c", lambda structure: converted.append(structure) or structure)
    position = {"a": 0, "b": 1}
    writer.write(Columns.of(columns[:1]).over(["a", "b"], position), ["a"])
    grown = writer.write(Columns.of(columns).over(["a", "b"], position), ["a", "b"])
    assert converted == [0, 1, 2]  # each once
    assert grown[0] == batch[0]
    assert all((grown[1][name] == array).all() for name, array in batch[1].items())


def test_structures_are_converted():
    written = write_columns("c", [Column(1.0, {"a": 1.0}, {3, 1})], sorted)
    assert read_columns("c", *written)[0].structure == [1, 3]
    assert read_columns("c", *written, from_plain=set)[0].structure == {1, 3}


def test_arrays_are_structures_too():
    batch = Columns([1.0], [0, 1], [0], [1.0], [np.arange(3)]).over(ROWS, {})
    assert read_columns("c", *write_columns("c", batch, identity))[0].structure.tolist() == [0, 1, 2]


def test_data_that_cannot_be_written_are_refused():
    with pytest.raises(InputError, match=r"the structure of a column, .*, is a object: expected numbers"):
        write_columns("c", [Column(1.0, {}, object())], identity)
    brings = Column(1.0, {("a", 0): 1.0}, rows=(Row(("a", 0), upper=1.0),))
    (found,) = read_columns("c", *write_columns("c", [brings], identity))
    assert (found.coefficients, found.rows) == ({("a", 0): 1.0}, ())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"count": 3}, "expected 3 entries of 'c.costs', got 2"),
        ({"count": True}, "expected a number of columns"),
        ({"rows": ["a"]}, "expected 'c.rows' from 0 to 0, got 0 to 1"),
        ({"rows": ["a", "a"]}, "each name of a row once"),
        ({"named": True}, "expected a text as 'c.keys'"),
        ({"c.costs": np.array([1, 2])}, "an array 'c.costs' of numbers"),
        ({"c.costs": np.array([1.0, np.nan])}, "finite numbers as 'c.costs'"),
        ({"c.starts": np.array([0, 2, 1])}, "'c.starts' to ascend"),
        ({"c.values": np.array([1.0])}, "expected 2 entries of 'c.values', got 1"),
        ({"c.structures": np.frombuffer(b"1\n", dtype=np.uint8)}, "expected 2 structures"),
        ({"c.structures": np.zeros(3)}, "expected a text as 'c.structures'"),
    ],
)
def test_invalid_columns_are_refused(change, expected):
    columns = [Column(1.0, {"a": 1.0}, 1), Column(2.0, {"b": 1.0}, 2)]
    description, arrays = write_columns("c", columns, identity)
    description |= {name: value for name, value in change.items() if name in description}
    arrays |= {name: value for name, value in change.items() if name in arrays}
    with pytest.raises(InputError, match=expected):
        read_columns("c", description, arrays)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"objective": None}, "finite number"),
        ({"variables": [["x", float("inf")]]}, "finite number"),
        ({"variables": 3}, "expected variables and their values"),
        ({"integer": None}, "expected a list of variables"),
        ({"columns": None}, "expected columns as 's'"),
        ({"s.uses": np.array([1.0, 2.0])}, "expected a number for each column"),
        ({"s.uses": np.array([np.nan])}, "finite numbers as 's.uses'"),
    ],
)
def test_invalid_solutions_are_refused(change, expected):
    description, arrays = write_solution("s", Solution(1.0, [(Column(1.0, {"a": 1.0}), 1.0)], {"x": 1.0}), identity)
    description |= {name: value for name, value in change.items() if name in description}
    arrays |= {name: value for name, value in change.items() if name in arrays}
    with pytest.raises(InputError, match=expected):
        read_solution("s", description, arrays)


def test_a_run_starts_from_the_columns_of_another():
    first = solve(CuttingStock())
    saved = read_columns("c", *write_columns("c", first.pool, identity))
    assert list(saved) == list(first.pool)

    class Again(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(columns=saved)

    second = solve(Again())
    assert second.objective == first.objective
    assert second.columns_generated < first.columns_generated
    assert len(second.pool) >= len(first.pool)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\3\4", b"colgen sealed 1\n"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "pool"
    path.write_bytes(content)
    with pytest.raises(InputError, match="pool"):
        read_pool(path)
