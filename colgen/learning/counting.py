"""Best labels of a chain under constraints on numbers of labels, by an automaton with one counter per constraint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.learning.constraints import PlacedConstraint
from colgen.learning.oracles import Chains
from colgen.solvers.chains.automaton import accepted_labelling

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_MOST_STATES = 32
"""Largest product of the counters' numbers of states; with more, pricing takes less time."""


class Automaton(NamedTuple):
    """Symbols of labels, moves between states, and accepted states, see :mod:`colgen.solvers.chains.automaton`."""

    symbols: Ints
    moves: Ints
    accepted: NDArray[np.bool_]


def counted_labels(
    oracle: Any, scores: Sequence[Floats], links: Sequence[PlacedConstraint]
) -> tuple[Ints, Ints] | None:
    """Return places of the best labelling of a chain that satisfies constraints on its labels.

    None for other oracles and constraints, if counters need too many states, and if there is no such labelling.
    """
    if type(oracle) is not Chains:
        return None
    automaton = counters(links, scores[0].shape)
    if automaton is None:
        return None
    theta, transitions = scores
    labels, value = accepted_labelling(theta, transitions, *automaton)
    return None if value == -np.inf else Chains.structure(labels, theta.shape[1], transitions.ndim == 3)


def counters(links: Sequence[PlacedConstraint], shape: tuple[int, ...]) -> Automaton | None:
    """Return the automaton of constraints with one term each, over labels; None if it has too many states.

    A counter stops at the lower side, if there is no upper one, and forbids labels that exceed the upper side.
    """
    symbols, moves, accepted = np.zeros(shape, np.int64), np.zeros((1, 1), np.int64), np.ones(1, np.bool_)
    for link in links:
        ((_, array, places, own),) = link.terms
        sign, unit = (math.copysign(1.0, own[0]), float(np.abs(own).min())) if len(own) else (1.0, 0.0)
        if array != 0 or not unit > 0.0:
            return None
        amounts = own / (sign * unit)
        if (amounts < 0.0).any() or (amounts != np.rint(amounts)).any():
            return None
        sides = (link.lower, link.upper) if sign > 0.0 else (-link.upper, -link.lower)
        low, high = max((sides[0] - link.slack) / unit, 0.0), (sides[1] + link.slack) / unit
        last = low if high == math.inf else high
        if not last < _MOST_STATES or high < 0.0:
            return None
        first, last = math.ceil(low), math.ceil(low) if high == math.inf else math.floor(high)
        values, kind = np.unique(np.minimum(amounts, last + 1.0).astype(np.int64), return_inverse=True)
        after = np.arange(last + 1) + np.concatenate([[0], values])[:, np.newaxis]
        after = np.minimum(after, last) if high == math.inf else np.where(after > last, -1, after)
        states, before = len(accepted), len(moves)
        if states * (last + 1) > _MOST_STATES:
            return None
        symbols.ravel()[places] += (kind.ravel() + 1) * before
        both = after[:, np.newaxis, :, np.newaxis], moves[np.newaxis, :, np.newaxis, :]
        moves = np.where((both[0] < 0) | (both[1] < 0), -1, both[0] * states + both[1])
        moves = moves.reshape(len(after) * before, (last + 1) * states)
        accepted = ((np.arange(last + 1) >= first)[:, np.newaxis] & accepted).ravel()
    return Automaton(symbols, moves, accepted)
