"""Benchmark of path blocks: the figures of each use."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness import BenchOptions
from benchmarks.networks.depots import depots_proved
from benchmarks.networks.multicommodity import multicommodity
from benchmarks.networks.schedules import scheduling
from benchmarks.networks.uses import rosters_fleets_and_crews
from colgen.cli.template import Figure


def bench_networks(options: BenchOptions) -> Sequence[Figure]:
    """Solve the instances of the folders in ``--data``."""
    uses = (multicommodity, scheduling, rosters_fleets_and_crews, depots_proved)
    return [figure for use in uses for figure in use(options)]
