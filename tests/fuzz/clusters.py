"""Fuzz coreference clustering, compared with all partitions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache

import numpy as np

from colgen import solve
from colgen.problems.coreference import Coreference, CoreferenceInstance
from tests.fuzz.judging import Claims, Truths, single
from tests.fuzz.scores import Floats, Rng, Sample, draw_scale, draw_scores, with_penalties
from tests.twins.coreference import partitions, together

NAME = "coreference"


def draw(rng: Rng) -> Sample:
    """Draw up to seven mentions."""
    n = int(rng.integers(1, 8))
    (scores,) = draw_scores(rng, (n * (n - 1) // 2,))
    scores = with_penalties(rng, scores, False)
    settings = {
        "mentions": n,
        "contracted": bool(rng.random() < 0.7),
        "settled": bool(rng.random() < 0.7),
        "smallest": int(rng.choice([2, 3, 12])),
    }
    return Sample(NAME, {"scores": scores}, draw_scale(rng), (), settings)


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims."""
    n, how = sample.settings["mentions"], sample.settings
    scores = sample.arrays["scores"] * sample.scale
    all_of_them = _incidence(n) @ scores
    truths = Truths(np.array([all_of_them.max()]), sample.size, np.zeros(1))
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = scores
    instance = CoreferenceInstance(matrix + matrix.T)
    options = {name: how[name] for name in ("contracted", "settled", "smallest")}
    result = solve(Coreference(instance, **options))
    worth = -np.inf if result.answer is None else _worth(scores, n, result.answer)
    return truths, single(result.objective, result.dual_bound, worth, result.is_optimal, result.termination.name)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one mention less or simpler settings."""
    n = sample.settings["mentions"]
    first, second = np.triu_indices(n, 1)
    for gone in range(n if n > 1 else 0):
        kept = (first != gone) & (second != gone)
        yield dataclasses.replace(sample, arrays={"scores": sample.arrays["scores"][kept]}).with_settings(
            mentions=n - 1
        )
    for name, plain in (("smallest", 2), ("contracted", True), ("settled", True)):
        if sample.settings[name] != plain:
            yield sample.with_settings(**{name: plain})


def _worth(scores: Floats, n: int, answer: list[tuple[int, ...]]) -> float:
    cluster_of = np.full(n, -1)
    for k, cluster in enumerate(answer):
        if (cluster_of[list(cluster)] != -1).any():
            return float("nan")
        cluster_of[list(cluster)] = k
    if (cluster_of == -1).any():
        return float("nan")
    first, second = np.triu_indices(n, 1)
    return float(scores[cluster_of[first] == cluster_of[second]].sum())


@cache
def _incidence(n: int) -> Floats:
    """Return which pairs share a cluster in each partition, shape (partitions, pairs)."""
    upper = np.triu_indices(n, 1)
    return np.array([together(clusters, n)[upper] for clusters in partitions(n)])
