"""Failures that were found and corrected: each replays without one."""

import json
from pathlib import Path

import pytest

from tests.fuzz.engine.campaign import replay_engine
from tests.fuzz.templates import replay_template

FOUND = sorted(Path(__file__).with_name("found").glob("*.json"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_a_failure_that_was_corrected_stays_away(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    failure = replay_engine(data) if data["what"] == "engine" else replay_template(data)
    assert failure is None, failure.words
