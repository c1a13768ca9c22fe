"""Dask: a real local cluster whose workers are killed."""

import contextlib
import os
import signal
import time

import numpy as np
import pytest

from colgen import InputError
from colgen.parallel.clusters import DaskCluster
from colgen.parallel.streams import Stream

pytest.importorskip("distributed", reason="needs Dask (the extra 'distributed')")


def work(piece):
    time.sleep(0.02)
    if piece == 7:
        raise ValueError("seven")
    return piece, os.getpid()


def deadly(piece):
    if piece == 2:
        os._exit(9)
    return piece


@pytest.fixture(scope="module")
def cluster():
    made = DaskCluster.at("local", 2)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("pieces", "times"), [(60, 4), pytest.param(800, 100, marks=[pytest.mark.slow, pytest.mark.timeout(1500)])]
)
def test_nothing_is_lost_when_workers_are_killed(cluster, pieces, times):
    """The worker that returned one of these results is killed and replaced."""
    rng = np.random.default_rng(5)
    kills = set(rng.choice(np.arange(5, pieces - 5), times, replace=False).tolist())
    found, killed = [], 0
    for done in Stream(cluster, work).over(range(pieces)):
        found.append(done)
        if done.number in kills and done.outcome:
            with contextlib.suppress(ProcessLookupError):  # it may have been killed for an earlier one
                os.kill(done.outcome[1], signal.SIGKILL)
                killed += 1
    assert killed >= times // 2
    assert [done.number for done in found] == list(range(pieces))
    assert [done.outcome[0] for done in found if done.number != 7] == [k for k in range(pieces) if k != 7]
    assert str(found[7].error) == "seven"


@pytest.mark.parametrize("count", [1, 2])
def test_only_the_piece_that_ends_every_worker_is_given_up(count):
    """Pieces queued at a lost worker are sent again."""
    cluster = DaskCluster.at("local", count)
    try:
        found = list(Stream(cluster, deadly, retries=0).over(range(6)))
    finally:
        cluster.close()
    assert [done.outcome for done in found] == [0, 1, None, 3, 4, 5]
    assert "lost" in found[2].fault


def test_an_address_that_does_not_respond_is_refused():
    with pytest.raises(InputError, match="Dask scheduler, not 'nonsense'"):
        DaskCluster.at("nonsense")
