"""Data of a check at its start, and shares of its time."""

import time

import numpy as np

from colgen.testing.evidence import Evidence
from tests.toys import CuttingStock


def evidence(seconds, **more):
    return Evidence(CuttingStock(), np.random.default_rng(0), seconds, **more)


def test_evidence_is_empty_at_the_start():
    known = evidence(1.0)
    assert known.name == "CuttingStock"
    assert not known.findings
    assert (known.notes, known.oracles, known.sessions, known.answers, known.rows) == ([], (), [], [], [])
    assert known.seen.pools == []


def test_every_oracle_has_a_pool():
    known = evidence(1.0)
    oracle = known.problem.pricing()
    known.watch((oracle, oracle))
    assert known.oracles == (oracle, oracle)
    assert known.seen.pools == [{}, {}]


def test_shares_of_the_time():
    known = evidence(100.0)
    assert 0.0 < known.left(0.5) <= 50.0 < known.left() <= 100.0
    assert evidence(1.0, started=time.monotonic() - 5.0).left() == 0.0
