"""Certificates of clusterings: triangles that are tight at the answer, and a tree if the relaxation has a gap."""

import numpy as np
import pytest

from colgen import Record, solve
from colgen.certificate.checker import check
from colgen.problems.coreference import Coreference, CoreferenceInstance, random
from tests.fuzz.alterations import find_undetected


def certified(instance, tmp_path):
    result = solve(Coreference(instance), record=Record(certificate=tmp_path / "proof.jsonl"))
    return result, (tmp_path / "proof.jsonl").read_text().splitlines()


@pytest.mark.parametrize("seed", range(4))
def test_clusterings_are_proved(tmp_path, seed):
    result, lines = certified(random(9, seed), tmp_path)
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == pytest.approx(result.objective)


def test_a_gap_of_the_relaxation_is_closed_by_splits(tmp_path):
    _, lines = certified(random(14, 2), tmp_path)
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert verdict.leaves > 1


def clumps(items, seed):
    """Return items in groups of about six, with scores that contradict the groups for a tenth of the pairs."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, items // 6, items)
    wanted = (own[:, None] == own) ^ np.triu(rng.random((items, items)) < 0.02, 1)
    scores = np.triu(np.where(wanted, 1.0, -1.0) * rng.uniform(0.5, 3.0, (items, items)), 1)
    return CoreferenceInstance(scores + scores.T)


@pytest.mark.parametrize("items", [41, 60, 100])
def test_triangles_of_large_groups_are_separated(tmp_path, items):
    result, lines = certified(clumps(items, 1), tmp_path)
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == pytest.approx(result.objective)


def test_large_contested_groups_are_not_certified(tmp_path):
    _, lines = certified(random(151, 1, positive=0.005), tmp_path)
    assert check(lines).claims.trusted == 0
    scores = 1.0 - np.eye(151)
    _, lines = certified(CoreferenceInstance(scores), tmp_path)
    assert check(lines).claims.trusted == 0
    scores[0, 1] = scores[1, 0] = -1.0
    _, lines = certified(CoreferenceInstance(scores), tmp_path)
    assert not check(lines).checked


@pytest.mark.parametrize("items", [1, 2])
def test_items_without_triangles_are_proved(tmp_path, items):
    _, lines = certified(CoreferenceInstance(0.5 - 0.5 * np.eye(items)), tmp_path)
    assert (check(lines).proves, check(lines).claims.trusted) == ("optimal", 0)


def test_changed_certificates_are_rejected(tmp_path):
    _, lines = certified(random(6, 1), tmp_path)
    assert not find_undetected([lines], range(60))
