"""Failures are shrunk and replayed."""

import dataclasses
import json

from tests.fuzz.engine import subject
from tests.fuzz.engine.pools import Case, Way
from tests.fuzz.engine.programs import two_ways_to_cover
from tests.fuzz.harness import SUBJECTS, replay, shrink, write_failures
from tests.fuzz.judging import Failure, Fault


def test_a_failure_is_shrunk_and_replayed(tmp_path, monkeypatch):
    """The engine reports twice the objective."""
    real = subject.run

    def doubled(case):
        result = real(case)
        return result if isinstance(result, Failure) else dataclasses.replace(result, objective=2 * result.objective)

    monkeypatch.setattr(subject, "run", doubled)
    small = Case(two_ways_to_cover(), Way(queue="BestBound", alpha=0.5))

    failure, _ = SUBJECTS["engine"].judge(small)
    case, failure = shrink(SUBJECTS["engine"], small, failure, seconds=2.0)

    assert failure.fault is Fault.WRONG_PROOF
    assert len(case.program.columns) <= 1
    assert case.way.queue == "Plunging"
    failed = {"what": "engine", "seed": [0, 0], "fault": "WRONG_PROOF", "case": case.to_dict(), "law": None}
    (path,) = write_failures([failed], tmp_path)
    assert replay(json.loads(path.read_text())) == failure
    monkeypatch.undo()
    assert replay(json.loads(path.read_text())) is None
