"""`Certifier`: how a problem says in exact numbers what it is, and why what the engine says of a node is true."""

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
"""Part of a line: whole numbers, fractions as texts, lists, dictionaries."""


@dataclass(frozen=True)
class Split:
    """Why the children of a node cover it: the record, and the states of the children in the record's order.

    ``order``: the places of these children among those of the branching rule.
    """

    record: Any
    order: Sequence[int]
    states: Sequence[Any]


class Certifier:
    """What a certificate says of a problem.  This one states nothing: a whole tree is trusted, and counted so.

    Subclasses say what the checker can check (:class:`colgen.certificate.theorems.KnapsackCertifier` where pricing
    problems are knapsacks), node by node: they are led through the tree once more after the run, and carry along as a
    *state* what has been decided.  What they return None for is trusted.

    Parameters
    ----------
    sense, name
        Of the problem.
    """

    checks_nodes = False
    """Whether nodes are proved by dual values: enumeration then closes none of them, and looks for answers."""

    needs_duals = True
    """Whether claims speak of dual values; else the root is claimed where the run has seen none."""

    states_formulation = True
    """Whether certificates hold the formulation; else the checker makes it of the instance, and nobody writes it."""

    def __init__(self, sense: Sense, name: str) -> None:
        self.sense, self.name = sense, name

    def instance(self) -> Record:
        """The data, with its ``kind``: the template's name, if the checker knows files of it."""
        return {"kind": "unknown", "name": self.name}

    def formulation(self) -> Record:
        """Sense, step, rows and pricing problems, as the page *Certificates* describes them."""
        return {
            "sense": self.sense.name.lower(),
            "step": None,
            "rows": [],
            "pricing": [{"kind": "trusted", "name": self.name, "uses": [0, None]}],
        }

    def columns(self, solution: Solution) -> list[Any] | str:
        """An answer's columns: pricing problem, how often it is used, and what it is; or that it is ``"trusted"``."""
        total = as_exact(Fraction(solution.objective))
        return [[0, 1, {"cost": total, "rows": []}]]

    def objective(self, solution: Solution) -> Fraction:
        """Of an answer, exactly."""
        return Fraction(solution.objective)

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterable[Record] | None:
        """Lines of a proof of its own, where the run's tree is not what can be checked; None: there is none.

        ``answer`` is the best one, ``points`` are the root's.
        """
        return None

    # --- led through the tree ----------------------------------------------------------------------------------------

    def start(self) -> Any:
        """The state of the root."""
        return None

    def claim(self, state: Any, point: WitnessPoint, goal: Fraction | None) -> Record | None:
        """A bound of a node that reaches the objective ``goal``, or shows that it holds no answer; None if none does.

        As if minimising.  ``goal`` is None where no answer is known.
        """
        return None

    def fix(self, state: Any, point: WitnessPoint, goal: Fraction | None) -> tuple[Record, Any] | None:
        """What no answer better than ``goal`` uses, and the state without it."""
        return None

    def split(self, state: Any, children: Sequence[Sequence[Decision]]) -> Split | None:
        """Why children cover their node."""
        return None


def as_exact(value: Fraction | int) -> int | str:
    """A number as certificates have it."""
    value = Fraction(value)
    return int(value) if value.denominator == 1 else str(value)
