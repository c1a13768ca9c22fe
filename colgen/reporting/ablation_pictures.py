"""Pictures of methods: their bounds on one instance, or the shares of several instances that they have proved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from colgen.core.text import plural
from colgen.reporting.axes import COLOURS, STYLES, finish, finite, focus, new_axes, set_few_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from colgen.reporting.compared import Compared


def draw_bounds(lines: Sequence[Compared], by: str, ax: Axes | None) -> Axes:
    """Draw the dual bound of each method by round or by second."""
    ax = new_axes() if ax is None else ax
    typical: list[float] = []
    for line, (style, marker), colour in zip(lines, itertools.cycle(STYLES), itertools.cycle(COLOURS), strict=False):
        rounds = [i for i in line.trace if i.phase == 2 and math.isfinite(i.global_bound)]
        x = [float(i.number) if by == "round" else i.seconds for i in rounds] + [_end(line, by)]
        y = [i.global_bound for i in rounds] + [line.dual_bound]
        typical += [y[len(y) // 2], line.dual_bound]
        every = max(1, len(x) // 8)
        ax.plot(x, finite(y), color=colour, ls=style, marker=marker, ms=4, markevery=every, lw=1.1, label=line.name)
    focus(ax, typical)
    ax.set_xlabel("round" if by == "round" else "time (seconds)")
    ax.set_ylabel("dual bound (the problem's units)")
    ax.set_title(f"Bounds, {lines[0].instance}" if lines[0].instance else "Bounds", loc="left")
    finish(ax)
    return ax


def draw_profile(lines: Sequence[Compared], ax: Axes | None) -> Axes:
    """Draw the share of instances that each method proves within multiples of the fastest time.

    References
    ----------
    E. Dolan, J. Moré, *Benchmarking optimization software with performance profiles*, Mathematical Programming 91
    (2002).
    """
    ax = new_axes() if ax is None else ax
    taken = {(line.instance, line.name): max(line.seconds, 1e-3) if line.is_proved else math.inf for line in lines}
    instances = list(dict.fromkeys(line.instance for line in lines))
    methods = list(dict.fromkeys(line.name for line in lines))
    fastest = {name: min(taken[name, method] for method in methods) for name in instances}
    ratios = {m: sorted(taken[n, m] / fastest[n] for n in instances if taken[n, m] < math.inf) for m in methods}
    right = 1.05 * max((each[-1] for each in ratios.values() if each), default=1.0)
    for method, (style, marker), colour in zip(
        methods, itertools.cycle(STYLES), itertools.cycle(COLOURS), strict=False
    ):
        x = [1.0, *ratios[method], right]
        y = [sum(r <= 1.0 for r in ratios[method]), *range(1, len(ratios[method]) + 1), len(ratios[method])]
        share = [100.0 * k / len(instances) for k in y]
        ax.step(x, share, where="post", color=colour, ls=style, marker=marker, ms=4, lw=1.1, label=method)
    ax.set_xscale("log")
    if right < 10.0:  # less than a power of ten
        set_few_ticks(ax.xaxis)
    ax.set_ylim(-3, 103)
    ax.set_xlabel("seconds divided by those of the fastest method (logarithmic)")
    ax.set_ylabel("instances proved (%)")
    ax.set_title(f"Methods on {plural(len(instances), 'instance')}", loc="left")
    finish(ax, integer_ticks=False)
    return ax


def _end(line: Compared, by: str) -> float:
    if by == "round":
        return float(len(line.trace))
    return line.trace[-1].seconds if line.trace else line.seconds
