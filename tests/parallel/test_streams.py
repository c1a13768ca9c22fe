"""Pieces on a cluster: order, retries, and who is blamed."""

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
def test_nothing_is_lost_whoever_ends_when(seed, isolates):
    """Workers end at random pieces, once or twice; one piece ends every worker, and that one alone is given up."""
    rng = Scripted(seed).rng
    deaths = {int(piece): int(rng.integers(1, 3)) for piece in rng.choice(40, 6, replace=False)}
    poison = int(rng.integers(20, 40))
    cluster = Scripted(seed, int(rng.integers(1, 5)), isolates, {**deaths, poison: 99})
    found = list(Stream(cluster, square, retries=2).over(range(40)))
    assert [done.number for done in found] == list(range(40))
    for done in found:
        if done.number == poison:
            assert "worker was lost 3 times" in done.fault
        elif done.number == 13:
            assert str(done.error) == "thirteen"
        else:
            assert done.outcome == done.number**2
            assert not done.fault


@pytest.mark.parametrize("seed", seeds(20))
def test_an_outcome_that_is_lost_after_the_work_is_waited_for_again(seed):
    """Its worker ends between the two; on a real cluster somebody else does it again."""
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


def test_what_takes_too_long_is_named_and_the_others_go_on():
    found = list(Stream(Scripted(count=3, never={4}), square, patience=0.05).over(range(10)))
    assert [done.outcome for done in found] == [piece**2 if piece != 4 else None for piece in range(10)]
    assert "no word of it for 0.05 s" in found[4].fault


def test_who_waits_for_a_worker_does_not_take_too_long():
    """Patience begins when somebody is at a piece."""
    found = list(Stream(Scripted(count=1), square, patience=30.0, ahead=50).over(range(50, 100)))
    assert [done.outcome for done in found] == [piece**2 for piece in range(50, 100)]


def test_it_tells_how_far_it_is():
    told = []
    stream = Stream(Scripted(), square, tell=lambda ended, under_way: told.append((ended, under_way)))
    list(stream.over(range(5)))
    assert told[-1] == (5, 0)
    assert all(0 <= under_way <= 8 for _, under_way in told)
