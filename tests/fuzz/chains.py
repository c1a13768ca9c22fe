"""Fuzz MAP in chains and trees: up to a thousand small ones per batch, compared with all labellings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import IterationLimit, solve
from colgen.problems.chain_map import ChainInstance, ChainMAP
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.template import decode
from colgen.solvers.chains.forest import from_parents
from tests.fuzz.judging import Claims, Truths
from tests.fuzz.scores import Floats, Rng, Sample, draw_constants, draw_scale, draw_scores, with_penalties
from tests.twins.chain_map import best_scores

NAME = "chain_map"

_FLOAT32 = 4e-6
"""Tolerance for sums of messages in single precision."""


def draw(rng: Rng) -> Sample:
    """Draw a batch of trees of one shape with different scores; some batches are single trees."""
    length, labels = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    trees = int(rng.choice([1, 50, 1000], p=[0.3, 0.4, 0.3]))
    parent = [int(rng.integers(i + 1, length)) for i in range(length - 1)] if rng.random() < 0.4 else []
    stepwise = bool(parent) or rng.random() < 0.3
    theta, tau = draw_scores(rng, (trees, length, labels), (length if stepwise else 1, labels, labels))
    single = bool(rng.random() < 0.4)
    constants = (0.0,) * length if single else draw_constants(rng, length)
    theta, tau = with_penalties(rng, theta, True), with_penalties(rng, tau, True, 0.15)
    start: Any = "sweep" if rng.random() < 0.4 else int(rng.integers(1, labels + 1))
    if start != "sweep" and rng.random() < 0.2:
        start = rng.integers(0, labels, trees * length).tolist()
    settings = {
        "parent": parent or [*range(1, length)],
        "dtype": "float32" if single else "float64",
        "start": start,
        "reduced_cost": str(rng.choice(["both", "forward", "split"])),
        "prune": bool(rng.random() < 0.3),
        "decode": bool(rng.random() < 0.3),
        "second": bool(start == "sweep" and rng.random() < 0.3),
    }
    return Sample(NAME, {"theta": theta, "tau": tau}, draw_scale(rng), constants, settings)


def instance_of(sample: Sample) -> ChainInstance:
    """Return the batch as an instance of the template."""
    theta, tau = _scores(sample)
    trees, length, _ = theta.shape
    parent = np.array([*sample.settings["parent"], -1], dtype=np.int32)
    offset = np.repeat(np.arange(trees, dtype=np.int32) * length, length)
    parents = np.where(np.tile(parent, trees) < 0, -1, np.tile(parent, trees) + offset).astype(np.int32)
    table = np.tile(np.arange(length) if len(tau) > 1 else np.zeros(length), trees).astype(np.int32)
    starts = np.arange(0, trees * length + 1, length, dtype=np.int64)
    return ChainInstance(from_parents(starts, parents, table), theta.reshape(trees * length, -1), Pairwise(tau))


def truth(sample: Sample, rank: int = 0) -> Truths:
    """Return the best score of each tree, or the one after ``rank`` better labellings."""
    best = best_scores(instance_of(sample), rank)
    tolerance = _FLOAT32 if sample.settings["dtype"] == "float32" else 1e-6
    return Truths(best, sample.size, np.full(len(best), sample.constant), tolerance)


def solve_sample(sample: Sample) -> Claims:
    """Solve the batch and return the claims for each tree."""
    instance, how = instance_of(sample), sample.settings
    start = how["start"]
    start = np.array(start) if isinstance(start, list) else start
    options = {"start": start, "reduced_cost": how["reduced_cost"], "prune": how["prune"]}
    if how["second"]:
        options["margin"] = np.inf
    proved, words = True, ""
    if how["decode"]:
        found = decode(instance, **options)
    else:
        result = solve(ChainMAP(instance, **options), stop=IterationLimit(10_000))
        proved, words = result.termination.is_proof, result.termination.name
        if result.answer is None:
            nothing = np.full(instance.num_trees, -np.inf)
            return Claims(nothing, nothing if proved else -nothing, nothing, proved, words)
        found = result.answer
    if how["second"] and found.runner_up is not None:
        second = _worth(sample, found.runner_up.labels)
        bounds = found.runner_up.bounds if len(found.runner_up.bounds) else found.runner_up.values
        return Claims(found.runner_up.values, bounds, second, proved, words)
    return Claims(found.values, found.bounds, _worth(sample, found.labels), proved, words)


def _worth(sample: Sample, labels: NDArray[np.int32]) -> Floats:
    theta, tau = (array.astype(float) for array in _scores(sample))
    trees, length, num = theta.shape
    chosen = labels.reshape(trees, length)
    nothing = (chosen == -1).all(axis=1)
    wrong = ~nothing & ((chosen < 0) | (chosen >= num)).any(axis=1)
    x = np.clip(chosen, 0, num - 1)
    total = theta[np.arange(trees)[:, None], np.arange(length), x].sum(axis=1)
    for i, above in enumerate(sample.settings["parent"]):
        total += tau[i if len(tau) > 1 else 0][x[:, i], x[:, above]]
    return np.where(nothing, -np.inf, np.where(wrong | (total == -np.inf), np.nan, total))


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, of the second best labellings if the settings require them."""
    return truth(sample, 1 if sample.settings["second"] else 0), solve_sample(sample)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with fewer trees, fewer labels, or simpler settings."""
    theta, tau = sample.arrays["theta"], sample.arrays["tau"]
    trees, _, labels = theta.shape
    given = isinstance(sample.settings["start"], list)
    for part in (slice(0, trees // 2), slice(trees // 2, trees), slice(1, trees), slice(0, trees - 1)):
        if 0 < len(theta[part]) < trees and not given:
            yield dataclasses.replace(sample, arrays={"theta": theta[part], "tau": tau})
    for gone in range(labels if labels > 1 and not given else 0):
        kept = [k for k in range(labels) if k != gone]
        arrays = {"theta": theta[:, :, kept], "tau": tau[:, kept][:, :, kept]}
        yield dataclasses.replace(sample, arrays=arrays)
    for name, plain in (("decode", False), ("prune", False), ("dtype", "float64"), ("reduced_cost", "both")):
        if sample.settings[name] != plain:
            yield sample.with_settings(**{name: plain})


def _scores(sample: Sample) -> tuple[NDArray[Any], NDArray[Any]]:
    dtype = sample.settings["dtype"]
    theta = (sample.arrays["theta"] + np.array(sample.constants)[:, None]) * sample.scale
    return theta.astype(dtype), (sample.arrays["tau"] * sample.scale).astype(dtype)
