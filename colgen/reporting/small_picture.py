"""A small picture of the bounds of a run: SVG elements with axes, for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence

from colgen.core.result import Result
from colgen.core.text import number
from colgen.reporting.axes import BOUND, INCUMBENT

_WIDTH, _HEIGHT = 460, 190
_LEFT, _TOP, _RIGHT, _BOTTOM = 74, 10, 448, 136
"""Size of the picture and place of its axes, in pixels."""

_MOST = 300
"""Maximum number of points of a line."""

_TICKS = 4
"""Number of intervals between ticks that is aimed at."""


def draw_bounds(result: Result) -> str:
    """Return best answer and dual bound by round as an SVG element; empty if there is less to draw than two points."""
    rounds = result.iterations
    answers = [*(i.incumbent for i in rounds), math.inf if result.answer is None else result.objective]
    bounds = [*(i.global_bound for i in rounds), result.dual_bound]
    low, high = _limits([*filter(math.isfinite, answers), *filter(math.isfinite, bounds[-1:])], bounds)
    if len(rounds) < 2 or not low < high:
        return ""
    step = max(1, math.ceil(len(answers) / _MOST))
    places = [*range(0, len(rounds), step), len(rounds)]

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + (_RIGHT - _LEFT) * x / len(rounds), _BOTTOM - (_BOTTOM - _TOP) * (y - low) / (high - low)

    parts = []
    for value in ticks(low, high):
        y = at(0, value)[1]
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_RIGHT}" opacity=".2"/>' + _text(_LEFT - 6, y + 4, "end", value))
    for value in ticks(0, len(rounds)):
        if value == round(value):
            x = at(value, low)[0]
            parts.append(f'<path d="M{x:.1f} {_BOTTOM}v4"/>' + _text(x, _BOTTOM + 17, "middle", value))
    parts.append(f'<path d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>' + _text(_RIGHT, _BOTTOM + 33, "end", "round"))
    lines = (("best answer", answers, INCUMBENT, "", _LEFT), ("dual bound", bounds, BOUND, "6 3", _LEFT + 130))
    for name, values, colour, dashes, x in lines:
        look = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
        path = _steps([at(k, values[k]) for k in places])
        parts.append(f'<path d="{path}" {look}/>' if path else "")
        if math.isfinite(values[-1]):
            end = at(len(rounds), values[-1])
            size = 3 if dashes else 5  # both are visible where they meet
            parts.append(f'<circle cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="{size}" fill="{colour}" stroke="none"/>')
        parts.append(f'<path d="M{x} {_BOTTOM + 43}h24" {look}/>' + _text(x + 30, _BOTTOM + 47, "start", name))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" fill="none" stroke="currentColor" '
        f'style="width:100%;max-width:{_WIDTH}px;display:block"><title>best answer and dual bound by round</title>'
        f"{''.join(parts)}</svg>"
    )


def _limits(typical: Sequence[float], bounds: Sequence[float]) -> tuple[float, float]:
    """Return limits of the vertical axis: early bounds are weak and would flatten the rest."""
    known = [value for value in bounds if math.isfinite(value)]
    if not typical or not known:
        return 0.0, 0.0
    span = max(typical) - min(typical) or abs(typical[0] - sorted(known)[len(known) // 2]) or max(known) - min(known)
    low, high = min(typical) - span, max(typical) + span
    low, high = max(low, min(*typical, *known)), min(high, max(*typical, *known))
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def _steps(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of a step function through points; points outside the axes or infinite are left out."""
    path, last = "", math.nan
    for x, y in points:
        if not _TOP - 1 <= y <= _BOTTOM + 1:
            continue
        if not path:
            path = f"M{x:.1f} {y:.1f}"
        elif y != last or x == points[-1][0]:
            path += f"H{x:.1f}V{y:.1f}"
        last = y
    return path


def ticks(low: float, high: float) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten between two limits, about five."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _text(x: float, y: float, anchor: str, value: float | str) -> str:
    text = value if isinstance(value, str) else number(value, 7)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" fill="currentColor" stroke="none" '
        f'font-family="system-ui,sans-serif">{text}</text>'
    )
