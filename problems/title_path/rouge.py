"""ROUGE-L: how much of a title is found in another, in order.

Source: C.-Y. Lin, *ROUGE: a package for automatic evaluation of summaries*, Text Summarization Branches Out (2004).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple


class RougeL(NamedTuple):
    """Shares of the longest common subsequence: in the true title, in the proposed one, and their F measure."""

    recall: float
    precision: float
    f: float


def rouge_l(proposed: Sequence[Hashable], true: Sequence[Hashable], beta: float = 1.0) -> RougeL:
    """ROUGE-L of one title.

    Parameters
    ----------
    proposed, true
        Words.
    beta
        Weight of recall: F = (1 + β²) R P / (R + β² P); one weighs both alike.
    """
    common = longest_common_subsequence(proposed, true)
    if not common:
        return RougeL(0.0, 0.0, 0.0)
    recall, precision = common / len(true), common / len(proposed)
    return RougeL(recall, precision, (1.0 + beta**2) * recall * precision / (recall + beta**2 * precision))


def longest_common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Its length."""
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for k, y in enumerate(b, 1):
            diagonal, row[k] = row[k], diagonal + 1 if x == y else max(row[k], row[k - 1])
    return row[-1]
