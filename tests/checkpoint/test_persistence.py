"""A run that is stopped anywhere continues from its checkpoint to the same value (promise 7)."""

import dataclasses
import json
import os
import signal

import numpy as np
import pytest

from colgen import (
    Checkpoint,
    Column,
    Decision,
    InputError,
    Method,
    NodeLimit,
    Record,
    RyanFoster,
    StrongBranching,
    Termination,
    TimeLimit,
    solve,
)
from colgen.checkpoint.file import FORMAT, read_checkpoint
from colgen.checkpoint.pools import FORMAT as POOL
from colgen.core.columns import Codec
from colgen.core.serialization import backup_of, read_sealed, write_sealed
from colgen.problem import codec_of
from colgen.tree.queues import BestBound, DepthFirst
from tests.zoo import Facilities, Partitioning, Ranges

PROBLEMS = {
    "partitioning with cuts": lambda: Partitioning(9, 4),
    "partitioning, many nodes": lambda: Partitioning(9, 3, cuts=False),
    "covering, on original variables": lambda: Partitioning(7, 2, cover=True),
    "packing, maximised": lambda: Partitioning(9, 6, maximize=True, cuts=False),
    "facilities": Facilities,
    "ranges": Ranges,
}


def bare(problem, *, method=Method(), **settings):
    """Solve without heuristics, which would end small trees at the root."""
    return solve(problem, method=dataclasses.replace(method, heuristics=()), **settings)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("queue", [None, BestBound, DepthFirst])
def test_a_run_that_stops_at_every_node_ends_in_the_same_value(name, queue, tmp_path):
    whole = bare(PROBLEMS[name](), method=Method(queue=queue))
    path = tmp_path / "run.checkpoint"
    for limit in [*range(1, 12), *range(15, 2000, 20)]:
        result = bare(
            PROBLEMS[name](), method=Method(queue=queue), stop=NodeLimit(limit), checkpoint=Checkpoint(path, every=1e-9)
        )
        if result.termination is not Termination.NODE_LIMIT:
            break
    assert result.termination is whole.termination
    assert result.objective == pytest.approx(whole.objective)
    assert result.dual_bound == pytest.approx(whole.dual_bound)
    again = bare(PROBLEMS[name](), checkpoint=path)  # a finished run ends again without a node
    assert (again.termination, again.objective, len(again.nodes)) == (result.termination, result.objective, 0)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_run_that_stops_in_any_round_ends_in_the_same_value(name, tmp_path):
    whole = bare(PROBLEMS[name]())
    for rounds in range(1, len(whole.iterations) + 1, max(1, len(whole.iterations) // 7)):
        path = tmp_path / f"run{rounds}"
        seen = []

        def stop(iteration, sense, rounds=rounds, seen=seen):
            seen.append(iteration)
            return Termination.ITERATION_LIMIT if len(seen) >= rounds else None

        bare(PROBLEMS[name](), checkpoint=Checkpoint(path, every=1e-9), stop=stop)
        result = bare(PROBLEMS[name](), checkpoint=path)
        assert (result.termination, result.objective) == (whole.termination, pytest.approx(whole.objective))


def test_pseudo_costs_are_kept(tmp_path):
    path = tmp_path / "run"
    settings = {"method": Method(choice=StrongBranching()), "checkpoint": path}
    first = bare(Partitioning(9, 2, cover=True), stop=NodeLimit(4), **settings)
    assert first.termination is Termination.NODE_LIMIT
    assert read_checkpoint(path).fields["pseudo_costs"][0]
    result = bare(Partitioning(9, 2, cover=True), **settings)
    assert result.objective == bare(Partitioning(9, 2, cover=True)).objective


def test_a_relaxation_continues_with_its_columns(tmp_path):
    path = tmp_path / "run"
    problem = Partitioning(9, 3, cuts=False)
    whole = solve(problem, relaxation=True)
    solve(problem, relaxation=True, checkpoint=path, stop=lambda iteration, sense: Termination.STALLED)
    result = solve(problem, relaxation=True, checkpoint=path)
    assert (result.termination, result.objective) == (whole.termination, pytest.approx(whole.objective))
    with pytest.raises(InputError, match="relaxation=True"):
        solve(problem, checkpoint=path)


def stopped(tmp_path, nodes=3):
    path = tmp_path / "run"
    for limit in (nodes - 1, nodes):
        result = bare(Partitioning(9, 3, cuts=False), stop=NodeLimit(limit), checkpoint=path)
    assert result.termination is Termination.NODE_LIMIT
    return path


def test_seconds_and_processor_seconds_of_all_runs_are_added(tmp_path):
    path = tmp_path / "run"
    runs, kept = [], {"seconds": [], "processor_seconds": []}
    for limit in (2, 3, 4):
        runs.append(bare(Partitioning(9, 3, cuts=False), stop=NodeLimit(limit), checkpoint=path))
        for name, values in kept.items():
            values.append(read_checkpoint(path).fields[name])
    spent = {
        "seconds": [run.seconds["total"] for run in runs],
        "processor_seconds": [r.processor_seconds for r in runs],
    }
    for name, values in kept.items():
        assert sorted(values) == values
        assert 0.0 < values[-1] <= sum(spent[name])
        assert values[-1] > max(spent[name]) * 0.5
    assert f"{kept['processor_seconds'][1]:.3g} s of processor time" in " ".join(runs[2].notes)


def test_a_checkpoint_without_processor_seconds_is_resumed(tmp_path):
    path = stopped(tmp_path)
    fields, arrays = read_sealed(path, FORMAT)
    del fields["processor_seconds"]
    write_sealed(path, FORMAT, fields, arrays)
    assert bare(Partitioning(9, 3, cuts=False), checkpoint=path).is_optimal


def test_another_instance_is_refused(tmp_path):
    path = stopped(tmp_path)
    with pytest.raises(InputError, match="another instance"):
        solve(Partitioning(9, 2, cuts=False), checkpoint=path)
    with pytest.raises(InputError, match="another instance"):
        solve(Facilities(), checkpoint=path)


def test_every_damaged_byte_is_detected_and_the_previous_file_is_used(tmp_path):
    path = stopped(tmp_path)
    content = path.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(InputError):
            read_sealed(path, FORMAT)
    for end in range(0, len(content), 97):  # half-written
        path.write_bytes(content[:end])
        with pytest.raises(InputError):
            read_sealed(path, FORMAT)
    result = bare(Partitioning(9, 3, cuts=False), checkpoint=path)
    assert result.termination is Termination.OPTIMAL
    assert any("the previous checkpoint" in note for note in result.notes)


def test_two_damaged_files_are_an_error(tmp_path):
    path = stopped(tmp_path)
    backup_of(path).write_bytes(b"colgen sealed 1\nno more")
    path.write_bytes(b"colgen sealed 1\nno more")
    with pytest.raises(InputError, match=r"damaged.*previous checkpoint"):
        solve(Partitioning(9, 3, cuts=False), checkpoint=path)


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": [[1, 0, 1, 17, 0.0, None]]},
        {"nodes": "none"},
        {"links": [[-1, [["os.system", {"command": "true"}]]]]},
        {"links": [[-1, [["colgen.core.decision.Apart", {"third": 3}]]]]},
        {"incumbent": {"objective": -5.0, "columns": [], "variables": [], "integer": []}},
        {"pseudo_costs": 3},
        {"columns": {"count": 10**9, "rows": [], "named": False}},
    ],
)
def test_invalid_fields_are_refused(change, tmp_path):
    path = stopped(tmp_path)
    sealed = read_sealed(path, FORMAT)
    write_sealed(path, FORMAT, {**sealed.said, **change}, sealed.arrays)
    with pytest.raises(InputError):
        bare(Partitioning(9, 3, cuts=False), checkpoint=path)


def test_the_answer_in_a_file_is_checked(tmp_path):
    path = stopped(tmp_path, 12)
    sealed = read_sealed(path, FORMAT)
    incumbent = sealed.said["incumbent"]
    assert incumbent is not None
    write_sealed(path, FORMAT, sealed.said, {**sealed.arrays, "incumbent.uses": 0.0 * sealed.arrays["incumbent.uses"]})
    with pytest.raises(InputError):
        bare(Partitioning(9, 3, cuts=False), checkpoint=path)


class Unsaid(RyanFoster):
    makes = None


@dataclasses.dataclass
class Thawed(Decision):
    pass


class Thaws(RyanFoster):
    makes = (Thawed,)


class Lies(RyanFoster):
    makes = ()


@pytest.mark.parametrize(("rule", "match"), [(Unsaid, "makes = "), (Thaws, "frozen dataclasses")])
def test_a_rule_without_declared_decisions_is_refused_before_any_work(rule, match, tmp_path):
    class Ruled(Partitioning):
        def branching(self):
            return [rule("cover")]

    with pytest.raises(InputError, match=match):
        solve(Ruled(9, 3, cuts=False), checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_undeclared_decision_is_refused_when_it_is_made(tmp_path):
    class Ruled(Partitioning):
        def branching(self):
            return [Lies("cover")]

    with pytest.raises(InputError, match="makes"):
        bare(Ruled(9, 3, cuts=False), checkpoint=Checkpoint(tmp_path / "run", every=1e-9))


def test_a_problem_without_an_identity_is_refused(tmp_path):
    problem = Partitioning(5)
    problem.oracle = lambda found: None
    with pytest.raises(InputError, match=r"Partitioning\.identity"):
        solve(problem, checkpoint=tmp_path / "run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_a_last_checkpoint(number, tmp_path):
    path = tmp_path / "run"
    nodes = []

    def strike(visit):
        nodes.append(visit)
        if len(nodes) == 3:
            os.kill(os.getpid(), number)

    handler = signal.getsignal(number)
    result = bare(Partitioning(9, 3, cuts=False), checkpoint=Checkpoint(path, every=1e6), record=Record(on_node=strike))
    assert result.termination.is_interrupt
    assert ("SIGTERM" in str(result)) == ("by the user" not in str(result)) == (number == signal.SIGTERM)
    assert signal.getsignal(number) == handler
    assert read_checkpoint(path).fields["treated"] == 3
    whole = bare(Partitioning(9, 3, cuts=False))
    result = bare(Partitioning(9, 3, cuts=False), checkpoint=path)
    assert (result.termination, result.objective) == (Termination.OPTIMAL, pytest.approx(whole.objective))


def test_a_run_with_a_time_limit_can_be_resumed(tmp_path):
    path = tmp_path / "run"
    result = bare(Partitioning(9, 3, cuts=False), checkpoint=path, stop=TimeLimit(0.0))
    assert result.termination is Termination.TIME_LIMIT
    assert bare(Partitioning(9, 3, cuts=False), checkpoint=path).is_optimal


def test_slow_writing_makes_checkpoints_less_frequent(tmp_path, monkeypatch):
    from colgen.checkpoint import writer

    clock = iter(np.arange(0.0, 1e6, 10.0).tolist())
    monkeypatch.setattr(writer.time, "monotonic", lambda: next(clock))
    path = tmp_path / "run"
    bare(Partitioning(9, 3, cuts=False), checkpoint=Checkpoint(path, 1.0))
    assert read_checkpoint(path) is not None


# --- pools -----------------------------------------------------------------------------------------------------------


class Restated(Partitioning):
    """Has a codec."""

    def codec(self):
        return Codec(self.read)

    def read(self, data):
        items = tuple(data)
        return Column(self.costs[items], {("cover", i): 1.0 for i in items}, items)


def test_a_pool_of_the_same_instance_saves_column_generation(tmp_path):
    first = bare(Partitioning(7, 4))
    first.pool.save(tmp_path / "pool")
    again = bare(Partitioning(7, 4), start=tmp_path / "pool")
    assert (again.objective, again.columns_generated < first.columns_generated / 2) == (first.objective, True)
    assert bare(Partitioning(7, 4), start=first.pool).objective == first.objective


def test_a_pool_of_another_instance_is_converted(tmp_path):
    bare(Restated(7, 4)).pool.save(tmp_path / "pool")
    for seed, size in ((5, 7), (6, 6)):
        cold = bare(Restated(size, seed))
        warm = bare(Restated(size, seed), start=tmp_path / "pool")
        assert (warm.objective, warm.termination) == (pytest.approx(cold.objective), cold.termination)
        assert warm.columns_generated < cold.columns_generated
        assert any("of the pool" in note for note in warm.notes)


class Surcharged(Restated):
    """Other oracles, to which the inherited codec does not apply."""

    def pricing(self):
        return super().pricing()


def test_a_class_with_other_oracles_does_not_inherit_the_codec(tmp_path):
    class Cheap(Surcharged):
        def codec(self):
            return super().codec()

    assert codec_of(Restated(7, 4)) is not None
    assert codec_of(Cheap(7, 4)) is not None
    assert codec_of(Surcharged(7, 4)) is None
    bare(Restated(7, 4)).pool.save(tmp_path / "pool")
    with pytest.raises(InputError, match=r"define Surcharged.codec\(\)"):
        solve(Surcharged(7, 5), start=tmp_path / "pool")


def test_a_value_that_is_no_codec_is_refused_before_any_work():
    class Wrong(Partitioning):
        def codec(self):
            return print

        def master(self):
            raise AssertionError

    with pytest.raises(InputError, match=r"Wrong\.codec\(\)"):
        solve(Wrong(7, 4))


def test_a_pool_of_another_instance_is_refused_without_a_codec(tmp_path):
    bare(Partitioning(7, 4)).pool.save(tmp_path / "pool")
    with pytest.raises(InputError, match=r"define Partitioning.codec\(\)"):
        solve(Partitioning(7, 5), start=tmp_path / "pool")


def test_invalid_columns_are_left_out(tmp_path):
    first = bare(Restated(7, 4))
    first.pool.save(tmp_path / "pool")
    sealed = read_sealed(tmp_path / "pool", POOL)
    nonsense = [{"tuple": [99]}, "x", None, 3, {"tuple": [0, 0, 0]}]
    structures = [nonsense[k % len(nonsense)] for k in range(len(first.pool))]
    text = np.frombuffer("\n".join(map(json.dumps, structures)).encode(), dtype=np.uint8)
    write_sealed(tmp_path / "pool", POOL, sealed.said, {**sealed.arrays, "columns.structures": text})
    warm = bare(Restated(7, 4), start=tmp_path / "pool")
    assert (warm.objective, warm.termination) == (first.objective, first.termination)
