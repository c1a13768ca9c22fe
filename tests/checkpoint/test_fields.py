"""Checkpoints and pools with a correct checksum and invalid contents raise one clear error."""

import copy
import dataclasses
import math
import random

import numpy as np
import pytest

from colgen import Checkpoint, InputError, Method, NodeLimit, solve
from colgen.checkpoint.file import FORMAT
from colgen.checkpoint.pools import FORMAT as POOL
from colgen.checkpoint.pools import read_pool
from colgen.core.serialization import read_sealed, write_sealed
from tests.sweeps import seeds
from tests.zoo import Facilities, Partitioning

PROBLEMS = {
    "cuts": lambda: Partitioning(9, 4),
    "decisions": lambda: Partitioning(9, 3, cuts=False),
    "original variables": lambda: Partitioning(7, 2, cover=True),
    "facilities": Facilities,
}

VALUES = [
    None,
    True,
    -1,
    0,
    3,
    2**31,
    2**63,
    10**400,
    -(10**30),
    0.5,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    "",
    "x",
    "ROW",
    [],
    [[]],
]
VALUES += [
    [1, 2, 3],
    {},
    {"tuple": []},
    {"tuple": 1},
    {"dict": [[[], 1]]},
    {"set": [[]]},
    {"dtype": "<f8", "array": "x"},
]
VALUES += [
    {"dtype": "O", "array": []},
    {"base64": "!", "dtype": "<f8", "shape": [-1]},
    {"term": []},
    {"term": ["Linear"]},
]


def places(value, found, path=()):
    """Return the paths of all values of a JSON document."""
    if path:
        found.append(path)
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        places(part, found, (*path, key))
    return found


def mutate(rng, said, arrays):
    """Return a document in which one field or array is changed or missing."""
    said, arrays = copy.deepcopy(said), {name: array.copy() for name, array in arrays.items()}
    if arrays and rng.random() < 0.35:
        name = rng.choice(sorted(arrays))
        array = arrays[name]
        kinds = [
            lambda: array[:-1],
            lambda: np.concatenate([array, array[:1]]),
            lambda: array[:0],
            lambda: array.astype(np.float64) + 0.5,
            lambda: np.full(array.shape, np.nan),
            lambda: np.full(array.shape, np.inf),
            lambda: np.full(array.shape, -7, dtype=np.int64),
            lambda: np.full(array.shape, 2**62, dtype=np.int64),
            lambda: array.reshape(-1, 1),
            lambda: array[::-1].copy(),
            lambda: np.roll(array, 1),
            lambda: array != 0,
        ]
        if rng.random() < 0.1:
            del arrays[name]
            return f"without {name}", said, arrays
        number = rng.randrange(len(kinds))
        arrays[name] = kinds[number]()
        return f"{name}: kind {number}", said, arrays
    *above, key = rng.choice(places(said, []))
    target = said
    for step in above:
        target = target[step]
    what = rng.randrange(6)
    old = target[key]
    if what == 0:
        del target[key]
    elif what == 1 and isinstance(target, list):
        target.insert(key, copy.deepcopy(old))
    elif what == 2 and isinstance(old, (int, float)):
        target[key] = rng.choice([-old, old + 1, 2 * old + 7, old * 1e6])
    else:
        target[key] = copy.deepcopy(rng.choice(VALUES))
    return f"{[*above, key]}: {str(old)[:40]} -> {str(target[key])[:40] if what else 'gone'}", said, arrays


def check_error(what, error):
    """Check that an error is an ``InputError`` with one short line."""
    if not isinstance(error, InputError) or "\n" in str(error) or len(str(error)) > 500:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


def bare(problem, *, method=Method(), **settings):
    return solve(problem, method=dataclasses.replace(method, heuristics=()), **settings)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Return the checkpoints of stopped and finished runs of each problem."""
    folder, found = tmp_path_factory.mktemp("checkpoints"), {}
    for name, make in PROBLEMS.items():
        for limit in (2, 4, 10**6):
            path = folder / f"{name}{limit}"
            bare(make(), stop=NodeLimit(limit), checkpoint=Checkpoint(path, every=1e-9))
            found[name, limit] = read_sealed(path, FORMAT)
    return found


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", seeds(2))
def test_invalid_checkpoints_raise_one_clear_error(name, seed, checkpoints, tmp_path):
    rng, path = random.Random(seed), tmp_path / "run"
    for _ in range(20):
        sealed = checkpoints[name, rng.choice([2, 4, 10**6])]
        what, said, arrays = mutate(rng, *sealed)
        write_sealed(path, FORMAT, said, arrays)
        try:
            bare(PROBLEMS[name](), checkpoint=path, stop=NodeLimit(30))
        except Exception as error:
            check_error(what, error)


@pytest.mark.parametrize("name", PROBLEMS)
def test_invalid_pools_raise_one_clear_error(name, tmp_path):
    rng, path = random.Random(1), tmp_path / "pool"
    solve(PROBLEMS[name]()).pool.save(path)
    sealed = read_sealed(path, POOL)
    for _ in range(40):
        what, said, arrays = mutate(rng, *sealed)
        write_sealed(path, POOL, said, arrays)
        try:
            read_pool(path)
            solve(PROBLEMS[name](), start=path, stop=NodeLimit(30))
        except Exception as error:
            check_error(what, error)
