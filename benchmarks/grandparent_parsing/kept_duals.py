"""Benchmark of multipliers that are kept from one sentence to the next of the same length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen import solve
from colgen.cli.template import Figure
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing.automata import AutomataParsing, Multipliers
from colgen.problems.grandparent_parsing.instance import Floats, Ints, Mask, PartScores


class KeptDuals(AutomataParsing):
    """The ascent begins at the multipliers of another sentence, arc by arc of the same positions.

    Parameters
    ----------
    other
        Those multipliers, of as many tokens; None: there are none.

    Attributes
    ----------
    multipliers
        Where the ascent has ended.
    """

    def __init__(
        self, scores: PartScores, other: Multipliers | None = None, *, single_root: bool | None = None
    ) -> None:
        super().__init__(scores, single_root=single_root)
        self._other = other
        self.multipliers: Multipliers | None = None

    def run_ascent(
        self, arcs: Floats, duals: Multipliers, known: Mask, lower: float, best: Ints | None, iterations: int
    ) -> tuple[Ints | None, float]:
        if self._other is not None and self.multipliers is None:
            known = self._other.candidates
            np.copyto(duals.leaving, self._other.leaving, where=known)
            np.copyto(duals.entering, self._other.entering, where=known)
        self.multipliers = duals
        return super().run_ascent(arcs, duals, known, lower, best, iterations)


def compare_kept_duals(name: str, sentences: Sequence[Sentence], weights: Weights) -> list[Figure]:
    """Iterations of the ascent where multipliers are kept from sentence to sentence of a length, over those without.

    And where each sentence begins at its own, which is the most that any guess could save.
    """
    last: dict[int, Multipliers] = {}
    taken, count = np.zeros(3), 0
    for sentence in sentences:
        alone = KeptDuals(weights.scorer(sentence))
        bound = solve(alone).dual_bound
        if alone.multipliers is None:  # there is no tree
            continue
        other = last.get(len(sentence))
        if other is not None:
            begun = [KeptDuals(weights.scorer(sentence), guess) for guess in (other, alone.multipliers)]
            bounds = [solve(each).dual_bound for each in begun]
            if not np.allclose(bounds, bound):
                raise AssertionError(f"{bounds} with multipliers that were kept, {bound} without")
            taken += [alone.iterations, *(each.iterations for each in begun)]
            count += 1
        last[len(sentence)] = alone.multipliers
    if not count:
        return []
    kept, own = (float(some / taken[0]) for some in taken[1:])
    said = "iterations of the ascent, over those from nothing"
    return [
        Figure(f"kept_duals_{name}", kept, "ratio", count, f"at the last multipliers of a length: {said}"),
        Figure(f"own_duals_{name}", own, "ratio", count, f"at a sentence's own: {said}"),
    ]
