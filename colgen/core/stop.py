"""Stop rules: callables that check an iteration and may return a reason to stop.

A rule takes an :class:`~colgen.core.result.Iteration` and a :class:`~colgen.core.sense.Sense` and returns a
:class:`~colgen.core.result.Termination` or None. The attribute ``seconds`` or ``bytes`` of a rule limits time or
memory: it enters the run's :class:`~colgen.core.budget.Budget`, which is also checked within long calls. The attributes
``nodes`` and ``depth`` limit the branch-and-bound tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from colgen.core.budget import resident_bytes
from colgen.core.numbers import integer, real
from colgen.core.result import Iteration, Termination
from colgen.core.sense import Sense
from colgen.core.text import Described
from colgen.core.tolerances import TOLERANCES, size

StopRule: TypeAlias = Callable[[Iteration, Sense], Termination | None]


@dataclass(frozen=True, repr=False)
class TimeLimit(Described):
    """Stop after this many seconds of wall time.

    Examples
    --------
    >>> solve(problem, stop=TimeLimit(60.0)).objective
    453.0
    """

    seconds: float

    def __post_init__(self) -> None:
        real(self.seconds, "TimeLimit.seconds", finite=False)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.TIME_LIMIT if iteration.seconds >= self.seconds else None


@dataclass(frozen=True, repr=False)
class GapLimit(Described):
    """Stop once the relative gap between incumbent and global bound is at most ``gap``.

    Examples
    --------
    >>> solve(problem, stop=GapLimit(0.01)).gap <= 0.01
    True
    """

    gap: float

    def __post_init__(self) -> None:
        real(self.gap, "GapLimit.gap", finite=False)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.GAP_LIMIT if iteration.gap(sense) <= self.gap else None


@dataclass(frozen=True, repr=False)
class IterationLimit(Described):
    """Stop after this many rounds.

    Examples
    --------
    >>> result = solve(problem, stop=IterationLimit(3))
    >>> len(result.iterations), result.dual_bound <= 453
    (3, True)
    """

    rounds: int

    def __post_init__(self) -> None:
        integer(self.rounds, "IterationLimit.rounds", low=1)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.ITERATION_LIMIT if iteration.number + 1 >= self.rounds else None


@dataclass(frozen=True, repr=False)
class NodeLimit(Described):
    """Stop once this many nodes of the branch-and-bound tree are processed.

    Examples
    --------
    >>> solve(problem, stop=NodeLimit(100)).objective
    453.0
    """

    nodes: int

    def __post_init__(self) -> None:
        integer(self.nodes, "NodeLimit.nodes", low=1)

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return None  # the tree counts its nodes


@dataclass(frozen=True, repr=False)
class DepthLimit(Described):
    """Branch on no node at this depth or below; the root has depth 0.

    Examples
    --------
    >>> solve(problem, stop=DepthLimit(5)).objective
    453.0
    """

    depth: int

    def __post_init__(self) -> None:
        integer(self.depth, "DepthLimit.depth")

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return None  # the tree measures its depth


class Stalled(Described):
    """Stop once neither the objective nor the bound of a node has changed in ``rounds`` rounds."""

    def __init__(self, rounds: int, tolerance: float = TOLERANCES.pruning) -> None:
        self.rounds = integer(rounds, "Stalled: rounds", low=1)
        self.tolerance = real(tolerance, "Stalled: tolerance")
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


@dataclass(frozen=True, repr=False)
class MemoryLimit(Described):
    """Stop once the process uses more than this many bytes.

    Examples
    --------
    >>> solve(problem, stop=[MemoryLimit(64e9), TimeLimit(600)]).objective
    453.0
    """

    bytes: float

    def __post_init__(self) -> None:
        real(self.bytes, "MemoryLimit.bytes")

    def __call__(self, iteration: Iteration, sense: Sense) -> Termination | None:
        return Termination.MEMORY_LIMIT if resident_bytes() > self.bytes else None


class AnyOf(Described):
    """Stop when the first of several rules returns a reason."""

    def __init__(self, *rules: StopRule) -> None:
        self.rules = rules
        self.seconds, self.bytes = self._least("seconds"), self._least("bytes")

    @property
    def nodes(self) -> int | None:
        """The smallest limit of nodes, or None."""
        least = self._least("nodes")
        return None if math.isinf(least) else int(least)

    @property
    def depth(self) -> int | None:
        """The smallest limit of the depth, or None."""
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
