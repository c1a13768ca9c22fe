"""Fuzz second-order parsing, by the template with all settings and by the fast parser, compared with all trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from colgen import solve
from colgen.problems.grandparent_parsing import GrandparentInstance, GrandparentParsing, parse
from tests.fuzz.judging import Claims, Truths, single
from tests.fuzz.scores import Floats, Rng, Sample, draw_constants, draw_scale, draw_scores, with_penalties
from tests.twins.trees import all_trees, grandparent_parts, places, sibling_parts

NAME = "grandparent_parsing"


def draw(rng: Rng) -> Sample:
    """Draw up to four tokens, sometimes five; the fast parser in 60% of samples."""
    tokens = 5 if rng.random() < 0.1 else int(rng.integers(1, 5))
    size = tokens + 1
    arcs, grandparents, siblings = draw_scores(rng, (size,) * 2, (size,) * 3, (size,) * 3)
    arcs = with_penalties(rng, arcs, True)
    grandparents, siblings = with_penalties(rng, grandparents, False, 0.1), with_penalties(rng, siblings, False, 0.1)
    arrays = {"arcs": arcs}
    if rng.random() < 0.85:
        arrays["grandparents"] = grandparents
    if rng.random() < 0.4:
        arrays["siblings"] = siblings
    plain = "siblings" not in arrays
    settings = {
        "single_root": bool(rng.random() < 0.4),
        "fast": bool(rng.random() < 0.6),
        "connectivity": "flow" if rng.random() < 0.3 else "cuts",
        "formulation": "one_gp+no_gp" if rng.random() < 0.2 else "all",
        "start": None,
        "tighten": bool(rng.random() < 0.7),
        "iterations": int(rng.choice([1, 5, 100])),
    }
    if rng.random() < 0.5:
        settings["start"] = str(rng.choice(["tree", "parts"]))
    elif plain and settings["connectivity"] == "cuts" and settings["formulation"] == "all":
        settings["start"] = "dual"
    return Sample(NAME, arrays, draw_scale(rng), draw_constants(rng, tokens), settings)


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims."""
    how = sample.settings
    tokens, single_root = len(sample.constants), how["single_root"]
    scores = _scores(sample)
    totals = _score_trees(scores, tokens, single_root)
    truths = Truths(np.array([totals.max(initial=-np.inf)]), sample.size, np.array([sample.constant]))
    instance = GrandparentInstance(scores["arcs"], scores.get("grandparents"), scores.get("siblings"), single_root)
    if how["fast"]:
        tree = parse(instance)
        proved, heads, words = tree.termination.is_proof, tree.heads, tree.termination.name
        objective, bound = tree.score, tree.bound
    else:
        options = {name: how[name] for name in ("connectivity", "formulation", "start", "tighten")}
        problem = GrandparentParsing(instance, **options)
        problem.iterations = how["iterations"]
        result = solve(problem)
        proved, heads, words = result.termination.is_proof, result.answer, result.termination.name
        objective, bound = result.objective, result.dual_bound
    if heads is None:
        return truths, single(objective, bound, -np.inf, proved, words)
    place = places(tokens, False, single_root).get(tuple(heads))
    worth = float("nan") if place is None or totals[place] == -np.inf else float(totals[place])
    return truths, single(objective, bound, worth, proved, words)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one token less, one type of part less, or simpler settings."""
    tokens = len(sample.constants)
    for gone in range(1, tokens + 1 if tokens > 1 else 1):
        arrays = dict(sample.arrays)
        for name, array in arrays.items():
            for axis in range(array.ndim):
                array = np.delete(array, gone, axis=axis)
            arrays[name] = array
        constants = tuple(c for k, c in enumerate(sample.constants, 1) if k != gone)
        yield dataclasses.replace(sample, arrays=arrays, constants=constants)
    for name in ("siblings", "grandparents"):
        if name in sample.arrays:
            yield dataclasses.replace(sample, arrays={k: a for k, a in sample.arrays.items() if k != name})
    plain = {"single_root": False, "connectivity": "cuts", "formulation": "all", "tighten": True, "iterations": 100}
    for name, value in plain.items():
        if sample.settings[name] != value:
            yield sample.with_settings(**{name: value})


def _scores(sample: Sample) -> dict[str, Floats]:
    arcs = sample.arrays["arcs"] + np.array([0.0, *sample.constants])
    return {name: (arcs if name == "arcs" else array) * sample.scale for name, array in sample.arrays.items()}


def _score_trees(scores: dict[str, Floats], tokens: int, single_root: bool) -> Floats:
    trees = all_trees(tokens, single_root=single_root)
    total: Floats = scores["arcs"][trees[:, 1:], np.arange(1, tokens + 1)].sum(axis=1)
    for name, listed in (("grandparents", grandparent_parts), ("siblings", sibling_parts)):
        if name in scores:
            parts, there = listed(tokens, single_root)
            values = scores[name][parts[..., 0], parts[..., 1], parts[..., 2]]
            total = total + np.where(there, values, 0.0).sum(axis=1)
    return total
