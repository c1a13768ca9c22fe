"""The names of all benchmarks."""

import re
from pathlib import Path

import pytest

import benchmarks

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", benchmarks.BENCHMARKS)
def test_every_name_is_a_function(name):
    assert callable(benchmarks.load(name))


def test_the_page_of_benchmarks_shows_valid_commands():
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"colgen bench (\w+)", page))
    assert shown
    assert shown <= set(benchmarks.BENCHMARKS)


def test_seeded_benchmarks_exist():
    assert set(benchmarks.SEEDED) <= set(benchmarks.BENCHMARKS)
