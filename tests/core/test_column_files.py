"""Columns in files: what comes back is what was written, and a file runs nothing."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import Column, Columns, InputError, Row, WarmStart, solve
from colgen.core.column_files import load_columns, save_columns
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


@settings(max_examples=40)
@given(singles, st.lists(structures, max_size=4), st.booleans())
def test_what_comes_back_is_what_was_written(tmp_path_factory, columns, meanings, batched):
    path = tmp_path_factory.mktemp("columns") / "pool.npz"
    keyed = [Column(2.0, {ROWS[0]: 1.0}, m, ("x", (k, "a"))) for k, m in enumerate(meanings)]
    save_columns(path, batch_of(columns) if batched else [*columns, *keyed])
    expected = columns if batched else [*columns, *keyed]
    found = load_columns(path)
    assert list(found) == expected
    assert [type(c.structure) for c in found] == [type(c.structure) for c in expected]


def test_a_run_starts_from_the_pool_of_another(tmp_path):
    first = solve(CuttingStock())
    save_columns(tmp_path / "pool.npz", first.pool)
    saved = load_columns(tmp_path / "pool.npz")
    assert list(saved) == list(first.pool)

    class Again(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(columns=saved)

    second = solve(Again())
    assert second.objective == first.objective
    assert second.columns_generated < first.columns_generated
    assert len(second.pool) >= len(first.pool)


def test_arrays_are_structures_too(tmp_path):
    batch = Columns([1.0], [0, 1], [0], [1.0], [np.arange(3)]).over(ROWS, {})
    save_columns(tmp_path / "pool.npz", batch)
    assert load_columns(tmp_path / "pool.npz")[0].structure.tolist() == [0, 1, 2]


def test_what_cannot_be_saved_is_refused(tmp_path):
    path = tmp_path / "pool.npz"
    with pytest.raises(InputError, match=r"a structure, .*, is a object: expected numbers"):
        save_columns(path, [Column(1.0, {}, object())])
    with pytest.raises(InputError, match="that no master has seen"):
        save_columns(path, Columns([1.0], [0, 0], [], []))
    with pytest.raises(InputError, match="brings rows along"):
        save_columns(path, [Column(1.0, {("a", 0): 1.0}, rows=(Row(("a", 0), upper=1.0),))])
    assert not path.exists()


class Evil:
    def __reduce__(self):
        return (print, ("run",))


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", pickle.dumps(Evil()), "missing", "format", "pickled"], ids=range(6)
)
def test_other_files_are_refused(tmp_path, content, capsys):
    path = tmp_path / "pool.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "missing":
        np.savez(path, costs=np.ones(2))
    else:
        save_columns(path, [Column(1.0, {}, "one", upper=math.inf)])
        with np.load(path) as file:
            arrays = dict(file)
        if content == "format":
            arrays["said"] = np.frombuffer(b'{"format": "other"}', dtype=np.uint8)
        else:
            arrays["costs"] = np.array([Evil()], dtype=object)
        np.savez(path, **arrays)
    with pytest.raises(InputError, match=r"pool.npz: expected a file of columns that save_columns has written"):
        load_columns(path)
    assert not capsys.readouterr().out
