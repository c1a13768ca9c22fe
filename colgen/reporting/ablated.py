"""One line of an ablation: a method on an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from colgen.core.result import Termination
from colgen.reporting.compared import Compared


@dataclass(frozen=True)
class Ablated(Compared):
    """What one method took on one instance; ``name`` is the method's.

    Attributes
    ----------
    generated
        Columns that were generated.
    misprices
        How often the oracles were asked in vain, beside the rounds.
    ended
        Why the run stopped.
    own_rows
        Whether the method leaves the problem the rows that it has, cuts among them: if it does not, its relaxation may
        be another one.
    """

    generated: int = 0
    misprices: int = 0
    ended: Termination | None = None
    own_rows: bool = True

    @property
    def is_proved(self) -> bool:
        """Whether the run ended with a proof: of an optimum, the relaxation's too, or that there is none."""
        return self.ended is not None and self.ended.is_proof

    @property
    def is_interrupted(self) -> bool:
        """Whether a signal has ended the run."""
        return self.ended is not None and self.ended.is_interrupt

    def to_dict(self) -> dict[str, Any]:
        """A line of the frame, plain data."""
        return {
            "instance": self.instance,
            "method": self.name,
            "objective": self.objective,
            "dual_bound": self.dual_bound,
            "rounds": self.rounds,
            "misprices": self.misprices,
            "columns": self.generated,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "proof": self.proof,
        }
