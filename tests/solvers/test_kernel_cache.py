"""Cached code follows the sources that a kernel uses: callees and constants of other modules, options."""

import importlib
import os
import pickle
import subprocess
import sys
from itertools import count

import numba
import numpy as np
import pytest

from colgen.solvers.kernel_cache import njit, source_digest

KERNEL = "from colgen.solvers.kernel_cache import njit\n\n\n@njit(cache=True)\n"
CALLEE = KERNEL + "def callee(x):\n    return x + 1\n"
CALLER = KERNEL + "def caller(x):\n    return below(x)\n\n\n@njit(cache=True)\ndef below(x):\n"

STABLE = (
    "colgen.solvers.vectors",
    "colgen.solvers.graphs.bits",
    "colgen.solvers.trees.eisner_sibling",
    "colgen.solvers.trees.arborescence",
)

DIGESTS = """
import importlib
from colgen.solvers.kernel_cache import source_digest
for name in {modules}:
    importlib.import_module(name)
    print(source_digest(name))
"""

_NUMBERS = count()

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """What calls a kernel of a package of two modules, whose second one is written anew each time."""
    name = f"kept{next(_NUMBERS)}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    def run(caller, callee):
        for module in [module for module in sys.modules if module.partition(".")[0] == name]:
            del sys.modules[module]
        (folder / "caller.py").write_text(caller.replace("PACKAGE", name))
        (folder / "callee.py").write_text(callee)
        importlib.invalidate_caches()
        kernel = importlib.import_module(f"{name}.caller").caller
        value = kernel(1)
        return value, sum(kernel.stats.cache_hits.values())

    yield run
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def test_a_changed_callee_of_another_module_is_seen(package):
    """The changed function is called by a kernel in an unchanged module."""
    caller = "from PACKAGE.callee import callee\n" + CALLER + "    return callee(x)\n"
    assert package(caller, CALLEE) == (2, 0)
    assert package(caller, CALLEE) == (2, 1)
    assert package(caller, CALLEE.replace("x + 1", "x + 100")) == (101, 0)


def test_a_changed_constant_of_another_module_is_seen(package):
    caller = "from PACKAGE.callee import STEP\n" + CALLER + "    return x + STEP\n"
    assert package(caller, "STEP = 1\n") == (2, 0)
    assert package(caller, "STEP = 1\n") == (2, 1)
    assert package(caller, "STEP = 100\n") == (101, 0)


def test_another_way_to_compile_a_callee_is_seen(package):
    caller = "from PACKAGE.callee import callee\n" + CALLER + "    return callee(x)\n"
    callee = KERNEL + "def callee(x):\n    return x // (x - 1)\n"
    with pytest.raises(ZeroDivisionError):
        package(caller, callee)
    value, hits = package(caller, callee.replace("cache=True", "cache=True, error_model='numpy'"))
    assert (value, hits) == (0, 0)


@pytest.mark.parametrize("import_", ["from PACKAGE.callee", "from .callee", "from PACKAGE"])
def test_every_form_of_import_is_followed(package, import_):
    caller = f"{import_} import (\n    callee,\n)\n" + CALLER + "    return callee(x)\n"
    caller = caller.replace("callee(x)", "callee.callee(x)") if import_ == "from PACKAGE" else caller
    assert package(caller, CALLEE) == (2, 0)
    assert package(caller, CALLEE.replace("x + 1", "x + 100")) == (101, 0)


def test_an_index_with_missing_types_is_empty(package):
    """An index names the type of an argument, whose class has another name by now."""
    caller = "from PACKAGE.callee import callee\n" + CALLER + "    return callee(x)\n"
    pair = "from typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    first: int\n\n\n"
    callee = pair + CALLEE.replace("x + 1", "inner(Pair(x))") + "\n\n@njit(cache=True)\ndef inner(pair):\n"
    assert package(caller, callee + "    return pair.first + 1\n") == (2, 0)
    assert package(caller, callee.replace("Pair", "Other") + "    return pair.first + 1\n") == (2, 0)


def test_an_index_that_cannot_be_read_is_empty(package, tmp_path):
    caller = "from PACKAGE.callee import callee\n" + CALLER + "    return callee(x)\n"
    package(caller, CALLEE)
    for index in tmp_path.rglob("*.nbi"):
        with index.open("rb") as file:
            version = pickle.load(file)
        index.write_bytes(pickle.dumps(version) + b"cno_such_module\nClass\n.")
    assert package(caller, CALLEE) == (2, 0)


def test_files_of_earlier_sources_are_deleted(package, tmp_path):
    caller = "from PACKAGE.callee import callee\n" + CALLER + "    return callee(x)\n"
    package(caller, CALLEE)
    before = {file.name for file in tmp_path.rglob("caller.caller*.nb?")}
    package(caller, CALLEE.replace("x + 1", "x + 100"))
    after = {file.name for file in tmp_path.rglob("caller.caller*.nb?")}
    assert len(before) == len(after) == 2
    assert not before & after


def test_code_for_other_types_is_not_used(package, tmp_path):
    """Two processes that compile at the same time may write to one file."""
    caller = "from PACKAGE.callee import callee\n" + CALLER + "    return callee(x)\n"
    package(caller, CALLEE)
    (code,) = tmp_path.rglob("caller.caller*.nbc")
    stored = code.read_bytes()
    assert package(caller, CALLEE) == (2, 1)
    kernel = sys.modules[next(name for name in sys.modules if name.endswith(".caller"))].caller
    assert kernel(1.5) == 2.5
    (floats,) = set(tmp_path.rglob("caller.caller*.nbc")) - {code}
    floats.write_bytes(stored)
    fresh = kernel._cache.load_overload((numba.float64,), kernel.targetctx)
    assert fresh is None


def test_python_cannot_call_a_kernel_without_a_wrapper():
    @njit(no_cpython_wrapper=True)
    def below(x):
        return x + 1

    @njit
    def calls(x):
        return below(x)

    assert calls(1) == 2
    with pytest.raises(TypeError, match="below is compiled without a wrapper: only kernels can call it"):
        below(1)


def test_a_kernel_that_borrows_works_on_arrays_of_its_caller():
    @njit(borrows=True)
    def doubled(values, row):
        for x in range(len(values[row])):
            values[row][x] *= 2
        return len(values[row])

    @njit
    def two_rows(values):
        return doubled(values, 0) + doubled(values, 1)

    values = np.arange(6.0).reshape(3, 2)
    held = sys.getrefcount(values)
    assert two_rows(values) == 4
    assert values.tolist() == [[0.0, 2.0], [4.0, 6.0], [4.0, 5.0]]
    assert sys.getrefcount(values) == held


def test_a_kernel_that_borrows_returns_no_array():
    @njit(borrows=True)
    def first(values):
        return values[0], 1

    @njit
    def calls(values):
        return first(values)[0].sum()

    for kernel in (first, calls):
        with pytest.raises((TypeError, numba.TypingError), match="must not return an array"):
            kernel(np.ones((2, 2)))


def test_a_kernel_that_borrows_makes_no_arrays():
    @njit(borrows=True)
    def made(size):
        return np.zeros(size).sum()

    with pytest.raises(numba.TypingError):
        made(3)


def test_a_kernel_that_borrows_keeps_no_array_of_a_kernel_that_it_calls():
    @njit
    def made(size):
        return np.zeros(size), 1

    @njit(borrows=True)
    def calls(size):
        return made(size)[0].sum()

    with pytest.raises(TypeError, match=r"must not receive one, but .*made returns one"):
        calls(3)


@pytest.mark.parametrize("alone_first", [False, True])
def test_reference_counting_does_not_depend_on_the_first_caller(alone_first):
    """numba compiles a kernel without options of its own with those of its first caller."""

    @njit
    def summed(values):
        copy = values.copy()
        return copy.sum()

    @njit
    def either(one, other, which):
        return one if which else other

    @njit(borrows=True)
    def calls(values):
        return summed(values) + len(either(values, values, True))

    @njit(borrows=True)
    def calls_summed(values):
        return summed(values)

    values = np.ones(3)
    if alone_first:
        assert summed(values) == 3.0
    assert calls_summed(values) == 3.0
    with pytest.raises(TypeError, match="either"):  # the returned reference would never be released
        calls(values)


@pytest.mark.parametrize("options", [{"error_model": "numpy"}, {"fastmath": True}])
def test_options_do_not_depend_on_the_first_caller(options):
    @njit
    def share(x, of):
        return np.isnan(x) or x / of > 1.0

    @njit(**options)
    def calls(x, of):
        return share(x, of)

    assert calls(np.nan, 1.0)
    with pytest.raises(ZeroDivisionError):
        calls(1.0, 0.0)
    assert share(np.nan, 1.0)


def test_digests_are_the_same_in_every_process():
    command = [sys.executable, "-c", DIGESTS.format(modules=STABLE)]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout.split()
    for name in STABLE:
        importlib.import_module(name)
    assert printed == [source_digest(name) for name in STABLE]
