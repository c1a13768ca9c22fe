"""Fuzz parsing with non-local factors, by both relaxations and by the decoder, compared with all trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from colgen import solve
from colgen.problems.nonlocal_parsing import Factors, NonlocalInstance, NonlocalParsing, ParsingByColumns, Parts
from colgen.problems.nonlocal_parsing.bound import METHODS
from colgen.problems.nonlocal_parsing.decoding import decode
from tests.fuzz.judging import Claims, Truths, single
from tests.fuzz.scores import Floats, Rng, Sample, draw_constants, draw_scale, draw_scores, with_penalties
from tests.twins.trees import Ints, all_trees

NAME = "nonlocal_parsing"

_LARGEST = 1e11
"""Largest score that the template accepts, in the user's units."""


def draw(rng: Rng) -> Sample:
    """Draw up to four words with overlapping factors of any size and sign."""
    words = int(rng.integers(1, 5))
    size = words + 1
    order = int(rng.choice([1, 2, 3, 4], p=[0.6, 0.15, 0.1, 0.15]))
    cube = (size,) * 3
    count = int(rng.choice([0, 3, 20, 60]))
    arcs, siblings, outermost, grandchildren, triples, factors = draw_scores(
        rng, (size, size), cube, cube, cube, (2, 2, 4, 4, 4, 4), (count,)
    )
    arrays = {"arcs": with_penalties(rng, arcs, False), "factors": with_penalties(rng, factors, False, 0.2)}
    if order > 1:
        arrays["siblings"] = siblings
    if order == 3:
        arrays["outermost"] = outermost
    if order == 4:
        arrays |= {"grandchildren": grandchildren, "triples": triples}
    pairs = [(h, m) for h in range(size) for m in range(1, size) if h != m]
    lists = [
        [list(pairs[k]) for k in sorted(rng.permutation(len(pairs))[: int(rng.integers(1, 5))].tolist())]
        for _ in range(count)
    ]
    method = str(rng.choice([*METHODS, "columns", "decode"], p=[0.4, 0.1, 0.1, 0.2, 0.2]))
    share = float(rng.choice([1.0, 1.0, 0.8, 0.5]))
    settings = {
        "factors": lists,
        "allowed": (rng.random((size, size)) < share).tolist(),
        "kinds": rng.integers(0, 3, size).tolist() if order == 4 else None,
        "single_root": bool(rng.random() < 0.5),
        "projective": bool(order > 1 or rng.random() < 0.6),
        "method": method,
        "k": int(rng.choice([1, 1, 2, 5])) if method in METHODS else 1,
        "warm": bool(rng.random() < 0.7),
        "lower_bounds": int(rng.choice([0, 0, 3])),
    }
    scale = draw_scale(rng)
    constants = draw_constants(rng, words)
    largest = max((float(np.abs(a).max(initial=0.0)) for a in arrays.values()), default=0.0) + max(map(abs, constants))
    while scale * largest > _LARGEST:
        scale /= 10.0
    return Sample(NAME, arrays, scale, constants, settings)


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims for each of the k best trees."""
    how = sample.settings
    instance = _instance(sample)
    trees = all_trees(instance.num_words, how["projective"], how["single_root"])
    if len(trees):
        trees = trees[instance.usable[trees[:, 1:], np.arange(1, trees.shape[1])].all(axis=1)]
    totals = _score_trees(sample, instance, trees)
    best = np.sort(totals)[::-1][: how["k"]]
    constant = np.array([sample.constant])
    if how["k"] == 1 or not len(best):
        truths = Truths(best if len(best) else np.array([-np.inf]), sample.size, constant)
    else:
        truths = Truths(best, sample.size, np.full(len(best), sample.constant))
    worth_of = {tuple(tree[1:]): float(total) for tree, total in zip(trees.tolist(), totals, strict=True)}

    def worth(heads: Any) -> float:
        return worth_of.get(tuple(heads), float("nan"))

    if how["method"] == "decode":
        heads = decode(instance, limit=60.0)
        value = -np.inf if heads is None else worth(heads)
        return truths, single(value, truths.best[0], value, True)
    if how["method"] == "columns":
        result = solve(ParsingByColumns(instance))
    else:
        options = {name: how[name] for name in ("method", "k", "warm", "lower_bounds")}
        result = solve(NonlocalParsing(instance, **options))
    proved, words = result.termination.is_proof, result.termination.name
    if result.answer is None:
        count = len(truths.best)
        objective, bound = np.full(count, result.objective), np.full(count, result.dual_bound)
        return truths, Claims(objective, bound, np.full(count, -np.inf), proved, words)
    if how["k"] == 1:
        return truths, single(result.objective, result.dual_bound, worth(result.answer), proved, words)
    values = np.array([worth(heads) for heads in result.answer])
    different = len({tuple(heads) for heads in result.answer}) == len(values)
    if len(values) != len(truths.best) or not different or np.isnan(values).any():
        nothing = np.full(len(truths.best), np.nan)
        return truths, Claims(nothing, nothing, nothing, proved, words)
    # Objective and bound belong to the last tree.
    fewer = len(values) < how["k"]
    objective, bound = values.copy(), truths.best.copy()
    if not fewer:
        objective[-1], bound[-1] = result.objective, result.dual_bound
    return truths, Claims(objective, bound, values, proved, words)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with fewer factors or simpler settings."""
    scores, lists = sample.arrays["factors"], sample.settings["factors"]
    for size in (len(lists) // 2, len(lists) // 4, 1):
        for first in range(0, len(lists) if size else 0, max(size, 1)):
            gone = range(first, min(first + size, len(lists)))
            kept = [k for k in range(len(lists)) if k not in gone]
            yield dataclasses.replace(sample, arrays={**sample.arrays, "factors": scores[kept]}).with_settings(
                factors=[lists[k] for k in kept]
            )
    plain = {"single_root": False, "k": 1, "warm": True, "lower_bounds": 0}
    for name, value in plain.items():
        if sample.settings[name] != value:
            yield sample.with_settings(**{name: value})
    if not all(map(all, sample.settings["allowed"])):
        size = len(sample.settings["allowed"])
        yield sample.with_settings(allowed=[[True] * size] * size)


def _instance(sample: Sample) -> NonlocalInstance:
    how, scale = sample.settings, sample.scale
    given = {name: array * scale for name, array in sample.arrays.items() if name not in ("factors", "arcs")}
    arcs = (sample.arrays["arcs"] + np.array([0.0, *sample.constants])) * scale
    kinds = None if how["kinds"] is None else np.array(how["kinds"])
    factors = [
        ([(h, m) for h, m in arcs_of], float(score))
        for arcs_of, score in zip(how["factors"], sample.arrays["factors"] * scale, strict=True)
    ]
    return NonlocalInstance(
        Parts(arcs, **given, kinds=kinds),
        Factors.of(len(arcs), factors),
        np.array(how["allowed"], dtype=bool),
        single_root=how["single_root"],
        projective=how["projective"],
    )


def _score_trees(sample: Sample, instance: NonlocalInstance, trees: Ints) -> Floats:
    if not len(trees):
        return np.empty(0)
    arcs = instance.parts.arcs
    if set(sample.arrays) == {"arcs", "factors"}:
        total: Floats = arcs[trees[:, 1:], np.arange(1, trees.shape[1])].sum(axis=1)
    else:
        total = np.array([instance.parts.score(tree) for tree in trees])
    for listed, score in zip(sample.settings["factors"], sample.arrays["factors"] * sample.scale, strict=True):
        heads, modifiers = np.array(listed).T
        total = total + score * (trees[:, modifiers] == heads).all(axis=1)
    return total
