"""Dominance: a label is redundant if another at its vertex costs no more and permits all its continuations."""

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
"""Multiplier of the hash: bits of the golden ratio."""


@inner
def dominance_key(
    rule: Rule, label_words: Words, label_numbers: Floats, row: int, ahead: Words
) -> tuple[float, np.uint64]:
    """Return the key of :func:`find_candidate`: the first resource's value, and missing bits of the first word."""
    value = label_numbers[row, VALUES] if rule.compared else np.inf
    others = NOTHING if rule.same_set or not rule.words else ~(label_words[row, rule.memory] | ahead[0])
    return value, others


@inner
def slot_of(rule: Rule, words: Words, row: int, vertex: int) -> int:
    """Return the hash slot of labels of a vertex with the same memory."""
    mixed = np.uint64(vertex + 1) * _ODD
    for w in range(rule.memory, rule.memory + rule.words):
        mixed = (mixed ^ words[row, w]) * _ODD
        mixed ^= mixed >> _HALF
    return int(mixed & np.uint64(SLOTS - 1))


@inner
def find_candidate(
    memory: int, words: Words, numbers: Floats, first: int, end: int, cost: float, value: float, others: np.uint64
) -> int:
    """Return the first place in ``first:end`` that may dominate a label, else ``end``.

    Places are sorted by cost.  One resource and one word decide most pairs without a call.
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
def find_dominating(
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
    """Return the first place in ``first:end`` that dominates a label, else ``end``."""
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
        if rule.state_words and slack_left(rule, cuts, words, place, label_words, row, slack) < 0.0:
            continue
        return place
    return end


@inner
def slack_left(rule: Rule, cuts: Fields, words: Words, place: int, label_words: Words, row: int, slack: float) -> float:
    """Return the slack left if every cut with a larger state overflows once more; negative: not dominated."""
    for w in range(rule.state_words):
        more = words[place, rule.states + w] & ~label_words[row, rule.states + w]
        while more != 0:
            cut = cuts.cut_of_bit[64 * w + lowest(more)]
            slack -= cuts.cut_penalty[cut]
            if slack < 0.0:
                return slack
            more &= ~(((ONE << np.uint64(cuts.cut_divisor[cut] - 1)) - ONE) << np.uint64(cuts.cut_shift[cut]))
    return slack
