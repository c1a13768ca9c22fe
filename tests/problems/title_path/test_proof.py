"""Certificates of paths: the checker searches the walks with penalties and memory."""

import pytest

from colgen import Record, solve
from colgen.certificate.checker import check
from colgen.problems.title_path import TitlePath, random
from tests.fuzz.alterations import find_undetected


def certified(instance, tmp_path):
    result = solve(TitlePath(instance), record=Record(certificate=tmp_path / "proof.jsonl"))
    return result, (tmp_path / "proof.jsonl").read_text().splitlines()


@pytest.mark.parametrize("seed", range(6))
def test_paths_are_proved(tmp_path, seed):
    instance = random(12, 5, seed, num_classes=8, density=(1.0, 0.6)[seed % 2], attraction=3.0)
    result, lines = certified(instance, tmp_path)
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == pytest.approx(result.objective)


def test_changed_certificates_are_rejected(tmp_path):
    _, lines = certified(random(7, 4, 1, num_classes=5, attraction=3.0), tmp_path)
    assert not find_undetected([lines], range(60))
