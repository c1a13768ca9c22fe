import math

import numpy as np
import pytest

from colgen import InputError
from colgen.parallel.executor import Executor
from colgen.problems.title_path import random
from colgen.problems.title_path.baseline import (
    METHODS,
    a_star,
    beam,
    colour_coding,
    exact,
    exhaustive,
    ilp,
    lazy_rows,
    relaxation_bound,
)
from colgen.solvers.paths.colour_coding import num_iterations, success_probability
from tests.twins.title_path import heaviest

PROVING = ("exact", "lazy rows", "flow in HiGHS", "A*", "exhaustive")


def instances(count):
    for seed in range(count):
        rng = np.random.default_rng([5, seed])
        n, k = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        classes = int(rng.integers(1, n + 1)) if seed % 3 else None
        yield random(n, k, seed, num_classes=classes, density=float(rng.choice([0.5, 0.9])), attraction=3.0)


@pytest.mark.parametrize("name", PROVING)
def test_exact_methods_agree_with_enumeration(name):
    for instance in instances(60):
        result, optimum = METHODS[name](instance), heaviest(instance)
        assert result.probability == 1.0
        assert result.finished
        if optimum is None:
            assert result.is_infeasible
            assert result.path is None
        else:
            assert result.is_optimal
            assert result.objective == pytest.approx(optimum)
            assert instance.check(result.path) == pytest.approx(optimum)
            assert result.dual_bound == pytest.approx(optimum)


@pytest.mark.parametrize("name", ["colour coding", "beam 80"])
def test_methods_without_proof_find_small_optima(name):
    for instance in instances(60):
        result, optimum = METHODS[name](instance), heaviest(instance)
        assert result.objective == pytest.approx(-math.inf if optimum is None else optimum)


def test_bounds_when_asked():
    for instance in instances(60):
        optimum = heaviest(instance)
        for result in (beam(instance, 1, bound=True), colour_coding(instance, iterations=1, bound=True)):
            if optimum is not None:
                assert result.objective <= optimum + 1e-9
                assert result.dual_bound >= optimum - 1e-9
            if result.is_optimal:
                assert result.objective == pytest.approx(optimum)
                assert result.probability == 1.0
        assert relaxation_bound(instance) >= (-math.inf if optimum is None else optimum - 1e-9)


# --- colour coding ---------------------------------------------------------------------------------------------------

MIDDLE = random(40, 4, 1, num_classes=30, attraction=2.0)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_outcome_does_not_depend_on_the_workers(workers):
    reference = colour_coding(MIDDLE, seed=3, executor=Executor(1))
    result = colour_coding(MIDDLE, seed=3, executor=Executor(workers))
    assert result.path == reference.path
    assert result.course == reference.course
    assert result.probability == reference.probability


def test_another_seed_gives_another_course():
    assert colour_coding(MIDDLE, seed=0).course != colour_coding(MIDDLE, seed=1).course


@pytest.mark.parametrize("failure", [0.3, 1e-3, 1e-9])
def test_stated_probability_is_the_requested_one(failure):
    result = colour_coding(MIDDLE, failure=failure)
    assert 1.0 - failure <= result.probability + 1e-15
    assert result.steps == len(result.course)
    assert result.dual_bound == math.inf


def test_course_never_falls_and_ends_at_the_objective():
    result = colour_coding(MIDDLE)
    assert list(result.course) == sorted(result.course)
    assert result.course[-1] == pytest.approx(result.objective)


def test_it_stops_at_a_known_weight():
    optimum = exact(MIDDLE).objective
    result = colour_coding(MIDDLE, until=optimum - 1e-9)
    assert result.objective == pytest.approx(optimum)
    assert result.finished
    assert result.steps < colour_coding(MIDDLE).steps
    assert all(weight < optimum - 1e-9 for weight in result.course[:-1])


def test_a_time_limit_states_the_completed_iterations():
    instance = random(150, 9, 0, attraction=1.0)
    result = colour_coding(instance, failure=1e-12, time_limit=0.2, executor=Executor(1))
    assert not result.finished
    assert result.steps >= 1
    assert 0.0 < result.probability < 1.0 - 1e-12
    assert instance.check(result.path) == pytest.approx(result.objective)


def test_an_interrupt_keeps_the_best_path(monkeypatch):
    class Interrupted(Executor):
        def map(self, work, seeds, *, piece=None):
            yield work(seeds[:3])
            raise KeyboardInterrupt

    result = colour_coding(MIDDLE, executor=Interrupted(1))
    assert not result.finished
    assert result.steps == 3
    assert MIDDLE.check(result.path) == pytest.approx(result.objective)


def test_memory_limits_the_workers_and_not_the_outcome(monkeypatch):
    used = []

    class Watched(Executor):
        def map(self, work, seeds, *, piece=None):
            used.append(self.workers)
            return super().map(work, seeds, piece=piece)

    monkeypatch.setattr("colgen.problems.title_path.baseline.Executor", Watched)
    instance = random(60, 9, 0)
    runs = [colour_coding(instance, iterations=4, executor=Watched(n), memory=1 << 20) for n in (1, 8)]
    assert used[0] == 1
    assert 4 <= used[1] < 8
    assert runs[0].course == runs[1].course


def test_few_classes_are_proved_by_one_iteration():
    instance = random(9, 3, 0, num_classes=3)
    result = colour_coding(instance)
    assert result.is_optimal
    assert result.steps == 1
    assert result.objective == pytest.approx(heaviest(instance))
    assert colour_coding(random(9, 4, 0, num_classes=3)).is_infeasible


@pytest.mark.slow
def test_measured_success_rate_is_as_stated():
    """The number of runs that fail, each with probability δ, is within four standard deviations."""
    instance = random(30, 3, 11, num_classes=20, attraction=1.0)
    optimum, trials = heaviest(instance), 2000
    stated = colour_coding(instance, failure=0.25).probability
    hits = sum(
        colour_coding(instance, failure=0.25, seed=seed, executor=Executor(1)).objective > optimum - 1e-9
        for seed in range(trials)
    )
    assert abs(hits / trials - stated) < 4.0 * math.sqrt(stated * (1.0 - stated) / trials)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"failure": 0.0}, "above 0 and at most 1"),
        ({"failure": math.nan}, "above 0 and at most 1"),
        ({"failure": 1.5}, "above 0 and at most 1"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"num_colours": 3}, "from k = 4 to 62"),
        ({"num_colours": 63}, "from k = 4 to 62"),
    ],
)
def test_invalid_options_raise(arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        colour_coding(MIDDLE, **arguments)


def test_other_numbers_of_colours_state_their_own_probability():
    result = colour_coding(MIDDLE, num_colours=8, iterations=10)
    p = success_probability(4, 8, MIDDLE.num_classes)
    assert result.probability == pytest.approx(1.0 - (1.0 - p) ** 10)
    assert num_iterations(p, 1e-6) < num_iterations(success_probability(4, 4, MIDDLE.num_classes), 1e-6)


# --- others ----------------------------------------------------------------------------------------------------------


def test_a_beam_without_width_raises():
    with pytest.raises(InputError, match="at least 1, not 0"):
        beam(MIDDLE, 0)


def test_a_star_gives_up_with_a_bound():
    optimum = exact(MIDDLE).objective
    result = a_star(random(40, 7, 0, attraction=10.0), most=20)
    assert not result.finished
    assert result.path is None
    assert math.isfinite(result.dual_bound)
    assert a_star(MIDDLE, most=5, bound=False).dual_bound in (math.inf, pytest.approx(optimum))


def test_integer_programs_stop_at_their_limit():
    instance = random(60, 4, 0, attraction=5.0)
    optimum = exact(instance).objective
    for result in (ilp(instance, time_limit=0.5), lazy_rows(instance, time_limit=0.05)):
        assert result.dual_bound >= optimum - 1e-6
        assert result.objective <= optimum + 1e-6
        assert result.finished == (result.is_optimal and result.probability == 1.0)


def test_results_state_bounds_and_probabilities():
    small = random(5, 2, 0)
    assert "Proved optimal." in str(exact(small))
    assert "Proved infeasible" in str(exact(random(3, 4, 0)))
    assert "Optimal with probability at least 1 - " in str(colour_coding(MIDDLE))
    assert "Nothing is proved." in str(beam(MIDDLE, 1))
    assert "Gap" in str(beam(random(30, 5, 0, attraction=5.0), 1, bound=True))
    assert exact(small).gap == 0.0
    assert beam(small, 1).gap == math.inf
    assert exhaustive(random(3, 4, 0)).gap == 0.0
