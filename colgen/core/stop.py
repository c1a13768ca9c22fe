"""Stop rules: callables that look at an iteration and may name a reason to stop.

A rule is anything that takes an :class:`~colgen.core.result.Iteration` and a :class:`~colgen.core.sense.Sense` and
returns a :class:`~colgen.core.result.Termination` or None.  A rule that also has ``seconds`` limits the clock, one that
has ``bytes`` the memory: they become the run's :class:`~colgen.core.budget.Budget`, which holds inside a long call as
well.  A rule with ``nodes`` or ``depth`` limits the branch-and-bound tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from colgen.core.budget import resident_bytes
from colgen.core.numbers import real, whole
from colgen.core.result import Iteration, Termination
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES, size

StopRule: TypeAlias = Callable[[Iteration, Sense], Termination | None]


@dataclass(frozen=True)
class TimeLimit:
    """Stop after this many seconds of wall time."""

    seconds: float

    def __post_init__(self) -> None:
        real(self.seconds, "a time limit in seconds", finite=False)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.TIME_LIMIT if iteration.seconds >= self.seconds else None


@dataclass(frozen=True)
class GapLimit:
    """Stop once the relative gap between incumbent and global bound is at most ``gap``."""

    gap: float

    def __post_init__(self) -> None:
        real(self.gap, "a limit of the gap", finite=False)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.GAP_LIMIT if iteration.gap(sense) <= self.gap else None


@dataclass(frozen=True)
class IterationLimit:
    """Stop after this many rounds."""

    rounds: int

    def __post_init__(self) -> None:
        whole(self.rounds, "a limit of rounds", low=1)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.ITERATION_LIMIT if iteration.number + 1 >= self.rounds else None


@dataclass(frozen=True)
class NodeLimit:
    """Stop once this many nodes of the branch-and-bound tree are done."""

    nodes: int

    def __post_init__(self) -> None:
        whole(self.nodes, "a limit of nodes", low=1)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return None  # the tree counts its nodes


@dataclass(frozen=True)
class DepthLimit:
    """Branch on no node at this depth or below; the root has depth 0."""

    depth: int

    def __post_init__(self) -> None:
        whole(self.depth, "a limit of the depth")

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return None  # the tree measures its depth


class Stalled:
    """Stop once neither objective nor bound of a node has moved for ``rounds`` rounds."""

    def __init__(self, rounds: int, tolerance: float = TOLERANCES.pruning) -> None:
        self.rounds = whole(rounds, "stalled for so many rounds", low=1)
        self.tolerance = real(tolerance, "a tolerance of what has stalled")
        self._last: Iteration | None = None
        self._since = 0

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        last = self._last
        if last is not None and last.number < iteration.number and last.node == iteration.node:
            moved = self._moved(last.objective, iteration.objective) or self._moved(
                last.dual_bound, iteration.dual_bound
            )
            if not moved and last.phase == iteration.phase:
                self._since += 1
                return Termination.STALLED if self._since >= self.rounds else None
        self._last = iteration
        self._since = 0
        return None

    def _moved(self, before: float, now: float) -> bool:
        return before != now and not abs(now - before) <= self.tolerance * size(0.0, before, now)


@dataclass(frozen=True)
class MemoryLimit:
    """Stop once the process holds more than this many bytes."""

    bytes: float

    def __post_init__(self) -> None:
        real(self.bytes, "a limit of the memory in bytes")

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.MEMORY_LIMIT if resident_bytes() > self.bytes else None


class AnyOf:
    """Stop when the first of several rules returns a reason."""

    def __init__(self, *rules: StopRule) -> None:
        self.rules = rules
        self.seconds, self.bytes = self._least("seconds"), self._least("bytes")

    @property
    def nodes(self) -> int | None:
        """The least limit of nodes; None without one."""
        least = self._least("nodes")
        return None if math.isinf(least) else int(least)

    @property
    def depth(self) -> int | None:
        """The least limit of the depth; None without one."""
        least = self._least("depth")
        return None if math.isinf(least) else int(least)

    def _least(self, name: str) -> float:
        limits = [getattr(rule, name, None) for rule in self.rules]
        return min((float(limit) for limit in limits if limit is not None), default=math.inf)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        for rule in self.rules:
            reason = rule(iteration, sense)
            if reason:
                return reason
        return None
