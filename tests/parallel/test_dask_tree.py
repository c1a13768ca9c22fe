"""One tree on a real cluster of this machine: workers are killed in the middle, and so is the scheduler."""

import json
import os
import random as chance
import signal
import subprocess
import sys
import time

import pytest

from colgen import Checkpoint, ColgenError, Parallel, Record, solve
from colgen.parallel.clusters import DaskCluster
from colgen.problems.assignment import Assignment, random
from tests.parallel.scripted import Scripted
from tests.parallel.test_same_run import told

pytest.importorskip("distributed", reason="needs Dask (the extra 'distributed')")
pytestmark = pytest.mark.timeout(300)


def problem():
    return Assignment(random(5, 20, 2))


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_the_tree_is_the_same_though_workers_are_killed(kills):
    """In the middle of a batch: each has sent a part of its answers, or none."""
    expected = solve(problem(), parallel=Parallel(cluster=Scripted(0, 2), node_batch=4))
    cluster, draw, killed = DaskCluster.at("local", 2), chance.Random(3), 0
    submit = cluster.submit

    def submitting(work, piece):
        nonlocal killed
        task = submit(work, piece)
        if killed < kills and draw.random() < 0.5:
            killed += 1
            for pid in list(cluster.client.run(os.getpid).values())[:1]:
                os.kill(pid, signal.SIGKILL)
        return task

    cluster.submit = submitting
    try:
        found = solve(problem(), parallel=Parallel(cluster=cluster, node_batch=4))
    finally:
        cluster.close()
    assert killed
    assert told(found) == told(expected)


@pytest.fixture
def clusters(tmp_path):
    """Begins schedulers, each with two workers; ends all of them in the end."""
    started = []

    def begin(port=0):
        file = tmp_path / f"scheduler{len(started)}.json"
        module, quiet = "distributed.cli.dask_", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [sys.executable, "-m", f"{module}scheduler", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--no-dashboard", "--scheduler-file", str(file)]
        started.append(subprocess.Popen(command, **quiet))
        command = [sys.executable, "-m", f"{module}worker", "--nthreads", "1", "--nworkers", "2", "--no-dashboard"]
        started.append(subprocess.Popen([*command, "--scheduler-file", str(file), "--death-timeout", "20"], **quiet))
        while not file.exists():
            time.sleep(0.05)
        return json.loads(file.read_text())["address"], started[-2]

    yield begin
    for process in reversed(started):
        process.kill()
        process.wait()


@pytest.mark.parametrize("free", [False, True])
def test_a_run_goes_on_when_the_scheduler_was_killed(clusters, tmp_path, free):
    """The supervisor is told, and what it has written is where the same command goes on."""
    optimum = solve(problem()).objective
    path = tmp_path / "run"
    address, scheduler = clusters()

    def look(visit):
        if visit.node.number > 3:
            scheduler.kill()

    with pytest.raises(ColgenError, match="the scheduler of the cluster is gone"):
        solve(
            problem(),
            parallel=Parallel(cluster=address, free_running=free, node_batch=3),
            checkpoint=Checkpoint(path, every=0.01),
            record=Record(on_node=look),
        )
    address, _ = clusters()
    resumed = solve(problem(), parallel=Parallel(cluster=address, free_running=free), checkpoint=path)
    assert resumed.is_optimal
    assert resumed.objective == pytest.approx(optimum)
    assert any("Resumed after" in note for note in resumed.notes)


def test_a_scheduler_that_comes_back_is_found(clusters):
    """Dask looks for it for ten seconds, at the same address: the run has only waited."""
    optimum = solve(problem()).objective
    address, scheduler = clusters()
    killed = []

    def look(visit):
        if visit.node.number > 3 and not killed:
            killed.append(visit.node.number)
            scheduler.kill()
            scheduler.wait()
            clusters(int(address.rpartition(":")[2]))

    result = solve(problem(), parallel=Parallel(cluster=address, node_batch=3), record=Record(on_node=look))
    assert killed
    assert result.is_optimal
    assert result.objective == pytest.approx(optimum)
