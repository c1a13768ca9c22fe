"""Which labels need not be kept: one at the same vertex costs no more, and allows whatever they allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colgen.solvers.kernels import inner
from colgen.solvers.paths.labelling.bits import NOTHING, ONE, address, lowest
from colgen.solvers.paths.labelling.layout import COST, SLOTS, VALUES, Floats, Rows, Rule, Words
from colgen.solvers.paths.labelling.rank_one import Fields

Dominates = Callable[[Any, Any], bool]

_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
"""What words are mixed by: the golden ratio's bits."""


@inner
def sought(rule: Rule, label_words: Words, label_numbers: Floats, row: int, ahead: Words) -> tuple[float, np.uint64]:
    """What :func:`candidate` asks for: a value of the first resource, and bits of the first word that are not there."""
    value = label_numbers[row, VALUES] if rule.compared else np.inf
    others = NOTHING if rule.same_set or not rule.words else ~(label_words[row, rule.memory] | ahead[0])
    return value, others


@inner
def slot_of(rule: Rule, words: Words, row: int, vertex: int) -> int:
    """Where labels of a vertex are that remember the same."""
    mixed = np.uint64(vertex + 1) * _ODD
    for w in range(rule.memory, rule.memory + rule.words):
        mixed = (mixed ^ words[row, w]) * _ODD
        mixed ^= mixed >> _HALF
    return int(mixed & np.uint64(SLOTS - 1))


@inner
def candidate(
    memory: int, words: Words, numbers: Floats, first: int, end: int, cost: float, value: float, others: np.uint64
) -> int:
    """The first place among ``first:end``, by increasing cost, that may dominate a label; else ``end``.

    One resource and one word, all there is in the usual case, sort out most pairs: the call for the others costs more
    than these comparisons.
    """
    found = end
    for place in range(first, end):
        if numbers[place, COST] > cost:
            break
        if numbers[place, VALUES] <= value and words[place, memory] & others == 0:
            found = place
            break
    return found


@inner
def dominated(
    rule: Rule,
    cuts: Fields,
    dominates: Dominates,
    settled: Rows,
    first: int,
    end: int,
    waiting: Rows,
    row: int,
    ahead: Words,
) -> int:
    """The place of a label among ``first:end``, which are by increasing cost, that dominates a label; else ``end``."""
    words, numbers = settled
    label_words, label_numbers = waiting
    cost, memory = label_numbers[row, COST], rule.memory
    for place in range(first, end):
        slack = cost - numbers[place, COST]
        if slack < 0.0:
            return end
        fits = True
        for q in range(VALUES, VALUES + rule.compared):
            if numbers[place, q] > label_numbers[row, q]:
                fits = False
                break
        if not fits:
            continue
        for w in range(rule.words):
            mine, other = words[place, memory + w], label_words[row, memory + w]
            if (mine != other) if rule.same_set else (mine & ~(other | ahead[w]) != 0):
                fits = False
                break
        if not fits:
            continue
        if rule.custom and not dominates(
            address(numbers, place, rule.custom), address(label_numbers, row, rule.custom)
        ):
            continue
        if rule.state_words and _charged(rule, cuts, words, place, label_words, row, slack) < 0.0:
            continue
        return place
    return end


@inner
def _charged(rule: Rule, cuts: Fields, words: Words, place: int, label_words: Words, row: int, slack: float) -> float:
    """What is left of a slack if every cut whose state is further on overflows once more; negative: nothing."""
    for w in range(rule.state_words):
        more = words[place, rule.states + w] & ~label_words[row, rule.states + w]
        while more != 0:
            cut = cuts.cut_of_bit[64 * w + lowest(more)]
            slack -= cuts.cut_penalty[cut]
            if slack < 0.0:
                return slack
            more &= ~(((ONE << np.uint64(cuts.cut_divisor[cut] - 1)) - ONE) << np.uint64(cuts.cut_shift[cut]))
    return slack
