"""Pieces on a cluster: order, retries, and the pieces that end their workers."""

import itertools

import pytest

from colgen.parallel.streams import Stream
from tests.parallel.scripted import Scripted
from tests.sweeps import seeds


def square(piece):
    if piece == 13:
        raise ValueError("thirteen")
    return piece * piece


@pytest.mark.parametrize("isolates", [True, False])
@pytest.mark.parametrize("seed", seeds(100))
def test_no_piece_is_lost_when_workers_end(seed, isolates):
    """Workers end at random pieces, once or twice. Only the piece that ends every worker is given up."""
    rng = Scripted(seed).rng
    deaths = {int(piece): int(rng.integers(1, 3)) for piece in rng.choice(40, 6, replace=False)}
    poison = int(rng.integers(20, 40))
    cluster = Scripted(seed, int(rng.integers(1, 5)), isolates, {**deaths, poison: 99})
    found = list(Stream(cluster, square, retries=2).over(range(40)))
    assert [done.number for done in found] == list(range(40))
    for done in found:
        if done.number == poison:
            assert "lost 3 times" in done.fault
        elif done.number == 13:
            assert str(done.error) == "thirteen"
        else:
            assert done.outcome == done.number**2
            assert not done.fault


@pytest.mark.parametrize("seed", seeds(20))
def test_a_result_lost_after_the_work_is_computed_again(seed):
    """The worker ends after the work and before the result is fetched."""
    cluster = Scripted(seed, 3, forgotten={3: 1, 5: 4, 13: 2, 39: 1})
    found = list(Stream(cluster, square, retries=0).over(range(40)))
    assert [done.number for done in found] == list(range(40))
    assert [done.outcome for done in found] == [k * k if k != 13 else None for k in range(40)]
    assert str(found[13].error) == "thirteen"
    assert sum(cluster.forgotten.values()) == 0


def test_pieces_are_taken_as_they_are_needed():
    taken = []

    def pieces():
        for piece in itertools.count(100):
            taken.append(piece)
            yield piece

    cluster = Scripted(count=2)
    stream = Stream(cluster, square, ahead=6).over(pieces())
    assert [done.outcome for done in itertools.islice(stream, 10)] == [piece**2 for piece in range(100, 110)]
    stream.close()
    assert len(taken) <= 16
    assert cluster.most <= 6
    assert not cluster.queue


def test_a_piece_that_takes_too_long_is_given_up_and_others_finish():
    found = list(Stream(Scripted(count=3, never={4}), square, patience=0.05).over(range(10)))
    assert [done.outcome for done in found] == [piece**2 if piece != 4 else None for piece in range(10)]
    assert "0.05 s" in found[4].fault


def test_time_before_a_worker_is_free_does_not_count():
    """Patience starts when a worker starts the piece."""
    found = list(Stream(Scripted(count=1), square, patience=30.0, ahead=50).over(range(50, 100)))
    assert [done.outcome for done in found] == [piece**2 for piece in range(50, 100)]


def test_it_reports_its_progress():
    reports = []
    stream = Stream(Scripted(), square, tell=lambda ended, under_way: reports.append((ended, under_way)))
    list(stream.over(range(5)))
    assert reports[-1] == (5, 0)
    assert all(0 <= under_way <= 8 for _, under_way in reports)
