"""The benchmark of labelling: files, and figures of a small run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks.harness import BenchOptions, Run
from benchmarks.vehicle_routing.labelling import Published, _figures, bench_labelling, read_instance

_INSTANCE = """NAME : small
DIMENSION : 4
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : FULL_MATRIX
EDGE_WEIGHT_SECTION
 0 3 4 5
 3 0 5 6
 4 5 0 1
 5 6 1 0
NODE_WEIGHT_SECTION
 -2 -9 -8 0
CAPACITY : 10
DEMAND_SECTION
1 0
2 6
3 4
4 5
EOF
"""


@pytest.mark.timeout(120)
def test_the_weight_of_the_depot_is_paid_once_and_the_optimum_is_matched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLGEN_CSPY", raising=False)
    folder = tmp_path / "spprc"
    folder.mkdir()
    (folder / "small.sppcc").write_text(_INSTANCE)
    network, costs, _, load = read_instance(folder, "small")
    arcs = [network.arc(0, 1), network.arc(1, 2), network.arc(2, 4)]
    assert costs[arcs].tolist() == [3 - 9 - 2, 5 - 8, 4]
    assert load.consumption[arcs].tolist() == [6, 4, 0]
    head = "instance,ng,optimum,cxx_parallel_bidirectional_seconds,cxx_pathwyse_seconds\n"
    (folder / "ng_route_optima.csv").write_text(head + "small,8,-7.000,0.5,0.5\nsmall,16,,,\n")
    lines: list[str] = []
    figures = {each.name: each for each in bench_labelling(BenchOptions(data=tmp_path, quick=True, say=lines.append))}
    assert (figures["optima_matched"].value, figures["optima_matched"].n) == (1, 1)
    assert figures["finished_ng16"].value == 1
    assert figures["user_resource_cost"].value > 0
    assert any("cspy is skipped" in line for line in lines)


def test_unfinished_instances_are_counted() -> None:
    runs = [
        (Published("one", 8, -7.0, 0.5), Run("ng 8", "one", 0.1, -7.0, -7.0, True)),
        (Published("two", 8, None, None), Run("ng 8", "two", 120.0, math.nan, math.nan, False)),
        (Published("two", 24, None, None), Run("ng 24", "two", 120.0, math.nan, math.nan, False)),
    ]
    figures = {each.name: each for each in _figures(runs)}
    assert (figures["finished_ng8"].value, figures["finished_ng8"].n) == (1, 2)
    assert (figures["finished_ng24"].value, figures["finished_ng24"].n) == (0, 1)
    assert (figures["optima_matched"].value, figures["optima_matched"].n) == (1, 1)
