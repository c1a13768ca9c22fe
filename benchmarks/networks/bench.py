"""Benchmark of path blocks: the figures of each use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.harness import BenchOptions
from benchmarks.networks.depots import depots_proved
from benchmarks.networks.multicommodity import multicommodity
from benchmarks.networks.schedules import scheduling
from benchmarks.networks.uses import crews_figures, fleets_figures, rosters_figures
from benchmarks.networks.windows import overhead_of_the_layer
from colgen.cli.template import Figure

_FROM_FILES: dict[str, Callable[[Path, BenchOptions], Sequence[Figure]]] = {
    "multicommodity": multicommodity,
    "scheduling": scheduling,
    "rosters": rosters_figures,
    "fleets": fleets_figures,
    "routing": overhead_of_the_layer,
}
"""The uses with instances in a folder of this name."""


def bench_networks(options: BenchOptions) -> Sequence[Figure]:
    """Solve the instances of the folders that ``--data`` has, then generated ones."""
    data = options.folder("this benchmark needs --data DIR with folders " + ", ".join(_FROM_FILES))
    present = [(use, data / folder) for folder, use in _FROM_FILES.items() if (data / folder).is_dir()]
    figures = [figure for use, folder in present for figure in use(folder, options)]
    return [*figures, *crews_figures(options), *depots_proved(options)]
