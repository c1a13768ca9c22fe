"""The base class of certifiers, which state a problem and its proofs in exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from colgen.certificate.witness import WitnessPoint
from colgen.core.decision import Decision
from colgen.core.sense import Sense
from colgen.core.solution import Solution

Record = dict[str, Any]
"""Part of a line: integers, fractions as texts, lists, dictionaries."""


@dataclass(frozen=True)
class Split:
    """A proof that the children of a node cover it, with their states in the order of the record.

    ``order`` lists the places of these children in the order of the branching rule.
    """

    record: Any
    order: Sequence[int]
    states: Sequence[Any]


class Certifier:
    """States a problem and its proofs for a certificate. This base class states nothing, so the whole tree is trusted.

    Subclasses write the parts that the checker can check (:class:`colgen.certificate.theorems.KnapsackCertifier` for
    knapsacks). After the run they are called for the nodes of the tree, and pass the decisions down as a *state*. A
    part for which they return None is trusted.
    """

    checks_nodes = False
    """True if dual values prove nodes. Enumeration then closes no nodes, and only looks for solutions."""

    needs_duals = True
    """True if claims need dual values. If not, the root is claimed even without recorded ones."""

    states_formulation = True
    """True if certificates contain the formulation. If not, the checker makes it from the instance."""

    def __init__(self, sense: Sense, name: str) -> None:
        self.sense, self.name = sense, name

    def instance(self) -> Record:
        """Return the data with its ``kind``: the name of the template, if the checker reads its files."""
        return {"kind": "unknown", "name": self.name}

    def formulation(self) -> Record:
        """Return sense, step, rows and pricing problems as described on the page *Certificates*."""
        return {
            "sense": self.sense.name.lower(),
            "step": None,
            "rows": [],
            "pricing": [{"kind": "trusted", "name": self.name, "uses": [0, None]}],
        }

    def columns(self, solution: Solution) -> list[Any] | str:
        """Return the columns of a solution as pricing problem, number of uses and structure, or ``"trusted"``."""
        total = as_exact(Fraction(solution.objective))
        return [[0, 1, {"cost": total, "rows": []}]]

    def objective(self, solution: Solution) -> Fraction:
        """Return the exact objective of a solution."""
        return Fraction(solution.objective)

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterable[Record] | None:
        """Return the lines of a proof other than the tree of the run, or None.

        ``answer`` is the incumbent, and ``points`` are those of the root.
        """
        return None

    # --- nodes of the tree -------------------------------------------------------------------------------------------

    def start(self) -> Any:
        """Return the state of the root."""
        return None

    def claim(self, state: Any, point: WitnessPoint, goal: Fraction | None) -> Record | None:
        """Return a proof that the bound of a node is at least ``goal`` or that the node is infeasible, or None.

        Objectives are minimized. Without an incumbent ``goal`` is None.
        """
        return None

    def fix(self, state: Any, point: WitnessPoint, goal: Fraction | None) -> tuple[Record, Any] | None:
        """Return a proof that no solution better than ``goal`` uses some parts, and the state without them, or None."""
        return None

    def split(self, state: Any, children: Sequence[Sequence[Decision]]) -> Split | None:
        """Return a proof that children cover their node, or None."""
        return None


def as_exact(value: Fraction | int) -> int | str:
    """Return a number in the format of certificates."""
    value = Fraction(value)
    return int(value) if value.denominator == 1 else str(value)
