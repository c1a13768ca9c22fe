"""The names of all benchmarks."""

import re
from pathlib import Path

import pytest

import benchmarks

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", benchmarks.BENCHMARKS)
def test_every_name_stands_for_a_function(name):
    assert callable(benchmarks.load(name))


def test_every_command_that_the_page_of_benchmarks_shows_is_one():
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"colgen bench (\w+)", page))
    assert shown
    assert shown <= set(benchmarks.BENCHMARKS)


def test_those_that_read_a_seed_are_benchmarks():
    assert set(benchmarks.SEEDED) <= set(benchmarks.BENCHMARKS)
