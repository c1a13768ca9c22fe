"""Failures are made small and replay."""

import dataclasses
import json

from tests.fuzz.engine import judging, shrinking
from tests.fuzz.engine.campaign import replay_engine, write_failures
from tests.fuzz.engine.judging import Failure, Fault
from tests.fuzz.engine.pools import Case, Way
from tests.fuzz.engine.programs import two_ways_to_cover


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
