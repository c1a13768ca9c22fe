"""What is measured of one sentence that was solved in several ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.grandparent_parsing.baseline import Relaxed
from colgen.problems.grandparent_parsing.parses import Parse


@dataclass(frozen=True)
class Priced:
    """One sentence's relaxation by column generation.

    Attributes
    ----------
    seconds
        Of the processor.
    scored, added
        Grandparent parts.
    stages
        Seconds of the clock by stage, as :class:`~colgen.Result` has them.
    """

    objective: float
    seconds: float
    scored: int
    added: int
    whole: bool
    heads: Heads
    rounds: int
    stages: Mapping[str, float]


@dataclass(frozen=True)
class Compared:
    """One sentence, solved by brute force with each outer bound, in both ways by columns, and by the exact parser.

    Attributes
    ----------
    complete
        By outer bound, cuts separated; ``"flow"``: all rows, and a flow in place of cuts; ``"published"``: that, with
        any number of tokens under the root.
    ours, published
        Price and cut, as it is here and as it was published.
    """

    sentence: Sentence
    complete: Mapping[str, Relaxed]
    ours: Priced
    published: Priced
    exact: Parse
    exact_seconds: float

    @property
    def speedup(self) -> float:
        """Of price and cut against brute force."""
        return self.complete["all"].seconds / self.ours.seconds
