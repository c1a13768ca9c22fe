"""What the parsers' benchmarks say of proofs."""

from __future__ import annotations

from colgen import Result


def proved_by_engine(result: Result) -> bool:
    """Whether a tree is proved by a bound that an oracle call in a round of the engine's has computed.

    A run that the engine calls optimal has held the tree's score against the problem's own check.
    """
    return result.is_optimal and any(record.pricing_seconds > 0.0 for record in result.iterations)
