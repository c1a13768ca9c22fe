"""The fuzzer itself: its truth is true, its failures replay and shrink; and a handful of seeded cases hold."""

import dataclasses
import json

import numpy as np
import pytest

from colgen.testing.fuzz import judging, shrinking
from colgen.testing.fuzz.campaign import fuzz_engine, replay_engine, write_failures
from colgen.testing.fuzz.drawing import draw_case
from colgen.testing.fuzz.judging import Failure, Fault, fault_of, judge, run
from colgen.testing.fuzz.pools import Case, PoolColumn, PoolGroup, PoolRow, Program, Way
from colgen.testing.fuzz.truth import _highs, arrays, solve_complete
from tests.toys import DEMANDS, patterns


def cases(seed, count):
    return [draw_case(np.random.default_rng([seed, k])) for k in range(count)]


def two_ways_to_cover():
    """Rows 0 and 1 by one column of 3, or by two of 1 and 1."""
    columns = (PoolColumn(3, {0: 1, 1: 1}), PoolColumn(1, {0: 1}), PoolColumn(1, {1: 1}))
    rows = (PoolRow(1, None), PoolRow(1, None))
    return Program("cover", False, columns, (), rows, (PoolGroup(),), row_scales=(1.0, 1.0))


def test_the_truth_of_a_program_done_by_hand():
    truth = solve_complete(two_ways_to_cover())

    assert (truth.status, truth.objective, truth.answer, truth.exact) == ("optimal", 2, (0.0, 1.0, 1.0), True)


def test_the_truth_of_the_textbook():
    columns = tuple(PoolColumn(1, {i: n for i, n in enumerate(p) if n}) for p in patterns())
    program = Program("cutting", False, columns, (), tuple(PoolRow(d, None) for d in DEMANDS), (PoolGroup(),))

    truth = solve_complete(program)

    assert truth.objective == 453
    assert truth.relaxed == pytest.approx(452.25)


def test_looking_at_all_answers_agrees_with_the_solver():
    compared = 0
    for case, truth in cases(3, 40):
        if truth.exact and max((abs(p.cost) for p in case.program.parts), default=0) < 10**4:
            status, objective, _ = _highs(case.program, arrays(case.program), arrays(case.program).integer)
            assert status == truth.status
            if status == "optimal":
                assert objective == pytest.approx(truth.objective)
            compared += 1
    assert compared >= 5


def test_every_case_is_a_correct_problem_and_survives_a_file():
    for case, _ in cases(4, 15):
        assert shrinking.is_correct(case)
        assert Case.from_dict(json.loads(json.dumps(case.to_dict()))) == case


def test_a_wrong_answer_is_seen():
    case = Case(two_ways_to_cover(), Way())
    result = run(case)

    assert result.objective == 2.0
    assert fault_of(case.program, result) is None
    uncovered = dataclasses.replace(result, answer=(0.0, 1.0, 0.0))
    assert "row 1 has activity 0" in fault_of(case.program, uncovered)
    misstated = dataclasses.replace(result, objective=1.0)
    assert "worth 2" in fault_of(case.program, misstated)


def test_a_failure_is_made_small_and_replays(tmp_path, monkeypatch):
    """An engine that counts every answer twice."""
    real = judging.run

    def doubled(case):
        result = real(case)
        return result if isinstance(result, Failure) else dataclasses.replace(result, objective=2 * result.objective)

    monkeypatch.setattr(judging, "run", doubled)
    small = Case(two_ways_to_cover(), Way(queue="BestBound", alpha=0.5))

    case, failure = shrinking.shrink(small, seconds=2.0)

    assert failure.fault is Fault.WRONG_PROOF
    assert len(case.program.columns) <= 1
    assert case.way.queue == "Plunging"
    replay = {"what": "engine", "seed": [0, 0], "fault": "WRONG_PROOF", "case": case.to_dict(), "law": None}
    (path,) = write_failures([replay], tmp_path)
    assert replay_engine(json.loads(path.read_text())) == failure
    monkeypatch.undo()
    assert replay_engine(json.loads(path.read_text())) is None


@pytest.mark.parametrize("maximize", [False, True])
def test_an_empty_program(maximize):
    empty = Program("general", maximize, (), (), (), (PoolGroup(),))

    assert judge(Case(empty, Way()), solve_complete(empty)) is None


@pytest.mark.parametrize("seed", [2])
def test_the_engine_proves_what_is_so(seed):
    tally = fuzz_engine(seed, count=15, shrinking=0.0)

    assert tally.runs >= 15
    assert [failed["words"] for failed in tally.failed] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_engine_proves_what_is_so_for_a_minute():
    tally = fuzz_engine(12, seconds=60.0)

    assert [failed["words"] for failed in tally.failed] == []
