import pytest

from benchmarks.cutting_stock.bench import bench_cutting_stock, hard_instances
from benchmarks.harness import BenchOptions


@pytest.mark.slow
def test_benchmark_of_hard_instances_runs():
    lines = []
    figures = {figure.name: figure for figure in bench_cutting_stock(BenchOptions(quick=True, say=lines.append))}
    assert figures["solved"].value == figures["solved"].n == 3
    assert figures["proved_by_engine"].value == 1.0
    assert len(lines) == 12
    assert figures["proved_wide_pieces"].value == figures["proved_long_rolls"].value == 1


def test_hard_instances_are_of_every_family():
    families = [family for family, _, _ in hard_instances(quick=False)]
    assert {name: families.count(name) for name in families} == {
        "non_irup": 5,
        "irup_hard": 4,
        "near_integer": 4,
        "triplets": 3,
    }
