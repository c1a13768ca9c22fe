"""The time of first calls of kernels is measured, and counted once."""

import time

from numba import extending, njit

from colgen import PricingResult, solve
from colgen.solvers.compiling import compile_seconds, compiled_now, working_clock
from tests.toys import CuttingStock


def ask():
    """Overloaded for kernels: its type is inferred while its caller is compiled."""
    return 1


def fresh():
    """Return a kernel that is not compiled yet."""

    @njit
    def kernel(x):
        return x + 1

    return kernel


def test_first_calls_are_counted_and_later_ones_are_not():
    kernel, before = fresh(), compile_seconds()
    kernel(1)
    first = compile_seconds()
    assert first > before
    kernel(2)
    assert compile_seconds() == first


def test_the_working_clock_excludes_compilation():
    kernel, before = fresh(), compile_seconds()
    started, clock = time.perf_counter(), working_clock()
    kernel(1)
    worked, passed = working_clock() - clock, time.perf_counter() - started
    assert worked <= passed - (compile_seconds() - before) + 1e-3


def test_the_kernel_that_is_being_compiled_has_a_name():
    names = []

    @extending.overload(ask, strict=False)
    def compile_asking():
        names.append(compiled_now())
        return lambda: 1

    @njit
    def asking():
        return ask()

    assert compiled_now() == ""
    assert asking() == 1
    assert set(names) == {f"{__name__}.asking".partition(".")[2]}
    assert compiled_now() == ""


def test_compiling_is_a_separate_stage():
    kernel = fresh()

    class Compiling(CuttingStock):
        def pricing(self):
            oracle = super().pricing()
            price = oracle.price

            def compiled(duals, context) -> PricingResult:
                kernel(1.0)
                return price(duals, context)

            oracle.price = compiled
            return oracle

    result = solve(Compiling(), relaxation=True)
    seconds = result.seconds
    assert seconds["compiling"] > 0.0
    stages = sum(value for name, value in seconds.items() if name != "total")
    assert abs(stages - seconds["total"]) < 0.05 * seconds["total"] + 0.01
    assert seconds["pricing"] < seconds["total"] - seconds["compiling"] + 1e-3
