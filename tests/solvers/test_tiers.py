"""What is interpreted at first is what compiled code computes, and what is broken off leaves no trace."""

import importlib
import pickle
import pkgutil

import numba
import numpy as np
import pytest

import colgen.problems
import colgen.solvers
from colgen.solvers import compiling, tiers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.tiers import NotPlainError, Tiered, interpreted, tiered

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def steps_left(monkeypatch):
    """Whatever other tests have taken."""
    monkeypatch.setattr(compiling.Interpreting, "steps", 10**6)


def made(function, **options):
    """A kernel that nobody has called before."""
    return tiered(njit(function), **options)


@njit
def twice(x):
    return 2 * x


def fill(target, number, rng):
    """Entries one after the other, and as many draws."""
    drawn = 0.0
    for i in range(number):
        target[i % len(target)] += twice(i)
        drawn += rng.random()
    return drawn


def is_compiled(kernel):
    return bool(kernel.kernel.signatures)


def test_a_small_call_is_interpreted():
    kernel, target = made(fill), np.zeros(3, np.int64)
    drawn = kernel(target, 5, np.random.default_rng(1))
    assert target.tolist() == [6, 10, 4]
    assert drawn == np.random.default_rng(1).random(5).sum()
    assert not is_compiled(kernel)


def test_a_long_call_is_broken_off_and_leaves_no_trace():
    """The array has been written to by then, and numbers been drawn."""
    kernel, target, rng = made(fill), np.arange(3), np.random.default_rng(1)
    other, other_rng = np.arange(3), np.random.default_rng(1)
    number = tiers.STEPS + 1
    assert kernel(target, number, rng) == njit(fill)(other, number, other_rng)
    assert target.tolist() == other.tolist()
    assert rng.random() == other_rng.random()
    assert is_compiled(kernel)


def test_steps_are_counted_over_all_calls():
    kernel, target, rng = made(fill), np.zeros(3, np.int64), np.random.default_rng(1)
    for _ in range(3):
        kernel(target, tiers.STEPS // 3, rng)
    assert is_compiled(kernel)
    kernel(target, 1, rng)
    assert target.sum() == 3 * (tiers.STEPS // 3) * (tiers.STEPS // 3 - 1)


def test_all_kernels_of_a_process_share_their_steps(monkeypatch):
    first, second = made(fill), made(fill)
    monkeypatch.setattr(compiling.Interpreting, "steps", 100)
    for kernel in (first, second):
        kernel(np.zeros(3, np.int64), 200, np.random.default_rng(1))
    assert not is_compiled(first)
    assert is_compiled(second)


def test_nothing_is_interpreted_once_speed_is_measured():
    kernel = made(fill)
    compiling.compile_at_once()
    kernel(np.zeros(3, np.int64), 1, np.random.default_rng(1))
    assert is_compiled(kernel)


def test_a_kernel_that_is_kept_in_files_has_fewer_steps(monkeypatch):
    kernel = Tiered(fill, lambda: njit(fill), soon=lambda: True)
    kernel(np.zeros(3, np.int64), tiers.FEW_STEPS + 1, np.random.default_rng(1))
    assert is_compiled(kernel)


def shares(values, total):
    values[0] = 7.0
    return values[1] / total


@pytest.mark.parametrize("total", [0.0, np.float64(0.0)])
def test_errors_are_those_of_compiled_code(total):
    """NumPy's numbers divided by zero are infinite, compiled ones an error: it is raised, and what is written is so."""
    kernel, values = made(shares), np.array([1.0, 2.0])
    with pytest.raises(ZeroDivisionError):
        kernel(values, total)
    assert values.tolist() == [7.0, 2.0]


def results(values, counts, found):
    least: float = 0
    for value in values:
        least = min(least, value)
    return least, counts[0], found[0], values


def first_share(values) -> float:
    return 1 if values[0] > 0.0 else values[0]


def two_shares(values) -> "tuple[float, int]":
    return 1 if values[0] > 0.0 else values[0], 1


def test_numbers_are_pythons_own_as_those_of_compiled_code():
    arguments = (np.array([1.0, -2.0]), np.array([3]), np.array([True]))
    kernel = made(results)
    mine, theirs = kernel(*arguments), njit(results)(*arguments)
    assert not is_compiled(kernel)
    assert [type(one) for one in mine] == [type(one) for one in theirs] == [float, int, bool, np.ndarray]
    assert mine[:3] == theirs[:3]
    share, pair = made(first_share)(np.ones(1)), made(two_shares)(np.ones(1))
    assert (type(share), share) == (type(njit(first_share)(np.ones(1))), 1.0) == (float, 1.0)
    assert [type(part) for part in pair] == [float, int]


def product(numbers):
    return numbers[0] * numbers[1]


def products_32(n):
    numbers = np.full(2, n, np.int32)
    return numbers[0] * numbers[1]


def untouched(numbers, other):
    return other[0]


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float32])
def test_what_is_narrower_than_64_bits_is_computed_by_compiled_code(kind):
    """Plain Python would leave the range of the entries where compiled code does not."""
    numbers = np.array([50_001, 70_001] if kind != np.uint8 else [20, 30]).astype(kind)
    kernel = made(product)
    assert kernel(numbers) == njit(product)(numbers)
    assert is_compiled(kernel)
    assert made(products_32)(70_000) == 70_000**2


def test_an_array_that_is_not_looked_at_may_be_narrow():
    kernel = made(untouched)
    assert kernel(np.ones(2, np.float32), np.array([5])) == 5
    assert not is_compiled(kernel)


def test_a_kernel_that_has_been_looked_at_sees_narrow_whole_numbers():
    kernel = made(product, narrow=True)
    assert kernel(np.array([2, 3], np.int32)) == 6
    assert not is_compiled(kernel)
    kernel(np.ones(2, np.float32))
    assert is_compiled(kernel)


def test_more_arrays_than_can_be_kept_are_compiled_for(monkeypatch):
    monkeypatch.setattr(tiers, "_MOST", 10)
    kernel = made(shares)
    kernel(np.ones(11), 1.0)
    assert is_compiled(kernel)


def asking(target, ask):
    target[0] = 1
    return ask[0]


class _Interrupted:
    def __getitem__(self, _):
        raise KeyboardInterrupt


def test_an_interrupt_leaves_no_trace(monkeypatch):
    kernel, target = made(asking), np.zeros(1)
    monkeypatch.setattr(tiers, "_UNSEEN", _Interrupted())
    with pytest.raises(KeyboardInterrupt):
        kernel(target, np.zeros(1, np.float32))
    assert target[0] == 0.0


@tiered
@njit
def below(x):
    return x + 1


def test_kernels_call_it_compiled():
    @njit
    def caller(x):
        return below(x)

    assert caller(1) == 2
    assert below(1) == 2
    assert caller(1.5) == 2.5


def test_it_is_its_name_that_is_pickled():
    assert pickle.loads(pickle.dumps(below)) is below


def test_a_file_that_has_changed_is_not_read(tmp_path, monkeypatch):
    file = tmp_path / "changing_kernel.py"
    file.write_text("def number():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    number = importlib.import_module("changing_kernel").number
    file.write_text("def number():\n    return 2\n")
    kernel = made(number)
    assert kernel() == 1
    assert is_compiled(kernel)


def every_tiered_kernel():
    for package in (colgen.solvers, colgen.problems):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if module.name.endswith("__main__") or ".backends" in module.name:
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, Tiered) and value.__module__ == module.name:
                    yield f"{module.name}.{name}", value


def test_all_that_are_called_tiered_can_be_interpreted():
    """Nothing else would show that one cannot: it is compiled, and slower to begin."""
    found = dict(every_tiered_kernel())
    assert len(found) > 60
    for name, kernel in found.items():
        try:
            interpreted(kernel.__wrapped__, lambda: None, narrow=kernel._narrow)
        except NotPlainError:
            pytest.fail(name)
