import threading
import time

import numpy as np
import pytest

from colgen import InputError
from colgen.parallel.executor import Executor, seeds_from


def drawn(seeds):
    return [float(np.random.default_rng(seed).random()) for seed in seeds]


def flat(results):
    return [value for result in results for value in result]


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("piece", [None, 1, 7, 100])
def test_results_are_the_same_for_any_number_of_workers(workers, piece):
    seeds = seeds_from(3, 40)
    assert flat(Executor(workers).map(drawn, seeds, piece=piece)) == drawn(seeds)


def test_results_come_in_order_though_early_pieces_take_longer():
    def slow_at_first(seeds):
        time.sleep(0.05 if seeds[0] == 0 else 0.0)
        return int(seeds[0])

    assert list(Executor(4).map(slow_at_first, np.arange(8, dtype=np.uint64), piece=1)) == list(range(8))


def test_workers_work_at_the_same_time():
    meeting = threading.Barrier(2, timeout=20)
    assert len(list(Executor(2).map(lambda seeds: meeting.wait(), seeds_from(0, 2), piece=1))) == 2


def test_pending_pieces_are_cancelled_when_the_caller_stops():
    begun = []

    def work(seeds):
        begun.append(seeds)
        time.sleep(0.01)

    for _ in Executor(2).map(work, seeds_from(0, 1000), piece=1):
        break
    assert len(begun) < 100


def test_an_error_in_the_work_reaches_the_caller():
    def work(seeds):
        raise ZeroDivisionError("in a thread")

    with pytest.raises(ZeroDivisionError, match="in a thread"):
        list(Executor(2).map(work, seeds_from(0, 10), piece=2))


def test_no_seeds_give_no_results():
    assert list(Executor(2).map(drawn, seeds_from(0, 0))) == []


def test_seeds_continue_where_others_end():
    assert np.array_equal(seeds_from(5, 10)[4:], seeds_from(5, 6, 4))
    assert not set(seeds_from(5, 100).tolist()) & set(seeds_from(6, 100).tolist())
    assert len(set(seeds_from(0, 10_000).tolist())) == 10_000


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: Executor(0), "workers: .*0"),
        (lambda: list(Executor(1).map(drawn, seeds_from(0, 1), piece=0)), "piece: .*0"),
        (lambda: seeds_from(-1, 1), "seed.*-1"),
        (lambda: seeds_from(1, -1), "count.*-1"),
    ],
)
def test_invalid_arguments_are_refused(call, complaint):
    with pytest.raises(InputError, match=complaint):
        call()


def test_all_processors_are_used_by_default():
    assert Executor().workers >= 1
