"""An instance's scores as losses, scaled to be near 1 for the dynamic programs.

    φ(z) = ideal - loss(z)

The ideal is an upper bound on all trees: the best part of each kind for each word, all positive factors and no negative
one. A tree's loss is a sum of non-negative numbers, one per part, without large constants or differences of large
numbers. If a tree of loss ℓ is known, no better tree has a part with a larger loss, so every loss above 2ℓ may be
replaced by 2ℓ. Then all losses have the same order of magnitude, however large a penalty is. They are divided by a
power of two to be near 1, so that the tolerances of :mod:`colgen.problems.nonlocal_parsing.kernels.tree_bound` have the
same meaning for all instances.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from colgen.problems.dependency.sentence import Heads
from colgen.problems.nonlocal_parsing.factors import Factors, Floats, Ints
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.kernels.part_losses import GRANDCHILDREN, OUTERMOST, SIBLINGS, write_losses
from colgen.problems.nonlocal_parsing.kernels.products import loss, start_at
from colgen.problems.nonlocal_parsing.kernels.tree_bound import NodeScores, bound_node
from colgen.solvers.scaling import power_of_two
from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees.backbone import Backbone, NonProjective, Projective
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import NEG

_COARSE = 2.0**10
"""Numbers that exceed the necessary size by a smaller factor than this are not rescaled."""


_LOST = 2.0**-20
"""Numbers smaller than the largest by this factor may be lost in rounding."""

_CALLS = 60
"""Calls of the dynamic program to find a tree without penalties, if the best local parts have some."""


class Losses:
    """Losses of the parts and factors of an instance.

    ``ideal`` is an upper bound on all trees' scores, ``largest`` the largest loss of a part or a factor.
    """

    def __init__(self, instance: NonlocalInstance, expired: Expired = never) -> None:
        self.instance, self.expired = instance, expired
        parts, factors, usable = instance.parts, instance.nonlocal_factors, instance.usable
        arcs = np.where(usable, parts.arcs, -np.inf)
        best = arcs.max(axis=0)
        best[~np.isfinite(best)] = 0.0  # no arc leads to the word, so there is no tree
        with np.errstate(invalid="ignore"):
            arcs = np.where(usable, arcs - best, 0.0)
        self.ideal, self.largest = float(best.sum()), -float(arcs.min())
        cubes: dict[str, Floats] = {}
        for name, kind in (("siblings", SIBLINGS), ("outermost", OUTERMOST), ("grandchildren", GRANDCHILDREN)):
            scores = getattr(parts, name)
            if scores is not None:
                cubes[name] = np.empty_like(scores)
                most, least = write_losses(kind, scores, usable, instance.single_root, cubes[name])
                self.ideal, self.largest = self.ideal + most, max(self.largest, -least)
        kinds = None
        if parts.triples is not None and parts.kinds is not None:
            there, kinds = np.unique(parts.kinds, return_inverse=True)
            both = np.arange(2)
            cubes["triples"] = parts.triples[np.ix_(both, both, there, there, there, np.append(there, -1))]
            most = float(cubes["triples"].max())
            cubes["triples"] -= most
            self.ideal += most * instance.num_words
            self.largest = max(self.largest, -float(cubes["triples"].min()))
        self.ideal += float(factors.scores.sum(where=factors.scores > 0.0))
        self.largest = max(self.largest, float(np.abs(factors.scores).max(initial=0.0)))
        self._arcs, self._cubes = arcs, cubes
        self._whole = parts.rescored(arcs, **cubes, **({} if kinds is None else {"kinds": kinds}))

    def of(self, heads: Sequence[int] | Ints) -> float:
        """Return the loss of a tree."""
        factors, tree = self.instance.nonlocal_factors, np.array([-1, *heads], dtype=np.int64)
        return float(loss(factors.start, factors.arcs, factors.scores, tree)) - self._whole.score(tree)

    def by_arcs(self, k: int, looks: int) -> Ints:
        """Return the k best trees by arc scores alone, or all if there are fewer, shape (trees, N).

        Raises OutOfTimeError after ``looks`` checks of the clock, more than a few trees need.
        """
        instance, left = self.instance, itertools.count(looks, -1)
        backbone = backbone_of(instance, Parts(np.zeros_like(self._arcs)), lambda: next(left) <= 0)
        arc = np.where(instance.usable, self._arcs, NEG)
        return backbone.k_best(arc, k)[1]

    def relative(self, guess: Heads | None = None) -> RelativeInstance:
        """Return the scores without their common constants, of one order of magnitude; ``guess`` is a known tree."""
        instance, near = self.instance, self.normalize()
        factors, heads = instance.nonlocal_factors, np.empty(instance.parts.size, dtype=np.int64)
        least, known = math.inf, None
        if near.backbone.best(np.where(instance.usable, near.parts.arcs, NEG), heads) > 0.5 * NEG:
            least, known = self.of(heads[1:]), heads
            if guess is not None and self.of(guess) < least:
                least, known = self.of(guess), np.array([0, *guess], dtype=np.int64)
            elif near.is_coarse(_smallest(factors.scores)):
                found = bound_node(near.scores(), near.backbone, cut=near.value(least), most_calls=_CALLS)
                if found.heads is not None:
                    least, known = self.of(found.heads[1:]), found.heads
        near = self.normalize(least)
        own = Factors(factors.size, factors.start, factors.arcs, near.factor_scores * near.unit)
        others = {name: getattr(near.parts, name) * near.unit for name in self._cubes}
        parts = near.parts.rescored(near.parts.arcs * near.unit, **others)
        there = self.ideal - near.top * near.unit
        relative = dataclasses.replace(instance, parts=parts, factors=own, step=None)
        blurred = near.unit * _LOST > self._least_of_parts()
        return RelativeInstance(
            relative, there, None if known is None else tuple(known[1:].tolist()), near.unit, blurred
        )

    def _least_of_parts(self) -> float:
        """Return the smallest non-zero loss of a local part."""
        return min(map(_smallest, (self._arcs, *self._cubes.values())))

    def normalize(self, least: float = math.inf) -> NormalizedScores:
        """Return scores near 1 that are equivalent for all trees with a loss below ``least``."""
        factors = self.instance.nonlocal_factors
        most = min(self.largest, 2.0 * least) if least > 0.0 else self.largest
        unit = power_of_two(most)
        scores = np.clip(factors.scores, -most, most) / unit
        cubes = {name: cube * (1.0 / unit) for name, cube in self._cubes.items()}
        if most < self.largest:
            for cube in cubes.values():
                np.maximum(cube, -most / unit, out=cube)
        arcs = np.maximum(self._arcs, -most) / unit
        return NormalizedScores(self, unit, self._whole.rescored(arcs, **cubes), scores)


class RelativeInstance(NamedTuple):
    """An instance without the constant common to all of its trees."""

    instance: NonlocalInstance  # its scores plus `constant` are the original's for all trees that beat `known`
    constant: float
    known: Heads | None  # a tree, or None
    unit: float  # size of the scores
    blurred: bool  # some loss may be lost in rounding, because `known` has a penalty that other trees may avoid


class NormalizedScores:
    """Scores of an instance for kernels: losses of at most 2, as negative numbers, and factors between -2 and 2.

    ``unit``, a power of two, is the difference in the instance's scores that corresponds to 1. ``top`` is the value of
    a loss of zero.
    """

    def __init__(self, losses: Losses, unit: float, parts: Parts, scores: Floats) -> None:
        instance = losses.instance
        self.losses, self.unit = losses, unit
        self.parts, self.factor_scores = parts, scores
        self._arc = np.where(instance.usable, parts.arcs, NEG)
        self.top = float(scores.sum(where=scores > 0.0))
        self.step = (instance.step or 0.0) / unit
        self.backbone = backbone_of(instance, parts, lambda: losses.expired())

    def value(self, loss: float) -> float:
        """Return the value in kernels of a tree with this loss."""
        return self.top - loss / self.unit

    def loss(self, value: float) -> float:
        """Return the loss of a tree whose value in kernels is ``value``."""
        return (self.top - value) * self.unit

    def bound(self, value: float) -> float:
        """Convert a bound on values in kernels to a bound on the instance's scores."""
        return self.losses.ideal - self.loss(value)

    def scores(self) -> NodeScores:
        """Return the scores of the root of a search tree, with uniform p."""
        factors = self.losses.instance.nonlocal_factors
        p = np.empty(len(factors.arcs))
        start_at(factors.start, factors.scores, p)
        return NodeScores.of(self._arc.copy(), factors.start.copy(), factors.arcs.copy(), self.factor_scores.copy(), p)

    def is_coarse(self, least: float) -> bool:
        """Return whether the losses below ``least`` are much smaller than the unit."""
        return least > 0.0 and 2.0 * least * _COARSE < self.unit


def _smallest(scores: Floats) -> float:
    """Return the smallest non-zero magnitude, or inf."""
    magnitudes = np.abs(scores)
    return float(magnitudes.min(where=magnitudes > 0.0, initial=math.inf))


def backbone_of(instance: NonlocalInstance, parts: Parts, expired: Expired = never) -> Backbone:
    """Return the dynamic program of these parts, for trees of the kind that the instance requires."""
    if instance.projective:
        return Projective(parts, instance.single_root, expired)
    return NonProjective(parts.size, instance.single_root, expired)
