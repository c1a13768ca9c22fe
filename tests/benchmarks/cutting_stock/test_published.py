"""Published instances are compared with their optima; generated families are reproducible."""

import re

import numpy as np
import pytest

from benchmarks.cutting_stock import published as module
from benchmarks.cutting_stock.published import bench_published, published
from benchmarks.harness import BenchOptions
from colgen.core.errors import InputError
from colgen.problems.cutting_stock import CuttingStockInstance, write
from colgen.problems.cutting_stock.generators import long_rolls, wide_pieces


@pytest.fixture
def folder(tmp_path):
    write(CuttingStockInstance(10, (6, 5, 3), (2, 3, 2)), tmp_path / "Hard28_small.txt")
    write(CuttingStockInstance(10, (5,), (4,)), tmp_path / "201_small.txt")
    (tmp_path / "optima.csv").write_text("instance,rolls\n201_small,2\nHard28_small,4\nothers,7\n", encoding="utf-8")
    return tmp_path


def test_published_instances_come_by_family(folder):
    found = [(family, instance.num_items, optimum) for family, instance, optimum in published(folder)]
    assert found == [("hard28", 3, 4), ("201", 1, 2)]


def test_each_family_is_proved(folder, monkeypatch):
    monkeypatch.setattr(module, "generated", lambda quick: ())
    lines = []
    figures = {figure.name: figure.value for figure in bench_published(BenchOptions(data=folder, say=lines.append))}
    assert figures["proved_hard28"] == figures["proved_201"] == figures["exact_201"] == 1
    assert len(lines) == 2


def test_a_proof_of_more_rolls_than_published_is_an_error(folder, monkeypatch):
    monkeypatch.setattr(module, "generated", lambda quick: ())
    (folder / "optima.csv").write_text("instance,rolls\n201_small,1\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="known optimum has a solution of 1"):
        bench_published(BenchOptions(data=folder, say=lambda line: None))


def test_fewer_rolls_than_published_are_accepted(folder, monkeypatch):
    monkeypatch.setattr(module, "generated", lambda quick: ())
    (folder / "optima.csv").write_text("instance,rolls\n201_small,3\n", encoding="utf-8")
    lines = []
    figures = {figure.name: figure.value for figure in bench_published(BenchOptions(data=folder, say=lines.append))}
    assert figures["proved_201"] == 1
    assert re.search(r"2 rolls suffice.* 3", lines[0])


def test_a_folder_without_optima_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"optima\.csv"):
        list(published(tmp_path))


@pytest.mark.parametrize("seed", range(3))
def test_families_have_their_documented_sizes(seed):
    wide, long = wide_pieces(seed), long_rolls(seed)
    assert (wide.roll, wide.num_items, set(wide.demands)) == (100_000, 200, {1})
    assert 20_000 <= min(wide.widths) < max(wide.widths) <= 35_000
    assert (long.roll, long.num_items) == (500_000, 100)
    assert wide_pieces(seed) == wide
    assert np.all(np.array(long.widths) <= 350_000)
