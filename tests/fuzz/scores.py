"""Random scores of kinds that have caused failures: ties, near-ties, penalties, scales, constants."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
Floats = NDArray[np.float64]

PENALTY = 1e5
"""Scores below minus this are penalties, which an optimal answer avoids if it can."""


@dataclass(frozen=True)
class Sample:
    """An instance of a template and the settings of its solution, as plain data for a replay file.

    Attributes
    ----------
    arrays
        Scores near 1, before scale and constants.
    scale
        Factor on all scores.
    constants
        Constants added to all scores of each token before scaling, which do not change the optimal answer.
    settings
        All other data.
    """

    template: str
    arrays: Mapping[str, Floats]
    scale: float = 1.0
    constants: tuple[float, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> float:
        """Return the largest score without constants and penalties, in the user's units."""
        largest = 0.0
        for array in self.arrays.values():
            values = np.abs(array[np.isfinite(array)])
            largest = max(largest, float(values[values < PENALTY].max(initial=0.0)))
        return self.scale * (largest or 1.0)

    @property
    def constant(self) -> float:
        """Return the sum of the constants, which is part of every objective."""
        return self.scale * float(sum(self.constants))

    def with_settings(self, **changes: Any) -> Sample:
        """Return a copy with changed settings."""
        return dataclasses.replace(self, settings={**self.settings, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "template": self.template,
            "arrays": {name: array.tolist() for name, array in self.arrays.items()},
            "scale": self.scale,
            "constants": list(self.constants),
            "settings": dict(self.settings),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sample:
        """Build a sample from the data of :meth:`to_dict`."""
        arrays = {name: np.array(array, dtype=float) for name, array in data["arrays"].items()}
        return cls(data["template"], arrays, data["scale"], tuple(data["constants"]), data["settings"])


def draw_scores(rng: Rng, *shapes: tuple[int, ...]) -> list[Floats]:
    """Draw arrays of scores of one style."""
    style = str(rng.choice(["whole", "normal", "near", "peaked", "uneven"], p=[0.3, 0.3, 0.2, 0.1, 0.1]))
    return [_draw_style(rng, style, shape) for shape in shapes]


def _draw_style(rng: Rng, style: str, shape: tuple[int, ...]) -> Floats:
    if style == "whole":
        return rng.integers(-3, 4, shape).astype(float)
    if style == "near":  # near-ties
        return rng.integers(-2, 3, shape) + 10.0 ** rng.integers(-7, -4) * rng.integers(-2, 3, shape)
    if style == "peaked":
        return np.round(5.0 * rng.normal(size=shape), 1)
    if style == "uneven":
        return np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-3, 2, shape))
    return rng.normal(size=shape)


def with_penalties(rng: Rng, array: Floats, infinite: bool, share: float = 0.25) -> Floats:
    """Replace some scores by penalties, with probability ``share``."""
    if rng.random() > share:
        return array
    penalty = float(rng.choice([-1e6, -2e7, -1e9, -1e12]))
    if infinite and rng.random() < 0.5:
        penalty = -np.inf
    return np.where(rng.random(array.shape) < rng.choice([0.1, 0.3]), penalty, array)


def draw_scale(rng: Rng) -> float:
    """Draw a scale from 1e-9 to 1e9, often 1."""
    return 1.0 if rng.random() < 0.3 else draw_power(rng)


def draw_power(rng: Rng) -> float:
    """Draw a number from 1e-9 to 1e9, mostly an integer power of ten."""
    return float(10.0 ** (float(rng.integers(-9, 10)) if rng.random() < 0.7 else float(rng.uniform(-9, 9))))


def draw_constants(rng: Rng, tokens: int) -> tuple[float, ...]:
    """Draw constants: zero in most cases, equal for all tokens, or one per token."""
    kind = rng.random()
    if kind < 0.7:
        return (0.0,) * tokens
    if kind < 0.85:
        return (float(rng.choice([-1e7, 1e3, 1e7])),) * tokens
    return tuple((10.0 ** rng.integers(0, 8, tokens)).tolist())
