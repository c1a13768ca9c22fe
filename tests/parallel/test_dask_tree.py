"""One tree on a real local cluster: workers and the scheduler are killed."""

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
from tests.parallel.test_same_run import summary

pytest.importorskip("distributed", reason="needs Dask (the extra 'distributed')")
pytestmark = pytest.mark.timeout(300)


def problem():
    return Assignment(random(5, 20, 2))


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_the_tree_is_the_same_though_workers_are_killed(kills):
    """Workers are killed within a batch, after some or none of their results."""
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
    assert summary(found) == summary(expected)


@pytest.fixture
def clusters(tmp_path):
    """Starts schedulers with two workers each, and ends all of them."""
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
def test_a_run_resumes_after_the_scheduler_was_killed(clusters, tmp_path, free):
    """The supervisor raises an error, and the same command resumes from its checkpoint."""
    optimum = solve(problem()).objective
    path = tmp_path / "run"
    address, scheduler = clusters()

    def look(visit):
        if visit.node.number > 3:
            scheduler.kill()

    with pytest.raises(ColgenError, match=r"scheduler.*gone"):
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


def test_the_run_waits_for_a_scheduler_to_restart(clusters):
    """Dask tries the same address for ten seconds."""
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
