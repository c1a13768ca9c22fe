"""``colgen watch``: show a running solve from its log."""

from __future__ import annotations

import argparse
import math
import sys
import time
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from colgen.cli.arguments import PROVED
from colgen.core.errors import InputError
from colgen.core.files import check_readable
from colgen.core.result import Iteration
from colgen.core.sense import Sense
from colgen.core.text import is_terminal
from colgen.reporting.live_log import describe_state, read_rounds, read_tree, sense_of
from colgen.reporting.live_page import make_server

_EVERY = 0.5
"""Seconds between two reads of the file."""

_ROUNDS = 12
"""Number of last rounds that are shown."""

_BARS, _WIDTH = "▁▂▃▄▅▆▇█", 64
"""The gap over the run: each bar is a share of the rounds, its height the logarithm of the gap."""

_LEAST = 1e-6
"""Gaps below this are drawn as zero."""


def watch(arguments: argparse.Namespace) -> int:
    """Show the file until its run ends, or once with ``--once`` or if standard output is not a terminal."""
    check_readable(arguments.file)
    if arguments.port is not None and not arguments.browser:
        raise InputError("--port needs --browser: it is the port of that page")
    if arguments.browser:
        return _serve(arguments.file, arguments.port or 0)
    if arguments.once or not is_terminal(sys.stdout):
        print(picture(read_rounds(arguments.file), read_tree(arguments.file)[1]))
        return PROVED

    with Live(console=Console(), auto_refresh=False) as live:
        end: Mapping[str, Any] = {}
        while not end:
            _, end = read_tree(arguments.file)
            live.update(Text(picture(read_rounds(arguments.file), end), no_wrap=True, overflow="crop"), refresh=True)
            time.sleep(0.0 if end else _EVERY)
    return PROVED


def _serve(path: Path, port: int) -> int:
    """Serve the page until Ctrl-C."""
    read_rounds(path)  # raises if the file is not a log
    with make_server(path, port) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        print(f"{address} until Ctrl-C", flush=True)
        if is_terminal(sys.stdout):
            webbrowser.open(address)
        server.serve_forever()
    return PROVED


def picture(rounds: Sequence[Iteration], end: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return the state of the run, its gap so far and its last rounds, in lines of at most 80 characters."""
    if not rounds:
        return "\n".join(describe_state(rounds, end))
    sense = sense_of(list(rounds))
    lines = [
        *describe_state(rounds, end),
        f"gap  {_bars([i.gap(sense) for i in rounds])}",
        "",
        f"{'round':>7}{'node':>7}{'phase':>7}{'objective':>14}{'bound':>14}{'answer':>14}{'new':>7}{'seconds':>10}",
    ]
    for i in rounds[-_ROUNDS:]:
        lines.append(
            f"{i.number:7d}{i.node:7d}{i.phase:7d}{_describe(i.objective):>14}{_describe(_bound(i, sense)):>14}"
            f"{_describe(i.incumbent):>14}{i.new_columns + i.new_rows:7d}{i.seconds:10.2f}"
        )
    return "\n".join(lines)


def _bound(iteration: Iteration, sense: Sense) -> float:
    bound = iteration.global_bound
    return bound if math.isfinite(bound) else iteration.dual_bound


def _describe(value: float) -> str:
    return f"{value:.6f}"[:13] if math.isfinite(value) else "-"


def _bars(gaps: Sequence[float]) -> str:
    """Draw one bar per stretch of rounds: full if the gap is unknown, empty if it is closed."""
    count = min(len(gaps), _WIDTH)
    shown = [gaps[(k + 1) * len(gaps) // count - 1] for k in range(count)]
    top = math.log(1.0 / _LEAST)
    heights = [1.0 if not g < 1.0 else max(math.log(max(g, _LEAST) / _LEAST) / top, 0.0) for g in shown]
    return "".join(_BARS[round(height * (len(_BARS) - 1))] for height in heights)
