import importlib.util
import math

import pytest

from colgen.cli.template import BenchOptions
from problems.cutting_stock.experiment import bench_cutting_stock, bench_engine, hard_instances


@pytest.mark.skipif(importlib.util.find_spec("pyscipopt") is None, reason="needs PySCIPOpt")
def test_engine_benchmark_runs():
    said = []
    figures = {figure.name: figure for figure in bench_engine(BenchOptions(quick=True, say=said.append))}
    assert said
    assert {"speedup_vs_highspy_loop", "speedup_vs_pyscipopt", "overhead_share"} <= figures.keys()
    assert all(math.isfinite(figure.value) and figure.value >= 0 for figure in figures.values())
    shares = [figures[f"{part}_share_20"].value for part in ("lp", "oracle", "setup", "loop")]
    assert all(0 <= share <= 1 for share in shares)


@pytest.mark.slow
def test_benchmark_of_hard_instances_runs():
    said = []
    figures = {figure.name: figure for figure in bench_cutting_stock(BenchOptions(quick=True, say=said.append))}
    assert figures["solved"].value == figures["solved"].n == 3
    assert len(said) == 4


def test_hard_instances_are_of_every_family():
    families = [family for family, _, _ in hard_instances(quick=False)]
    assert {name: families.count(name) for name in families} == {
        "non_irup": 5,
        "irup_hard": 4,
        "near_integer": 4,
        "triplets": 3,
    }
