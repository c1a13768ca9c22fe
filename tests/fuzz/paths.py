"""Fuzz paths of k vertices, compared with all paths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from colgen import solve
from colgen.problems.title_path import LazyPath, PathInstance, TitlePath
from tests.fuzz.judging import Claims, Truths, claims_of
from tests.fuzz.scores import Rng, Sample, draw_scale, draw_scores, with_penalties
from tests.twins.title_path import all_paths, weigh

NAME = "title_path"


def draw(rng: Rng) -> Sample:
    """Draw up to six vertices; bonuses of vertices favour walks that return."""
    n = int(rng.integers(1, 7))
    (weights,) = draw_scores(rng, (n + 2, n))
    if rng.random() < 0.4:
        weights = weights + rng.choice([0.0, 0.0, 5.0], n)
    weights = with_penalties(rng, weights, True, 0.4)
    length = int(rng.integers(1, 5))
    constant = float(rng.choice([0.0, 0.0, 0.0, -1e7, 1e3, 1e7]))
    settings = {
        "length": length,
        "classes": rng.integers(0, n, n).tolist() if rng.random() < 0.5 else list(range(n)),
        "lazy": bool(rng.random() < 0.3),
    }
    return Sample(NAME, {"weights": weights}, draw_scale(rng), (constant,) * (length + 1), settings)


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims."""
    how = sample.settings
    weights = (sample.arrays["weights"] + (sample.constants[0] if sample.constants else 0.0)) * sample.scale
    n, length = weights.shape[1], how["length"]
    instance = PathInstance(weights[:n], weights[n], weights[n + 1], length, tuple(how["classes"]))
    _, totals = all_paths(instance)
    truths = Truths(np.array([totals.max(initial=-np.inf)]), sample.size, np.array([sample.constant]))
    result = solve(LazyPath(instance) if how["lazy"] else TitlePath(instance))
    worth = -np.inf
    if result.answer is not None:
        path = np.array([result.answer])
        valid = path.shape[1] == length and len({how["classes"][v] for v in path[0].tolist()}) == length
        worth = float(weigh(instance, path)[0]) if valid else float("nan")
        worth = worth if worth > -np.inf else float("nan")
    return truths, claims_of(result, worth)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one vertex less or a shorter path."""
    weights, classes = sample.arrays["weights"], sample.settings["classes"]
    n, length = weights.shape[1], sample.settings["length"]
    for gone in range(n if n > 1 else 0):
        left = np.delete(np.delete(weights, gone, axis=0), gone, axis=1)
        yield dataclasses.replace(sample, arrays={"weights": left}).with_settings(
            classes=[c for k, c in enumerate(classes) if k != gone]
        )
    if length > 1:
        yield dataclasses.replace(sample, constants=sample.constants[1:]).with_settings(length=length - 1)
    if classes != list(range(n)):
        yield sample.with_settings(classes=list(range(n)))
