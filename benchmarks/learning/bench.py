"""Benchmark of learning: SparseMAP and marginals compared with references; accuracy by loss and trainer."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import BenchOptions, Say, measure, take_turns
from benchmarks.learning.accuracy import parsing_figures, second_order_figures, tagging_figures
from benchmarks.learning.constrained import constrained_figures
from benchmarks.learning.estimators import modularity_figures
from benchmarks.learning.layers import layer_figures
from benchmarks.learning.overhead import overhead_figures
from benchmarks.learning.reference import labellings, nearest_mean, partitions, trees
from colgen.cli.template import Figure
from colgen.learning import Chains, ProjectiveTrees, Trees, best_structure, marginals, sparsemap
from colgen.learning.batches import batch_of, batch_sums
from colgen.problems.learning_oracles import Clusterings, SecondOrderTrees

Floats = NDArray[np.float64]

MINUTES = 4.0
"""Minutes at full size on an idle processor."""

_SEEDS, _ENUMERATED, _TIMED = 12, 8, 20

_DIFFERENCES = {"trees 25 words": "torch-struct adds 1e-5 to each weight"}

_STEP = 1e-4
"""Step of finite differences; means are linear along it except at rare kinks."""


def bench_learning(options: BenchOptions) -> list[Figure]:
    """Measure SparseMAP, marginals, and the accuracy of models learned with them."""
    share = 0.05 if options.quick else options.share(MINUTES)
    figures = [*_compare_with_reference(share), *_measure_sizes(share), *_compare_with_enumeration(share)]
    figures += overhead_figures(share)
    figures += modularity_figures(options.data, options.say)
    options.say("comparison with torch-struct ...")
    figures += _compare_with_torch_struct(share, options.say)
    figures += layer_figures(share, options.say)
    if options.data is None:
        options.say("accuracy is skipped: it needs corpora, add --data DIR")
        return figures
    for part in (tagging_figures, parsing_figures, second_order_figures, constrained_figures):
        figures += part(options.data, share, options.say)
    return figures


# --- SparseMAP -------------------------------------------------------------------------------------------------------


def _small_models() -> dict[str, tuple[Any, list[tuple[int, ...]], list[Any]]]:
    """Return models with few structures: oracle, shapes of scores, all structures."""
    second, every = (kind("siblings", "grandchildren") for kind in (ProjectiveTrees, SecondOrderTrees))
    return {
        "chains": (Chains(), [(4, 3), (3, 3)], [Chains.structure(np.array(x), 3) for x in labellings(4, 3)]),
        "trees": (Trees(), [(5, 5)], [Trees.structure(np.array(x)) for x in trees(4)]),
        "one root": (
            Trees(single_root=True),
            [(5, 5)],
            [Trees.structure(np.array(x)) for x in trees(4, single_root=True)],
        ),
        "second order": (
            second,
            [(5, 5), (5, 5, 5), (5, 5, 5)],
            [second.structure(np.array(x)) for x in trees(4, projective=True)],
        ),
        "second order, all trees": (
            every,
            [(4, 4), (4, 4, 4), (4, 4, 4)],
            [every.structure(np.array(x)) for x in trees(3)],
        ),
        "clusterings": (
            Clusterings(),
            [(5, 5)],
            [Clusterings.structure(np.array(x)) for x in partitions(5)],
        ),
    }


def _matrices(shapes: list[tuple[int, ...]], structures: list[Any]) -> list[Floats]:
    """Return, for each array of scores, how often its parts occur in each structure."""
    result = [np.zeros((int(np.prod(shape)), len(structures))) for shape in shapes]
    for k, structure in enumerate(structures):
        for matrix, places in zip(result, structure, strict=True):
            np.add.at(matrix[:, k], places, 1.0)
    return result


def _compare_with_reference(share: float) -> list[Figure]:
    values = means = gradients = 0.0
    count = 0
    seeds = max(round(share * _SEEDS), 2)
    for oracle, shapes, structures in _small_models().values():
        matrices = _matrices(shapes, structures)
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            scores = [rng.normal(size=shape) * (2.0 if k == 0 else 0.7) for k, shape in enumerate(shapes)]
            along = [rng.normal(size=shape) for shape in shapes]
            by_mean = rng.normal(size=shapes[0])
            linear = np.asarray(sum(m.T @ s.ravel() for m, s in zip(matrices, scores, strict=True)))
            moved = np.asarray(sum(m.T @ d.ravel() for m, d in zip(matrices, along, strict=True)))
            p = nearest_mean(matrices[0], linear)
            found = sparsemap(oracle, *scores)
            mean = matrices[0] @ p
            values = max(values, abs(found.value - float(linear @ p - 0.5 * mean @ mean)))
            means = max(means, float(np.abs(found.marginals.ravel() - mean).max()))
            ahead, behind = (matrices[0] @ nearest_mean(matrices[0], linear + e * moved) for e in (_STEP, -_STEP))
            forwards, backwards = by_mean.ravel() @ (ahead - mean), by_mean.ravel() @ (mean - behind)
            if abs(forwards - backwards) < 1e-3 * _STEP:  # otherwise at a kink, where one-sided derivatives differ
                own = sum(float((g * d).sum()) for g, d in zip(found.gradient(by_mean), along, strict=True))
                slope = float(forwards + backwards) / (2.0 * _STEP)
                gradients = max(gradients, abs(own - slope))
            count += 1
    note = f"{', '.join(_small_models())}; compared with an interior-point method over all structures"
    return [
        Figure("sparsemap_vs_reference", max(values, means, gradients), "", count, note),
        Figure("sparsemap_gradients_vs_reference", gradients, "", count, "of those, by finite differences"),
    ]


def _measure_sizes(share: float) -> list[Figure]:
    cases: dict[str, tuple[Any, Callable[[np.random.Generator], list[Floats]]]] = {
        "chains 20 x 50": (Chains(), lambda rng: [rng.normal(size=(20, 50)), rng.normal(size=(50, 50))]),
        "trees 25 words": (Trees(), lambda rng: [rng.normal(size=(26, 26))]),
        "second-order trees 12 words": (
            ProjectiveTrees("siblings", "grandchildren"),
            lambda rng: [rng.normal(size=(13, 13)), *(0.3 * rng.normal(size=(13, 13, 13)) for _ in range(2))],
        ),
        "second-order trees 7 words, projective or not": (
            SecondOrderTrees("siblings", "grandchildren"),
            lambda rng: [rng.normal(size=(8, 8)), *(0.3 * rng.normal(size=(8, 8, 8)) for _ in range(2))],
        ),
        "clusterings 10 items": (Clusterings(), lambda rng: [rng.normal(size=(10, 10))]),
    }
    figures = []
    worst = 0.0
    for name, (oracle, draw) in cases.items():
        count = max(round(share * _TIMED), 3)
        seconds, rounds, structures = [], [], []
        for seed in range(-1, count):
            scores = draw(np.random.default_rng(max(seed, 0)))
            found, spent = measure(partial(sparsemap, oracle, *scores))
            if seed < 0:
                continue  # compiles the kernels
            seconds.append(spent)
            rounds.append(found.rounds)
            structures.append(len(found.weights))
            reduced = [scores[0] - found.marginals, *scores[1:]]
            average = sum(float((s * m).sum()) for s, m in zip(reduced, found.means, strict=True))
            worst = max(worst, best_structure(oracle, reduced).score(reduced) - average)
        figures += [
            Figure(f"sparsemap_per_second ({name})", 1.0 / float(np.mean(seconds)), "1/s", count, "processor time"),
            Figure(f"rounds ({name})", float(np.median(rounds)), "rounds", count),
            Figure(f"structures ({name})", float(np.median(structures)), "structures", count, "in the mean"),
        ]
    return [
        *figures,
        Figure("sparsemap_gap", worst, "", len(cases) * count, "maximum, by one more call of the exact oracle"),
    ]


# --- marginals -------------------------------------------------------------------------------------------------------


def _compare_with_enumeration(share: float) -> list[Figure]:
    worst, count = 0.0, 0
    models = _small_models()
    for name in ("clusterings", "second order, all trees"):
        del models[name]
    arcs = [Trees.structure(np.array(x)) for x in trees(4, projective=True)]
    models["projective"] = (ProjectiveTrees(), [(5, 5)], arcs)
    for oracle, shapes, structures in models.values():
        matrices = _matrices(shapes, structures)
        for seed in range(max(round(share * _ENUMERATED), 2)):
            rng = np.random.default_rng(seed)
            scores = [3.0 * rng.normal(size=shape) for shape in shapes]
            linear = np.asarray(sum(m.T @ s.ravel() for m, s in zip(matrices, scores, strict=True)))
            log_partition = float(np.logaddexp.reduce(linear))
            p = np.exp(linear - log_partition)
            found = marginals(oracle, *scores)
            entropy = log_partition - float(p @ linear)
            worst = max(worst, abs(found.log_partition - log_partition), abs(found.entropy - entropy))
            for matrix, mean in zip(matrices, found.means, strict=True):
                worst = max(worst, float(np.abs(matrix @ p - mean.ravel()).max()))
            count += 1
    note = "chains, trees with one or several roots, projective trees of first and second order"
    return [Figure("marginals", worst, "", count, f"largest difference from enumeration; {note}")]


def _compare_with_torch_struct(share: float, say: Say) -> list[Figure]:
    if not all(importlib.util.find_spec(name) for name in ("torch", "torch_struct")):
        say("torch-struct is skipped: torch and torch-struct are not installed")
        return []
    import torch
    import torch_struct

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    count = 8
    chain = rng.normal(size=(count, 20, 50)), rng.normal(size=(50, 50))
    arcs = rng.normal(size=(count, 26, 26))

    def theirs_of(distribution: Any) -> tuple[Any, Any]:
        means = distribution.marginals.detach().numpy().copy()
        return distribution.partition.detach().numpy(), means

    def their_chains() -> tuple[Any, Any]:
        potentials = chain[1].T[np.newaxis, np.newaxis] + chain[0][:, 1:, :, np.newaxis]
        potentials[:, 0] += chain[0][:, 0, np.newaxis, :]
        value, means = theirs_of(torch_struct.LinearChainCRF(torch.tensor(potentials)))
        labels = np.concatenate([means[:, 0].sum(axis=1)[:, np.newaxis], means.sum(axis=3)], axis=1)
        return value, labels

    def their_trees(kind: Any) -> tuple[Any, Any]:
        inner = arcs[:, 1:, 1:].copy()
        inner[:, range(25), range(25)] = arcs[:, 0, 1:]
        value, means = theirs_of(
            kind(torch.tensor(inner, requires_grad=True) * 1.0, multiroot=kind is torch_struct.DependencyCRF)
        )
        marginals_of_arcs = np.zeros(arcs.shape)
        marginals_of_arcs[:, 0, 1:] = means[:, range(25), range(25)]
        means[:, range(25), range(25)] = 0.0
        marginals_of_arcs[:, 1:, 1:] = means
        return value, marginals_of_arcs

    def ours(model: Any, *scores: Floats) -> tuple[Floats, Floats]:
        sums = batch_sums(batch_of(model, scores))
        return sums.log_partition, sums.means[0]

    cases: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "chains 20 x 50": (lambda: ours(Chains(), *chain), their_chains),
        "trees 25 words": (
            lambda: ours(Trees(single_root=True), arcs),
            lambda: their_trees(torch_struct.NonProjectiveDependencyCRF),
        ),
        "projective trees 25 words": (
            lambda: ours(ProjectiveTrees(), arcs),
            lambda: their_trees(torch_struct.DependencyCRF),
        ),
    }
    figures = []
    repeats = max(round(10 * share), 2)
    for name, (own, other) in cases.items():
        mine, theirs = own(), other()
        difference = max(float(np.abs(a - b).max()) for a, b in zip(mine, theirs, strict=True))
        say(f"{name}: largest difference from torch-struct {difference:.2g}")
        _, taken = take_turns({"own": own, "other": other}, repeats)
        seconds = [min(taken[way]) for way in ("own", "other")]
        figures += [
            Figure(f"marginals_seconds ({name})", seconds[0] / count, "s", repeats, "per instance, processor time"),
            Figure(f"torch_struct_seconds ({name})", seconds[1] / count, "s", repeats),
            Figure(f"difference_from_torch_struct ({name})", difference, "", count, _DIFFERENCES.get(name, "")),
        ]
    return figures
