"""The branching decisions from the root of a tree to a node: its parent's, which all children share, and its own."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.core.decision import Decision


class DecisionPath:
    """A chain of decisions that a node shares with its ancestors, so that a deep node costs no more than a shallow one.

    Immutable.  Two paths of the same decisions are equal.
    """

    __slots__ = ("_above", "_own")

    def __init__(self, decisions: Sequence[Decision] = (), above: DecisionPath | None = None) -> None:
        self._own, self._above = tuple(decisions), above

    def below(self, decisions: Sequence[Decision]) -> DecisionPath:
        """The path that some more decisions lead to."""
        return DecisionPath(decisions, self) if decisions else self

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All of them, from the root on; put together anew each time."""
        parts: list[tuple[Decision, ...]] = []
        path: DecisionPath | None = self
        while path is not None:
            parts.append(path._own)
            path = path._above
        return tuple(decision for part in reversed(parts) for decision in part)

    @property
    def own(self) -> tuple[Decision, ...]:
        """Those that were added last."""
        return self._own

    @property
    def above(self) -> DecisionPath | None:
        """The path that they were added to; None if there is none."""
        return self._above

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DecisionPath) and self.decisions == other.decisions)

    def __hash__(self) -> int:
        return hash(self.decisions)

    def __repr__(self) -> str:
        return f"DecisionPath({self.decisions!r})"

    def __reduce__(self) -> tuple[type[DecisionPath], tuple[tuple[Decision, ...]]]:
        return DecisionPath, (self.decisions,)  # link by link it would be as deep as the tree


ROOT = DecisionPath()
"""Where nothing has been decided."""
