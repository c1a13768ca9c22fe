"""Training on annotated sentences: averaged 1-best MIRA with the parser's own decoder.

Let f be the features of the gold tree and f' those of a wrong tree with loss ℓ.  The step makes the gold tree score at
least ℓ more, with the least change of the weights and a step length of at most C:

    w ← w + τ (f - f'),     τ = min(C, (ℓ - w·f + w·f') / ‖f - f'‖²).

Source: K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online passive-aggressive algorithms*, JMLR 7
(2006); R. McDonald, K. Crammer, F. Pereira, *Online large-margin training of dependency parsers*, ACL (2005).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.learning.weights import AveragedWeights, part, prefixed
from colgen.problems.dependency.arc_labels import GrowingArcLabels
from colgen.problems.dependency.features.factored_scores import WeightTable, mark_triples, table_of, tree_triples
from colgen.problems.dependency.features.growing_arcs import GrowingArcs
from colgen.problems.dependency.features.tags_between import mark_between
from colgen.problems.dependency.features.vocabulary import Codes, Encoded, Vocabulary
from colgen.problems.dependency.scorer import GRANDPARENTS, SIBLINGS, Weights
from colgen.problems.dependency.sentence import Sentence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Singles = NDArray[np.float32]

Decoder = Callable[[Encoded, Floats, Weights, Ints], Ints]
"""Maps sentence, arc scores with the loss added, weights and gold heads to the heads of a high-scoring tree.

Heads have shape (n + 1,); the root's is -1.
"""


_KINDS = "grandparents", "siblings"

_STATE = 3
"""Version of the saved state; other versions are not loaded."""


@dataclass(frozen=True)
class MiraSettings:
    """Settings of :class:`MiraLearner`.

    Attributes
    ----------
    aggressiveness
        C, the maximum step length.
    kinds
        Triple types that the model scores besides arcs: a subset of ``("grandparents", "siblings")``.
    attenuation
        Value of a triple feature, relative to 1 for an arc feature.  With a value below 1, arc features explain what
        they can.  Scores of triples and their bounds then stay small, so that trees are found and proved faster.
    cutoff
        A feature is dropped if its averaged weights are below this share of the 99th percentile of arc weights.
        Relation weights are dropped individually, relative to their own percentile.  This removes 19 of 20 triple
        features at almost no loss of accuracy, and tightens bounds.
    relations
        ``"tree"``: relations are predicted after parsing and not learned here.  ``"arcs"``: arc scores include the
        score of the best relation.  ``"both"``: both.  None: ``"both"`` if every sentence has relations, else
        ``"tree"``.
    wrong_relation
        Loss of a correct head with a wrong relation; a wrong head costs 1.
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
    """Weights of a triple type during training, and the features of the current step."""

    def __init__(self, table: WeightTable) -> None:
        self.table, self.average = table, AveragedWeights(table.values)
        self._held = int((table.keys >= 0).sum())

    def begin(self, features: int) -> None:
        """Begin a step with at most this many features, and reserve memory for them."""
        if 3 * (self._held + features) > 2 * len(self.table.keys):
            self._held = int((self.table.keys >= 0).sum())  # many reserved features turned out to be known
            if 3 * (self._held + features) > 2 * len(self.table.keys):
                # The new table is at most half full, so it is larger than the old one.
                self.restore(*self.state(), room=self._held + features)
        self._held += features
        self.average.begin(features)

    def mark(self, codes: Codes, kind: int, triples: Ints, *, plus: bool) -> None:
        """Mark the features of triples of the gold tree (``plus``) or of the predicted tree."""
        average = self.average
        average.count = mark_triples(codes, self.table, kind, triples, plus, average.marks, average.count)

    def state(self) -> tuple[Ints, Singles]:
        """Return the keys in use, and their weights and their sums for the average, for :meth:`restore`."""
        slots = np.flatnonzero(self.table.keys >= 0)
        return self.table.keys[slots], np.stack([self.average.weights[slots], self.average.sums[slots]], axis=1)

    def restore(self, keys: Ints, values: Singles, *, room: int = 0) -> None:
        """Restore the values of :meth:`state`, with space for ``room`` keys."""
        both = table_of(self.table, keys, values, room=room)
        self.table = both._replace(values=np.ascontiguousarray(both.values[:, :1]))
        self.average = AveragedWeights(self.table.values)
        self.average.sums = np.ascontiguousarray(both.values[:, 1])
        self._held = len(keys)

    def averaged(self, steps: float, least: float) -> WeightTable:
        keys, both = self.state()
        mean = (both[:, :1].astype(np.float64) - both[:, 1:] / steps).astype(np.float32)
        kept = np.abs(mean[:, 0]) > least
        return table_of(self.table, keys[kept], np.ascontiguousarray(mean[kept]))


class MiraLearner:
    """Averaged 1-best MIRA over arcs, grandparent parts and consecutive sibling parts.

    All sentences need heads.  ``decode`` returns the best tree at the current weights, with the loss of wrong arcs
    added to the scores.  ``encoded`` contains the codes of the sentences.
    """

    batch = 1

    def __init__(self, sentences: Sequence[Sentence], decode: Decoder, settings: MiraSettings) -> None:
        if not sentences:
            raise InputError("sentences is empty: training needs at least one sentence")
        if settings.relations is None:
            labelled = all(sentence.relations is not None for sentence in sentences)
            settings = replace(settings, relations="both" if labelled else "tree")
        for number, sentence in enumerate(sentences, 1):
            if sentence.heads is None:
                raise InputError(f"sentence {number} has no heads: training needs annotated sentences")
            if sentence.relations is None and settings.relations != "tree":
                raise InputError(
                    f"sentence {number} has no relations, but relations={settings.relations!r} needs them: use 'tree'"
                )
        self.settings = settings
        self.decode = decode
        self.vocabulary = Vocabulary.of(sentences)
        self.single_root = all(sentence.num_roots == 1 for sentence in sentences)
        self.encoded = [self.vocabulary.encode(sentence) for sentence in sentences]
        self._heads = [np.array([-1, *sentence.heads], dtype=np.int64) for sentence in sentences if sentence.heads]
        weights = Weights.zero(self.vocabulary, single_root=self.single_root)
        self._arcs = GrowingArcs(weights.arcs)
        self._triples = (_Triples(weights.grandparents), _Triples(weights.siblings))
        self._between = AveragedWeights(weights.between)
        self._labels: GrowingArcLabels | None = None
        if settings.relations != "tree":
            self._labels = GrowingArcLabels(sentences, self.encoded, self.vocabulary)
        self.steps = 1.0

    def __len__(self) -> int:
        return len(self.encoded)

    @property
    def weights(self) -> Weights:
        labels = None if self._labels is None else self._labels.averaged(math.inf)
        return replace(self._of_moment, arcs=self._arcs.averaged(math.inf, -1.0), arc_labels=labels)

    @property
    def _of_moment(self) -> Weights:
        """The current weights without those of arcs and relations; the next step changes them."""
        return Weights(
            self.vocabulary,
            self._arcs.table,
            self._between.weights.reshape(self._between.shape),
            self._triples[GRANDPARENTS].table,
            self._triples[SIBLINGS].table,
            single_root=self.single_root,
            parts=self.settings.kinds,
        )

    def averaged(self) -> Weights:
        cutoff = self.settings.cutoff
        # Relations come first, because the other tables need the memory.
        labels = None if self._labels is None else self._labels.averaged(self.steps, cutoff)
        least = self._arcs.least(self.steps, cutoff)
        return Weights(
            self.vocabulary,
            self._arcs.averaged(self.steps, least),
            self._between.mean(self.steps),
            self._triples[GRANDPARENTS].averaged(self.steps, least),
            self._triples[SIBLINGS].averaged(self.steps, least),
            single_root=self.single_root,
            parts=self.settings.kinds,
            arc_labels=labels,
        )

    def learn(self, examples: Ints) -> tuple[float, float]:
        wrong = words = 0
        for k in examples.tolist():
            relations = None if self._labels is None else self._labels.right[k]
            wrong += self.step(self.encoded[k], self._heads[k], relations)
            words += len(self.encoded[k])
        return float(wrong), float(words)

    def step(self, encoded: Encoded, right: Ints, relations: Ints | None = None) -> int:
        """Train on one sentence and return the number of wrong heads.

        ``right`` are the gold heads, shape (n + 1,), root -1; ``relations`` the numbers of the gold relations, or None
        if relations are not part of arc scores.
        """
        weights = self._of_moment
        tokens = np.arange(1, len(encoded) + 1)
        arcs = self._arcs.scores(encoded.codes, encoded.tags, weights.between)
        labels, which = None if relations is None else self._labels, None
        if labels is None or relations is None:
            arcs += 1.0  # the loss: a wrong head
            arcs[right[1:], tokens] -= 1.0
            right_score = arcs[right[1:], tokens].sum()
        else:
            right_score = arcs[right[1:], tokens].sum()
            losses = np.array([self.settings.wrong_relation, 1.0])
            best, which, right_scores = labels.best_with_losses(encoded.codes, right, relations, losses)
            arcs += best
            right_score += right_scores[1:].sum()
        found = self.decode(encoded, arcs, weights, right)
        self.steps += 1.0
        wrong = int((found[1:] != right[1:]).sum())
        norm, differs = 0.0, wrong > 0
        if labels is not None and relations is not None and which is not None:
            named = np.concatenate([[0], which[found[1:], tokens]]).astype(np.int64)
            norm = labels.mark(encoded.codes, (right, relations), (found, named))
            differs |= bool((named != relations).any())
        if differs:
            margin = float(arcs[found[1:], tokens].sum() - right_score)
            step = self._update(encoded, weights, margin, norm, right, found)
            if labels is not None:
                labels.step(step, self.steps)
        return wrong

    def _update(
        self, encoded: Encoded, weights: Weights, margin: float, norm: float, right: Ints, found: Ints
    ) -> float:
        """Update all weights except relations, and return the step length.

        ``margin``: how much more the predicted tree's arcs score, loss included.  ``norm``: squared norm of the marked
        relation features.
        """
        n, tags, between = len(encoded), self.vocabulary.num_tags, self._between
        norm += self._arcs.mark(encoded.codes, right, found)
        between.begin(2 * n * n)
        between.count = mark_between(encoded.tags, tags, right, found, True, between.marks, between.count)
        between.count = mark_between(encoded.tags, tags, found, right, False, between.marks, between.count)
        norm += between.settle()
        share = self.settings.attenuation**2
        active = [kind for kind, name in enumerate(_KINDS) if name in self.settings.kinds]
        for kind in active:
            family = self._triples[kind]
            family.begin(6 * n * len(family.table.templates))
            scorer = weights.encoded_scorer(encoded)
            for heads, plus in ((right, True), (found, False)):
                triples = tree_triples(heads, kind)
                scores = scorer.grandparents(triples) if kind == GRANDPARENTS else scorer.siblings(triples)
                margin += float(scores.sum()) * (-1.0 if plus else 1.0)
                family.mark(encoded.codes, kind, triples, plus=plus)
            norm += share * family.average.settle()
        # An approximate decoder may return a tree that scores less than the gold tree: no update is needed then.
        step = min(self.settings.aggressiveness, max(margin, 0.0) / norm) if norm > 0.0 else 0.0
        self._arcs.step(step, self.steps)
        for kind in active:
            self._triples[kind].average.step(share * step, self.steps)
        between.step(step, self.steps)
        return step

    # --- saving and restoring ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = {**prefixed("between", self._between.state()), "steps": np.array(self.steps)}
        for name, family in zip(_KINDS, self._triples, strict=True):
            arrays[f"{name}.keys"], arrays[f"{name}.values"] = family.state()
        arrays |= prefixed("arcs", self._arcs.state())
        return arrays if self._labels is None else {**arrays, **prefixed("labels", self._labels.state())}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arcs.restore(part("arcs", arrays))
        if self._labels is not None:
            self._labels.restore(part("labels", arrays))
        for name, family in zip(_KINDS, self._triples, strict=True):
            family.restore(arrays[f"{name}.keys"], arrays[f"{name}.values"])
        self._between.restore(part("between", arrays))
        self.steps = float(arrays["steps"])

    def fingerprint(self) -> str:
        """Return a text that identifies sentences and settings, except the number of epochs, which may be increased."""
        settings = replace(self.settings, epochs=0)
        tokens = sum(len(encoded) for encoded in self.encoded)
        return json.dumps([_STATE, str(settings), len(self.encoded), tokens, self.vocabulary.sizes.tolist()])
