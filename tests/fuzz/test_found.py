"""Replays of corrected failures must pass."""

import json
from pathlib import Path

import pytest

from tests.fuzz.harness import replay

FOUND = sorted(Path(__file__).with_name("found").glob("*.json"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_corrected_failures_do_not_return(path):
    failure = replay(json.loads(path.read_text(encoding="utf-8")))
    assert failure is None, failure.words
