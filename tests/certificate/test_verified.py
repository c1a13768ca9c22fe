"""Certificates are checked after writing, and their failures keep the result of the run."""

import gzip
import itertools
import os

import numpy as np
import pytest

from colgen import InputError, Record, solve
from colgen.certificate.certifier import Certifier
from colgen.certificate.checker import check
from colgen.certificate.checker_files import lines_of
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.problems import assignment, colouring, coreference, cutting_stock, vehicle_routing
from colgen.problems.assignment import Assignment, random
from colgen.problems.assignment.template import Unguessed
from colgen.problems.colouring import Colouring
from colgen.problems.coreference import Coreference
from colgen.problems.cutting_stock import CuttingStock
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.reporting.live_log import LogFile


class Failing(Certifier):
    """A certifier with one of several faults."""

    def __init__(self, sense, how):
        super().__init__(sense, "failing")
        self.how = how

    def columns(self, solution):
        if self.how == "false":
            return [[0, 1, {"cost": 0, "rows": []}]]
        raise {"raises": ValueError("not enough values"), "interrupted": KeyboardInterrupt()}[self.how]


def problem(how):
    found = Unguessed(random(2, 8, 0))
    found.certifier = lambda: Failing(Sense.MINIMIZE, how)
    return found


@pytest.fixture(scope="module")
def best():
    return solve(Unguessed(random(2, 8, 0))).objective


@pytest.mark.parametrize(("how", "told"), [("false", "refuses line 4"), ("raises", "ValueError: not enough values")])
def test_a_faulty_certifier_gives_a_trusted_certificate(tmp_path, best, how, told):
    path = tmp_path / "proof.jsonl"
    result = solve(problem(how), record=Record(certificate=path))
    assert (result.termination, result.objective) == (Termination.OPTIMAL, best)
    assert any("are trusted" in note and told in note for note in result.notes)
    verdict = check(lines_of(str(path)))
    assert (verdict.objective, verdict.stated) == (best, False)
    assert verdict.claims.trusted


def test_an_interrupt_while_it_is_written_keeps_the_answer(tmp_path, best):
    result = solve(problem("interrupted"), record=Record(certificate=tmp_path / "proof.jsonl"))
    assert result.objective == best
    assert any("not finished: interrupted" in note for note in result.notes)
    assert not (tmp_path / "proof.jsonl").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_disk_keeps_the_answer(best):
    result = solve(Unguessed(random(2, 8, 0)), record=Record(certificate="/dev/full"))
    assert result.objective == best
    assert any("could not be written" in note for note in result.notes)


@pytest.mark.parametrize("name", ["proof.jsonl", "proof.jsonl.gz"])
def test_an_older_certificate_may_be_replaced(tmp_path, name):
    for _ in range(2):
        result = solve(Unguessed(random(2, 8, 0)), record=Record(certificate=tmp_path / name))
        assert any("was checked" in note for note in result.notes)
    (tmp_path / name).write_text("")
    solve(Unguessed(random(2, 8, 0)), record=Record(certificate=tmp_path / name))


@pytest.mark.parametrize(
    "content",
    [b"2\n10\n6 3\n5 2\n", gzip.compress(b"2\n10\n", mtime=0), b"\x1f\x8bxx"],
    ids=["an instance", "packed", "damaged"],
)
def test_other_files_are_not_replaced(tmp_path, content):
    path = tmp_path / "rolls.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a certificate"):
        solve(Unguessed(random(2, 8, 0)), record=Record(certificate=path))
    assert path.read_bytes() == content


def test_files_of_a_run_must_be_different(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(InputError, match="a file of its own"):
        solve(Unguessed(random(2, 8, 0)), record=Record(certificate=str(path)), progress=LogFile(path))
    solve(Unguessed(random(2, 8, 0))).pool.save(path)
    with pytest.raises(InputError, match="start"):
        solve(Unguessed(random(2, 8, 0)), record=Record(certificate=path), start=path)


# --- true certificates of small and degenerate instances -------------------------------------------------------------


def packing_of(rng):
    count, roll = int(rng.integers(1, 7)), int(rng.integers(1, 30))
    widths, demands = rng.integers(1, roll + 1, count), rng.integers(1, 6, count)
    return CuttingStock(cutting_stock.CuttingStockInstance(roll, tuple(widths.tolist()), tuple(demands.tolist())))


def tasks_of(rng):
    machines, tasks = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    costs = rng.integers(-3, 10, (machines, tasks)) * int(rng.random() < 0.8)
    sizes, room = rng.integers(1, 6, (machines, tasks)), rng.integers(0, 3 * tasks, machines)
    return Assignment(assignment.AssignmentInstance(costs, sizes, room))


def graph_of(rng):
    count, density = int(rng.integers(1, 9)), rng.choice([0.0, 0.3, 0.6, 1.0])
    pairs = itertools.combinations(range(count), 2)
    return Colouring(colouring.ColouringInstance(count, tuple(pair for pair in pairs if rng.random() < density)))


def routes_of(rng):
    count, side = int(rng.integers(1, 8)), int(rng.choice([0, 2, 10]))
    places = tuple(map(tuple, rng.integers(0, side + 1, (count + 1, 2)).astype(float).tolist()))
    distances = vehicle_routing.euclidean(places, str(rng.choice(["truncated", "whole"])))
    demands = rng.integers(0, 5, count).tolist()
    if rng.random() < 0.5:
        return VehicleRouting(vehicle_routing.RoutingInstance(distances, (0, *demands), 7))
    windows = [(0.0, 60.0), *((float(a), float(a + 20)) for a in rng.integers(10, 20, count))]
    return VehicleRouting(vehicle_routing.RoutingInstance(distances, (0, *demands), 7, tuple(windows)))


def clusters_of(rng):
    count = int(rng.integers(1, 9))
    scores = np.triu(rng.integers(-3, 4, (count, count)) * 2.0 ** int(rng.integers(-3, 3)), 1)
    scores[np.triu(rng.random((count, count)) < 0.1, 1)] = -np.inf
    return Coreference(coreference.CoreferenceInstance(scores + scores.T))


@pytest.mark.parametrize("make", [packing_of, tasks_of, graph_of, routes_of, clusters_of])
def test_certificates_of_degenerate_instances_hold(tmp_path, make):
    path = tmp_path / "proof.jsonl"
    for seed in range(40):
        result = solve(make(np.random.default_rng(seed)), record=Record(certificate=path))
        verdict = check(lines_of(str(path)))
        assert result.termination in (Termination.OPTIMAL, Termination.INFEASIBLE), seed
        assert (verdict.proves, verdict.claims.trusted) == (result.termination.name.lower(), 0), seed
