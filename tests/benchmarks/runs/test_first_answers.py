"""The benchmark of first answers starts processes and reports their failures."""

import pytest

from benchmarks.runs.first_answers import time_starts
from colgen.cli.template import load_template
from colgen.core.errors import ColgenError


def test_a_second_start_loads_what_the_first_one_compiled(tmp_path):
    instance = tmp_path / "tasks.txt"
    load_template("assignment").example(instance)
    cold, warm = time_starts("assignment", instance, tmp_path / "kernels", 2)
    assert 0.0 < warm < cold
    assert any((tmp_path / "kernels").rglob("*.nbi"))


def test_a_failed_start_is_reported(tmp_path):
    with pytest.raises(ColgenError, match="exit code 2"):
        time_starts("cutting_stock", tmp_path / "missing.txt", tmp_path / "kernels", 1)
