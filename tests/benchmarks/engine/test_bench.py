import math

from benchmarks.engine.bench import bench_engine
from benchmarks.harness import BenchOptions


def test_engine_benchmark_runs():
    lines = []
    figures = {figure.name: figure for figure in bench_engine(BenchOptions(quick=True, say=lines.append))}
    assert lines
    assert {"speedup_vs_highspy_loop", "overhead_share", "milliseconds_per_round_10", "tree_growth"} <= figures.keys()
    assert all(math.isfinite(figure.value) and figure.value >= 0 for figure in figures.values())
    shares = [figures[f"{part}_share_20"].value for part in ("lp", "oracle", "setup", "loop")]
    assert all(0 <= share <= 1 for share in shares)
    for count in (1, 10):
        whole = figures[f"milliseconds_per_round_in_all_{count}"].value
        assert 0 < figures[f"milliseconds_per_round_{count}"].value < whole
