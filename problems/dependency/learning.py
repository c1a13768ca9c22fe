"""Weights from annotated sentences: averaged 1-best MIRA with the parser's own decoder."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.problems.dependency.arc_labels import GrowingArcLabels
from colgen.problems.dependency.features.factored_scores import WeightTable, table_of
from colgen.problems.dependency.features.growing_arcs import GrowingArcs
from colgen.problems.dependency.features.margin_updates import (
    mark_between,
    mark_triples,
    norm_of_marks,
    settle_marks,
    squared_norm,
    step_of_marks,
    take_step,
    tree_triples,
)
from colgen.problems.dependency.features.vocabulary import Codes, Encoded, Vocabulary
from colgen.problems.dependency.scorer import GRANDPARENTS, SIBLINGS, Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.dependency.training import Kept, one_pass

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Singles = NDArray[np.float32]

Decoder = Callable[[Encoded, Floats, Weights, Ints], Ints]
"""Sentence, arc scores with the loss added, weights, right heads: to the heads, shape (n + 1,), the root's -1, of a
tree that scores as much as the decoder can find."""


_KINDS = "grandparents", "siblings"

_STATE = 2
"""Of what is kept to go on from: that of another form is not taken."""


@dataclass(frozen=True)
class MiraSettings:
    """How to learn.

    Attributes
    ----------
    epochs
        Passes over the sentences.
    aggressiveness
        C, the longest step.
    seed
        Of the order of the sentences.
    kinds
        Which triples the model scores besides arcs: a subset of ``("grandparents", "siblings")``.
    attenuation
        What a feature of a triple counts where one of an arc counts 1.  Below 1, arcs take over what they can explain;
        scores of triples, and the bounds on them, stay small, and the best tree is found and proved the faster.
    cutoff
        Averaged weights are dropped, with those of the same feature, that are below this share of the largest of an
        arc, the uppermost hundredth left out; those of relations one by one, by their own largest.  Of triples nineteen
        in twenty go, and next to no heads with them: bounds on what is left are tighter.
    relations
        Where relations count: ``"tree"``, once the tree is found, which is nothing that is learned here; ``"arcs"``, in
        the arcs' scores, each worth what its best relation makes of it; ``"both"``, there, and once more in the tree.
        None: the last where every sentence tells relations, else the first.
    wrong_relation
        The loss of a right head with a wrong relation, that of a wrong head being 1.
    """

    epochs: int = 10
    aggressiveness: float = 0.05
    seed: int = 0
    kinds: tuple[str, ...] = ("grandparents", "siblings")
    attenuation: float = 0.5
    cutoff: float = 0.15
    relations: str | None = None
    wrong_relation: float = 0.5


RELATIONS = "tree", "arcs", "both"


class _Triples:
    """A table of triples that learns: weights, sums for the average, and the features of the step at hand."""

    def __init__(self, table: WeightTable) -> None:
        self.table = table
        self.sums = np.zeros_like(table.values)
        self._held = int((table.keys >= 0).sum())
        self._marks = np.empty(0, dtype=np.int64)
        self._count = self._kept = 0

    def reserve(self, features: int) -> None:
        """Make room for so many more keys, and begin a step with so many features."""
        if len(self._marks) < 2 * features:
            self._marks = np.empty(3 * features, dtype=np.int64)
        self._count = 0
        if 3 * (self._held + features) > 2 * len(self.table.keys):
            self._held = int((self.table.keys >= 0).sum())  # many of the features reserved before were known
            if 3 * (self._held + features) > 2 * len(self.table.keys):
                # The table is made half full at most, which for these is more room than there was.
                self.restore(*self.state(), room=self._held + features)
        self._held += features

    def mark(self, codes: Codes, kind: int, triples: Ints, *, plus: bool) -> None:
        """Mark the features of triples as those of the right tree, or of the tree found."""
        self._count = mark_triples(codes, self.table, kind, triples, plus, self._marks, self._count)

    def norm(self) -> float:
        """The squared norm of what was marked."""
        self._kept = settle_marks(self._marks, self._count)
        return norm_of_marks(self._marks, self._kept)

    def step(self, step: float, number: float) -> None:
        """Take a step along what was marked."""
        step_of_marks(self.table.values, self.sums, self._marks, self._kept, step, number)

    def state(self) -> tuple[Ints, Singles]:
        """Keys in use, and their weights beside their sums."""
        slots = np.flatnonzero(self.table.keys >= 0)
        return self.table.keys[slots], np.hstack([self.table.values[slots], self.sums[slots]])

    def restore(self, keys: Ints, values: Singles, *, room: int = 0) -> None:
        """Put back what :meth:`state` gave, with room for so many keys."""
        both = table_of(self.table, keys, values, room=room)
        self.table = both._replace(values=np.ascontiguousarray(both.values[:, :1]))
        self.sums = np.ascontiguousarray(both.values[:, 1:])
        self._held = len(keys)

    def averaged(self, steps: float, least: float) -> WeightTable:
        """The averaged weights; those not above ``least`` are left out."""
        keys, both = self.state()
        mean = (both[:, :1].astype(np.float64) - both[:, 1:] / steps).astype(np.float32)
        kept = np.abs(mean[:, 0]) > least
        return table_of(self.table, keys[kept], np.ascontiguousarray(mean[kept]))


class MiraLearner:
    """Averaged 1-best MIRA over arcs, grandparent parts and consecutive sibling parts.

    Parameters
    ----------
    sentences
        To learn from; every one has heads.
    decode
        Finds the tree that the weights would choose, the loss of wrong arcs included.

    Attributes
    ----------
    encoded
        The sentences' codes.
    """

    def __init__(self, sentences: Sequence[Sentence], decode: Decoder, settings: MiraSettings) -> None:
        if not sentences:
            raise InputError("expected sentences to learn from, there are none")
        if settings.relations is None:
            told = all(sentence.relations is not None for sentence in sentences)
            settings = replace(settings, relations="both" if told else "tree")
        for number, sentence in enumerate(sentences, 1):
            if sentence.heads is None:
                raise InputError(f"sentence {number} has no heads: nothing can be learned from it")
            if sentence.relations is None and settings.relations != "tree":
                raise InputError(f"sentence {number} has no relations: they cannot be part of the arcs' scores")
        self.settings = settings
        self.decode = decode
        self.vocabulary = Vocabulary.of(sentences)
        self.single_root = all(sentence.num_roots == 1 for sentence in sentences)
        self.encoded = [self.vocabulary.encode(sentence) for sentence in sentences]
        self._heads = [np.array([-1, *sentence.heads], dtype=np.int64) for sentence in sentences if sentence.heads]
        weights = Weights.zero(self.vocabulary, single_root=self.single_root)
        self._arcs = GrowingArcs(weights.arcs)
        self._triples = (_Triples(weights.grandparents), _Triples(weights.siblings))
        self._between = weights.between.reshape(-1, 1)
        self._between_sums = np.zeros_like(self._between)
        self._between_delta = np.zeros_like(self._between)
        self._places = np.empty(1, dtype=np.int64)
        self._labels: GrowingArcLabels | None = None
        if settings.relations != "tree":
            self._labels = GrowingArcLabels(sentences, self.encoded, self.vocabulary)
        self.epoch = 0
        self.steps = 1.0

    @property
    def weights(self) -> Weights:
        """The weights of the moment."""
        labels = None if self._labels is None else self._labels.averaged(math.inf)
        return replace(self._of_moment, arcs=self._arcs.averaged(math.inf, -1.0), arc_labels=labels)

    @property
    def _of_moment(self) -> Weights:
        """The same without those of arcs and relations; the next step changes them."""
        tags = self.vocabulary.num_tags
        return Weights(
            self.vocabulary,
            self._arcs.table,
            self._between.reshape(tags, tags, 2, tags),
            self._triples[GRANDPARENTS].table,
            self._triples[SIBLINGS].table,
            single_root=self.single_root,
            parts=self.settings.kinds,
        )

    def averaged(self) -> Weights:
        """The average of the weights over all steps so far."""
        tags, cutoff = self.vocabulary.num_tags, self.settings.cutoff
        # Before the tables take the room.
        labels = None if self._labels is None else self._labels.averaged(self.steps, cutoff)
        least = self._arcs.least(self.steps, cutoff)
        between = (self._between.astype(np.float64) - self._between_sums / self.steps).astype(np.float32)
        return Weights(
            self.vocabulary,
            self._arcs.averaged(self.steps, least),
            between.reshape(tags, tags, 2, tags),
            self._triples[GRANDPARENTS].averaged(self.steps, least),
            self._triples[SIBLINGS].averaged(self.steps, least),
            single_root=self.single_root,
            parts=self.settings.kinds,
            arc_labels=labels,
        )

    def run_epoch(self, say: Callable[[str], None] | None = None) -> float:
        """One pass over the sentences in an order of its own; the share of heads that were right before each step."""
        order = np.random.default_rng((self.settings.seed, self.epoch)).permutation(len(self.encoded))
        name = f"epoch {self.epoch + 1}"

        def learn(k: int) -> tuple[int, int]:
            relations = None if self._labels is None else self._labels.right[k]
            return self.learn(self.encoded[k], self._heads[k], relations), len(self.encoded[k])

        wrong = one_pass(order.tolist(), learn, None if say is None else lambda line: say(f"{name}: {line}"))
        self.epoch += 1
        return 1.0 - wrong

    def learn(self, encoded: Encoded, right: Ints, relations: Ints | None = None) -> int:
        """One step on one sentence; how many heads were wrong.

        Parameters
        ----------
        right
            The heads, shape (n + 1,), the root's -1.
        relations
            Numbers of the right relations, likewise; None where these are no part of the arcs' scores.
        """
        weights = self._of_moment
        tokens = np.arange(1, len(encoded) + 1)
        arcs = self._arcs.scores(encoded.codes, encoded.tags, weights.between)
        labels, which = None if relations is None else self._labels, None
        if labels is None or relations is None:
            arcs += 1.0  # the loss: a wrong head
            arcs[right[1:], tokens] -= 1.0
            worth = arcs[right[1:], tokens].sum()
        else:
            worth = arcs[right[1:], tokens].sum()
            losses = np.array([self.settings.wrong_relation, 1.0])
            best, which, of_right = labels.best_with_losses(encoded.codes, right, relations, losses)
            arcs += best
            worth += of_right[1:].sum()
        found = self.decode(encoded, arcs, weights, right)
        self.steps += 1.0
        wrong = int((found[1:] != right[1:]).sum())
        norm, differs = 0.0, wrong > 0
        if labels is not None and relations is not None and which is not None:
            named = np.concatenate([[0], which[found[1:], tokens]]).astype(np.int64)
            norm = labels.mark(encoded.codes, (right, relations), (found, named))
            differs |= bool((named != relations).any())
        if differs:
            step = self._update(encoded, weights, float(arcs[found[1:], tokens].sum() - worth), norm, right, found)
            if labels is not None:
                labels.step(step, self.steps)
        return wrong

    def _update(
        self, encoded: Encoded, weights: Weights, margin: float, norm: float, right: Ints, found: Ints
    ) -> float:
        """Take a step, but for relations; its length.

        Parameters
        ----------
        margin
            How much more the arcs of the tree found score, the loss included.
        norm
            The squared norm of what relations have marked.
        """
        n = len(encoded)
        norm += self._arcs.mark(encoded.codes, right, found)
        if len(self._places) < 2 * n * n:
            self._places = np.empty(4 * n * n, dtype=np.int64)
        tags = self.vocabulary.num_tags
        delta = self._between_delta.reshape(tags, tags, 2, tags)
        placed = mark_between(encoded.tags, delta, right, found, 1.0, self._places)
        placed += mark_between(encoded.tags, delta, found, right, -1.0, self._places[placed:])
        norm += squared_norm(self._between_delta, self._places, placed)
        share = self.settings.attenuation**2
        active = [kind for kind, name in enumerate(_KINDS) if name in self.settings.kinds]
        for kind in active:
            family = self._triples[kind]
            family.reserve(6 * n * len(family.table.templates))
            scorer = weights.encoded_scorer(encoded)
            for heads, plus in ((right, True), (found, False)):
                triples = tree_triples(heads, kind)
                scores = scorer.grandparents(triples) if kind == GRANDPARENTS else scorer.siblings(triples)
                margin += float(scores.sum()) * (-1.0 if plus else 1.0)
                family.mark(encoded.codes, kind, triples, plus=plus)
            norm += share * family.norm()
        # A decoder that is not exact may return a tree that is no better than the right one: that is no mistake.
        step = min(self.settings.aggressiveness, max(margin, 0.0) / norm) if norm > 0.0 else 0.0
        self._arcs.step(step, self.steps)
        for kind in active:
            self._triples[kind].step(share * step, self.steps)
        take_step(self._between, self._between_sums, self._between_delta, self._places, placed, step, self.steps)
        return step

    # --- to go on later ----------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[np.generic]]:
        """What has to be kept to go on after this epoch."""
        arrays: dict[str, NDArray[np.generic]] = {
            "between": np.hstack([self._between, self._between_sums]),
            "progress": np.array([self.epoch, self.steps]),
        }
        for name, family in zip(_KINDS, self._triples, strict=True):
            arrays[f"{name}.keys"], arrays[f"{name}.values"] = family.state()
        arrays |= {f"arcs.{name}": array for name, array in self._arcs.state().items()}
        if self._labels is not None:
            arrays |= {f"labels.{name}": array for name, array in self._labels.state().items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what :meth:`state` gave."""
        self._arcs.restore({name: arrays[f"arcs.{name}"] for name in self._arcs.KEPT})
        if self._labels is not None:
            self._labels.restore({name: arrays[f"labels.{name}"] for name in self._labels.KEPT})
        for name, family in zip(_KINDS, self._triples, strict=True):
            family.restore(arrays[f"{name}.keys"], arrays[f"{name}.values"])
        both = arrays["between"]
        self._between, self._between_sums = both[:, :1].copy(), both[:, 1:].copy()
        self.epoch, self.steps = int(arrays["progress"][0]), float(arrays["progress"][1])

    def kept_in(self, path: Path | None) -> Kept:
        """The file that keeps the state of this training."""
        return Kept(path, self._fingerprint())

    def _fingerprint(self) -> str:
        settings = replace(self.settings, epochs=0)  # more epochs may be asked for later
        tokens = sum(len(encoded) for encoded in self.encoded)
        return json.dumps([_STATE, str(settings), len(self.encoded), tokens, self.vocabulary.sizes.tolist()])
