"""Published instances are compared with their optima; generated families are reproducible."""

import re

import numpy as np
import pytest

from benchmarks.cutting_stock import published as module
from benchmarks.cutting_stock.published import bench_gi, bench_published, published, similar_to_gi
from benchmarks.harness import BenchOptions
from colgen.core.errors import InputError
from colgen.problems.cutting_stock import CuttingStockInstance, write
from colgen.problems.cutting_stock.generators import bin_packing, long_rolls, wide_pieces


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


def test_instances_similar_to_gi():
    found = list(similar_to_gi(quick=False))
    assert len(found) == len({instance.name for _, instance in found}) == 20
    for family, instance in found:
        narrow = family.endswith("narrow")
        assert family == f"gi_{instance.roll // 1000}_{'narrow' if narrow else 'wide'}"
        assert len(set(instance.widths)) == instance.num_items
        assert min(instance.widths) >= instance.roll // (100 if narrow else 20)
        assert max(instance.widths) <= instance.roll // (4 if narrow else 2)


def test_figures_of_gi_are_by_class(monkeypatch):
    small = [("gi_1_narrow", bin_packing(5, seed)) for seed in range(2)] + [("gi_1_wide", bin_packing(6, 0))]
    monkeypatch.setattr(module, "similar_to_gi", lambda quick: small)
    figures = {figure.name: (figure.value, figure.n) for figure in bench_gi(BenchOptions(say=lambda line: None))}
    assert figures["proved_gi"] == (3, 3)
    assert figures.keys() == {"proved_gi", "median_seconds_gi_1_narrow", "median_seconds_gi_1_wide"}
    assert figures["median_seconds_gi_1_narrow"][1] == 2
