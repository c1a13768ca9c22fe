"""Fuzz graph colouring, compared with a search vertex by vertex."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from colgen import solve
from colgen.problems.colouring import Colouring, ColouringInstance
from tests.fuzz.judging import Claims, Truths, claims_of
from tests.fuzz.scores import Rng, Sample
from tests.twins.colouring import fewest_colours

NAME = "colouring"


def draw(rng: Rng) -> Sample:
    """Draw up to ten vertices: random graphs, rings with fractional relaxations, multipartite graphs, complements.

    Some graphs have no edges or all, some vertices no neighbour.  Edges may be repeated.
    """
    n = int(rng.integers(1, 11))
    style = str(rng.choice(["random", "random", "ring", "parts", "none"]))
    if style == "random":
        near = rng.random((n, n)) < rng.random()
    elif style == "ring":
        places = np.arange(n)
        away = np.abs(places[:, None] - places[None])
        near = np.minimum(away, n - away) <= int(rng.integers(1, 4))
    elif style == "none":
        near = np.zeros((n, n), dtype=np.bool_)
    else:
        part = rng.integers(0, 4, n)
        near = (part[:, None] != part[None]) & (rng.random((n, n)) < 0.9)
    near = np.triu(near, 1)
    near = near | near.T
    if rng.random() < 0.3:
        near = ~near
    if rng.random() < 0.2:
        alone = rng.random(n) < 0.3
        near[alone] = near[:, alone] = False
    np.fill_diagonal(near, False)
    order = rng.permutation(n)
    return Sample(
        NAME, {"adjacency": near[np.ix_(order, order)].astype(float)}, settings={"twice": bool(rng.random() < 0.2)}
    )


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, negated because colours are minimised."""
    near = sample.arrays["adjacency"]
    n = len(near)
    edges = tuple((u, v) for u in range(n) for v in range(u) if near[u, v])
    given = (*edges, *((v, u) for u, v in edges[::2])) if sample.settings.get("twice") else edges
    instance = ColouringInstance(n, given)
    truths = Truths(np.array([-float(fewest_colours(instance))]), 1.0, np.zeros(1))
    result = solve(Colouring(instance))
    worth = -np.inf
    if result.answer is not None:
        proper = len(result.answer) == n and all(result.answer[u] != result.answer[v] for u, v in edges)
        worth = -float(len(set(result.answer))) if proper else float("nan")
    return truths, claims_of(result, worth, -1.0)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one vertex or one edge less."""
    near = sample.arrays["adjacency"]
    for v in range(len(near) if len(near) > 1 else 0):
        kept = np.arange(len(near)) != v
        yield dataclasses.replace(sample, arrays={"adjacency": near[np.ix_(kept, kept)]})
    for u, v in np.argwhere(np.triu(near)).tolist():
        fewer = near.copy()
        fewer[u, v] = fewer[v, u] = 0.0
        yield dataclasses.replace(sample, arrays={"adjacency": fewer})
