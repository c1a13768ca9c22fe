"""MAP in chains and trees: a thousand small ones a batch, against all their labellings."""

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
from tests.fuzz.judging import Said, Truths
from tests.fuzz.scores import Drawn, Floats, Rng, draw_constants, draw_scale, draw_scores, with_penalties
from tests.twins.chain_map import best_scores

NAME = "chain_map"

_FLOAT32 = 4e-6
"""Tolerance where messages are summed in single precision."""


def draw(rng: Rng) -> Drawn:
    """Trees of one shape, each with scores of its own; some batches are single trees."""
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
    return Drawn(NAME, {"theta": theta, "tau": tau}, draw_scale(rng), constants, settings)


def instance_of(drawn: Drawn) -> ChainInstance:
    """The batch as the template takes it."""
    theta, tau = _scores(drawn)
    trees, length, _ = theta.shape
    parent = np.array([*drawn.settings["parent"], -1], dtype=np.int32)
    offset = np.repeat(np.arange(trees, dtype=np.int32) * length, length)
    parents = np.where(np.tile(parent, trees) < 0, -1, np.tile(parent, trees) + offset).astype(np.int32)
    table = np.tile(np.arange(length) if len(tau) > 1 else np.zeros(length), trees).astype(np.int32)
    starts = np.arange(0, trees * length + 1, length, dtype=np.int64)
    return ChainInstance(from_parents(starts, parents, table), theta.reshape(trees * length, -1), Pairwise(tau))


def truth(drawn: Drawn, rank: int = 0) -> Truths:
    """The best labelling of each tree, or the best but for ``rank``."""
    best = best_scores(instance_of(drawn), rank)
    tolerance = _FLOAT32 if drawn.settings["dtype"] == "float32" else 1e-6
    return Truths(best, drawn.size, np.full(len(best), drawn.constant), tolerance)


def said(drawn: Drawn) -> Said:
    """What the template says of each tree."""
    instance, how = instance_of(drawn), drawn.settings
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
            return Said(nothing, nothing if proved else -nothing, nothing, proved, words)
        found = result.answer
    if how["second"] and found.runner_up is not None:
        second = _worth(drawn, found.runner_up.labels)
        bounds = found.runner_up.bounds if len(found.runner_up.bounds) else found.runner_up.values
        return Said(found.runner_up.values, bounds, second, proved, words)
    return Said(found.values, found.bounds, _worth(drawn, found.labels), proved, words)


def _worth(drawn: Drawn, labels: NDArray[np.int32]) -> Floats:
    theta, tau = (array.astype(float) for array in _scores(drawn))
    trees, length, num = theta.shape
    chosen = labels.reshape(trees, length)
    nothing = (chosen == -1).all(axis=1)
    wrong = ~nothing & ((chosen < 0) | (chosen >= num)).any(axis=1)
    x = np.clip(chosen, 0, num - 1)
    total = theta[np.arange(trees)[:, None], np.arange(length), x].sum(axis=1)
    for i, above in enumerate(drawn.settings["parent"]):
        total += tau[i if len(tau) > 1 else 0][x[:, i], x[:, above]]
    return np.where(nothing, -np.inf, np.where(wrong | (total == -np.inf), np.nan, total))


def ask(drawn: Drawn) -> tuple[Truths, Said]:
    """Return the truth and what the template says, of the second best labellings where those are asked for."""
    return truth(drawn, 1 if drawn.settings["second"] else 0), said(drawn)


def smaller(drawn: Drawn) -> Iterator[Drawn]:
    """Fewer trees, fewer labels, plainer ways."""
    theta, tau = drawn.arrays["theta"], drawn.arrays["tau"]
    trees, _, labels = theta.shape
    given = isinstance(drawn.settings["start"], list)
    for part in (slice(0, trees // 2), slice(trees // 2, trees), slice(1, trees), slice(0, trees - 1)):
        if 0 < len(theta[part]) < trees and not given:
            yield dataclasses.replace(drawn, arrays={"theta": theta[part], "tau": tau})
    for gone in range(labels if labels > 1 and not given else 0):
        kept = [k for k in range(labels) if k != gone]
        arrays = {"theta": theta[:, :, kept], "tau": tau[:, kept][:, :, kept]}
        yield dataclasses.replace(drawn, arrays=arrays)
    for name, plain in (("decode", False), ("prune", False), ("dtype", "float64"), ("reduced_cost", "both")):
        if drawn.settings[name] != plain:
            yield drawn.with_settings(**{name: plain})


def _scores(drawn: Drawn) -> tuple[NDArray[Any], NDArray[Any]]:
    dtype = drawn.settings["dtype"]
    theta = (drawn.arrays["theta"] + np.array(drawn.constants)[:, None]) * drawn.scale
    return theta.astype(dtype), (drawn.arrays["tau"] * drawn.scale).astype(dtype)
