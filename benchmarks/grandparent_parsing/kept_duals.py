"""Benchmark of multipliers reused for the next sentence of the same length."""

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
    """Starts the ascent at the multipliers of another sentence, matched by the positions of arcs.

    ``other`` are multipliers of a sentence with as many tokens, or None.  ``multipliers`` are those at the end.
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
    """Return ratios of iterations: started at the last multipliers of the same length, over started at zero.

    The second ratio starts each sentence at its own final multipliers, which limits what any start can save.
    """
    last: dict[int, Multipliers] = {}
    taken, count = np.zeros(3), 0
    for sentence in sentences:
        alone = KeptDuals(weights.scorer(sentence))
        bound = solve(alone).dual_bound
        if alone.multipliers is None:  # no tree exists
            continue
        other = last.get(len(sentence))
        if other is not None:
            started = [KeptDuals(weights.scorer(sentence), guess) for guess in (other, alone.multipliers)]
            bounds = [solve(each).dual_bound for each in started]
            if not np.allclose(bounds, bound):
                raise AssertionError(
                    f"bounds with reused multipliers are {bounds}, without {bound}: expected equal bounds"
                )
            taken += [alone.iterations, *(each.iterations for each in started)]
            count += 1
        last[len(sentence)] = alone.multipliers
    if not count:
        return []
    kept, own = (float(some / taken[0]) for some in taken[1:])
    note = "iterations of the ascent, over those started at zero"
    return [
        Figure(
            f"kept_duals_{name}", kept, "ratio", count, f"started at the last multipliers of the same length: {note}"
        ),
        Figure(f"own_duals_{name}", own, "ratio", count, f"started at the sentence's own: {note}"),
    ]
