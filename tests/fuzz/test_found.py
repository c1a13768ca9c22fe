"""Failures that were found and corrected: each replays without one."""

import json
from pathlib import Path

import pytest

from tests.fuzz.harness import replay

FOUND = sorted(Path(__file__).with_name("found").glob("*.json"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_a_failure_that_was_corrected_stays_away(path):
    failure = replay(json.loads(path.read_text(encoding="utf-8")))
    assert failure is None, failure.words
