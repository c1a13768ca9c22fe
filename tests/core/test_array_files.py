"""Arrays in files: every fault is an InputError with the file's name."""

import os

import numpy as np
import pytest

import colgen.core.array_files
from colgen.core.array_files import arrays_in, read_array, read_arrays, reading
from colgen.core.errors import InputError
from colgen.solvers.arrays import as_floats
from tests.broken_files import broken_arrays, broken_zips, npy, npz

GIVEN = {"scores": np.arange(6.0).reshape(2, 3), "words": np.array(["a", "β"]), "flag": np.array(True)}


def refused(path, function) -> str:
    with pytest.raises(InputError) as caught:
        function(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    assert len(text) < 300 + len(str(path))
    return text


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_survive_a_round_trip(tmp_path, order):
    path = tmp_path / "a.npz"
    given = GIVEN | {"square": np.asarray(np.arange(4).reshape(2, 2), order=order), "none": np.zeros((0, 3))}
    np.savez_compressed(path, **given)
    found = read_arrays(path, ["scores"])
    assert {name: array.tolist() for name, array in found.items()} == {k: a.tolist() for k, a in given.items()}
    assert found["none"].shape == (0, 3)
    assert arrays_in(path) == set(given)
    np.save(tmp_path / "a.npy", given["square"])
    assert read_array(tmp_path / "a.npy").tolist() == given["square"].tolist()


@pytest.mark.parametrize("what", broken_zips(GIVEN))
def test_a_broken_file_is_an_input_error(tmp_path, what):
    path = tmp_path / "a.npz"
    path.write_bytes(broken_zips(GIVEN)[what])
    refused(path, lambda path: read_arrays(path, ["scores"]))
    arrays_in(path)


@pytest.mark.parametrize("what", broken_arrays(GIVEN["scores"]))
def test_a_broken_array_is_an_input_error(tmp_path, what):
    content = broken_arrays(GIVEN["scores"])[what]
    alone, packed = tmp_path / "a.npy", tmp_path / "a.npz"
    alone.write_bytes(content)
    packed.write_bytes(npz(GIVEN | {"scores": content}))
    refused(alone, read_array)
    refused(packed, read_arrays)


def test_memory_is_not_taken_before_the_size_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(colgen.core.array_files, "ARRAYS_LIMIT", 10_000)
    path = tmp_path / "a.npz"
    np.savez_compressed(path, scores=np.zeros(2000))
    assert "at most 10,000 bytes in total" in refused(path, read_arrays)
    (tmp_path / "a.npy").write_bytes(npy(np.zeros(2000)))
    assert "at most 10,000 bytes in total" in refused(tmp_path / "a.npy", read_array)


def test_pipes_and_folders_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    assert "this is a pipe" in refused(tmp_path / "pipe.npz", read_arrays)
    assert "this is a directory" in refused(tmp_path, read_arrays)
    assert "No such file" in refused(tmp_path / "none.npz", read_arrays)
    assert "null" in refused(tmp_path / "a\0b", read_arrays)
    assert arrays_in(tmp_path / "pipe.npz") == frozenset()


def test_errors_about_array_contents_name_the_file(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, scores=[1.0, np.nan])

    def look(path):
        with reading(path, "scores") as arrays:
            as_floats(arrays["scores"], "scores")

    def miss(path):
        with reading(path, "scores and lengths") as arrays:
            arrays["lengths"]

    assert refused(path, look) == f"{path}: scores: expected finite numbers, got nan at [1]"
    assert refused(path, miss) == f"{path}: expected scores and lengths (lengths is missing)"
