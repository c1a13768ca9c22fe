"""An instance's scores as losses, and near 1: what the dynamic programs work with.

    φ(z) = ideal - loss(z)

where the ideal is what no tree exceeds: the best part of each kind for each word, all positive factors and no negative
one.  A tree's loss is a sum of numbers that are zero or more, one for each of its parts: it has no large constants in
it and no difference of large numbers.  Once a tree of loss ℓ is known, none that beats it has a part that alone loses
more, so that every loss is as good as 2ℓ if it is more than that: what is left is of one order of magnitude, however
far below the others a penalty lies.  Divided by a power of two it is near 1, where the tolerances of
:mod:`colgen.problems.nonlocal_parsing.kernels.tree_bound` mean the same for all instances.
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
from colgen.problems.nonlocal_parsing.kernels.part_losses import GRANDCHILDREN, OUTERMOST, SIBLINGS, take_losses
from colgen.problems.nonlocal_parsing.kernels.products import loss, start_at
from colgen.problems.nonlocal_parsing.kernels.tree_bound import NodeScores, bound_node
from colgen.solvers.scaling import power_of_two
from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees.backbone import Backbone, NonProjective, Projective
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import NEG

_COARSE = 2.0**10
"""Numbers that are larger than they need be by less than this are left as they are."""


_LOST = 2.0**-20
"""What is smaller than the largest number by this factor is in danger of being taken for rounding."""

_CALLS = 60
"""Of the dynamic program, for a tree without penalties where the best local parts have some."""


class Losses:
    """What the parts and factors of an instance lose.

    Attributes
    ----------
    ideal
        What no tree scores more than.
    largest
        The greatest loss of a part or a factor.
    """

    def __init__(self, instance: NonlocalInstance, expired: Expired = never) -> None:
        self.instance, self.expired = instance, expired
        parts, factors, usable = instance.parts, instance.nonlocal_factors, instance.usable
        arcs = np.where(usable, parts.arcs, -np.inf)
        best = arcs.max(axis=0)
        best[~np.isfinite(best)] = 0.0  # no arc leads there: there is no tree
        with np.errstate(invalid="ignore"):
            arcs = np.where(usable, arcs - best, 0.0)
        self.ideal, self.largest = float(best.sum()), -float(arcs.min())
        cubes: dict[str, Floats] = {}
        for name, kind in (("siblings", SIBLINGS), ("outermost", OUTERMOST), ("grandchildren", GRANDCHILDREN)):
            scores = getattr(parts, name)
            if scores is not None:
                cubes[name] = np.empty_like(scores)
                most, least = take_losses(kind, scores, usable, instance.single_root, cubes[name])
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
        """What a tree loses."""
        factors, tree = self.instance.nonlocal_factors, np.array([-1, *heads], dtype=np.int64)
        return float(loss(factors.start, factors.arcs, factors.scores, tree)) - self._whole.score(tree)

    def by_arcs(self, k: int, looks: int) -> Ints:
        """The k best trees by the scores of arcs alone, shape (k, N), or all if there are fewer: found at once.

        Raises
        ------
        OutOfTimeError
            After so many looks at whether it is to end, which a few trees do not take.
        """
        instance, left = self.instance, itertools.count(looks, -1)
        backbone = backbone_of(instance, Parts(np.zeros_like(self._arcs)), lambda: next(left) <= 0)
        arc = np.where(instance.usable, self._arcs, NEG)
        return backbone.k_best(arc, k)[1]

    def relative(self, guess: Heads | None = None) -> Relative:
        """The scores less what they have in common, and of one order of magnitude; ``guess``: a tree that is known."""
        instance, near = self.instance, self.near_one()
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
        near = self.near_one(least)
        own = Factors(factors.size, factors.start, factors.arcs, near.factor_scores * near.unit)
        others = {name: getattr(near.parts, name) * near.unit for name in self._cubes}
        parts = near.parts.rescored(near.parts.arcs * near.unit, **others)
        there = self.ideal - near.top * near.unit
        relative = dataclasses.replace(instance, parts=parts, factors=own, step=None)
        blurred = near.unit * _LOST > self._least_of_parts()
        return Relative(relative, there, None if known is None else tuple(known[1:].tolist()), near.unit, blurred)

    def _least_of_parts(self) -> float:
        """The least that a local part loses, if it loses anything."""
        return min(map(_smallest, (self._arcs, *self._cubes.values())))

    def near_one(self, least: float = math.inf) -> NearOne:
        """The scores near 1, equivalent for all trees that lose less than ``least``."""
        factors = self.instance.nonlocal_factors
        most = min(self.largest, 2.0 * least) if least > 0.0 else self.largest
        unit = power_of_two(most)
        scores = np.clip(factors.scores, -most, most) / unit
        cubes = {name: cube * (1.0 / unit) for name, cube in self._cubes.items()}
        if most < self.largest:
            for cube in cubes.values():
                np.maximum(cube, -most / unit, out=cube)
        arcs = np.maximum(self._arcs, -most) / unit
        return NearOne(self, unit, self._whole.rescored(arcs, **cubes), scores)


class Relative(NamedTuple):
    """An instance without what is common to all of its trees.

    Attributes
    ----------
    instance
        Its scores are those of the instance for all trees that beat the one known, less ``constant``.
    known
        A tree, None if there is none.
    unit
        The size of the scores.
    blurred
        Whether what some local part loses is so far below that size that it may be taken for rounding: the tree known
        has a penalty that another may do without.
    """

    instance: NonlocalInstance
    constant: float
    known: Heads | None
    unit: float
    blurred: bool


class NearOne:
    """Scores of an instance for kernels: losses of no more than 2, negative, and factors between -2 and 2.

    Attributes
    ----------
    parts, factor_scores
        The scores.
    unit
        A power of two: what a difference of 1 is in the instance's own scores.
    top
        The value of what loses nothing.
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
        """What the kernels call the value of a tree that loses so much."""
        return self.top - loss / self.unit

    def loss(self, value: float) -> float:
        """The other way round."""
        return (self.top - value) * self.unit

    def bound(self, value: float) -> float:
        """A bound on the kernels' values as a bound on the instance's own scores."""
        return self.losses.ideal - self.loss(value)

    def scores(self) -> NodeScores:
        """For the root of a search tree, with the uniform p."""
        factors = self.losses.instance.nonlocal_factors
        p = np.empty(len(factors.arcs))
        start_at(factors.start, factors.scores, p)
        return NodeScores.of(self._arc.copy(), factors.start.copy(), factors.arcs.copy(), self.factor_scores.copy(), p)

    def is_coarse(self, least: float) -> bool:
        """Whether all that matters for trees that lose less than ``least`` is far smaller than what there is."""
        return least > 0.0 and 2.0 * least * _COARSE < self.unit


def _smallest(scores: Floats) -> float:
    """The smallest magnitude of numbers other than zero, infinite if there is none."""
    magnitudes = np.abs(scores)
    return float(magnitudes.min(where=magnitudes > 0.0, initial=math.inf))


def backbone_of(instance: NonlocalInstance, parts: Parts, expired: Expired = never) -> Backbone:
    """The dynamic program of these parts, for trees of the kind that the instance wants."""
    if instance.projective:
        return Projective(parts, instance.single_root, expired)
    return NonProjective(parts.size, instance.single_root, expired)
