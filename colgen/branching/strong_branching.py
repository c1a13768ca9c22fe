"""Strong branching in phases: try children before choosing, the more carefully the fewer are left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, Candidate, candidates_of
from colgen.branching.selection import Choice, Chosen, by_merit, merit
from colgen.branching.trials import Tried, Trying
from colgen.core.decision import Decision
from colgen.core.numbers import whole
from colgen.core.solution import Solution

_Entry: TypeAlias = tuple[Candidate, Sequence[Tried]]
"""A candidate, and what is known of its children."""


class StrongBranching(Choice):
    """Strong branching in three phases, with reliability.

    The candidates that the rule likes best, and those of the best pseudo-costs, are tried by their linear programs
    alone; the better ones of these by a few rounds of pricing; the best of those exactly.  Candidates of which enough
    is known are judged by their pseudo-costs.  What a tried child has proved is kept: its bound, that it is infeasible,
    its columns and its basis; a candidate with a child that is done with is taken at once.

    Parameters
    ----------
    linear
        So many candidates are tried by linear programs.
    priced
        So many of them are priced.
    exact
        So many of those are solved to the end; 0: none.
    rounds
        So many rounds of pricing each.
    lookahead
        No more are tried once so many in a row have been no better than the best.
    reliability
        A candidate whose directions have all been learnt of so often is not tried.
    familiarity
        Nor are linear programs solved of one whose directions have been tried so often by linear programs: it is
        expected to gain there what it did, a unit.

    References
    ----------
    T. Achterberg, T. Koch, A. Martin, *Branching rules revisited*, Operations Research Letters 33 (2005), for
    reliability; D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, *Improved branch-cut-and-price for capacitated vehicle
    routing*, Mathematical Programming Computation 9 (2017), section 6, for the phases.
    """

    def __init__(
        self,
        *,
        linear: int = 10,
        priced: int = 3,
        exact: int = 1,
        rounds: int = 1,
        lookahead: int = 6,
        reliability: int = 4,
        familiarity: int = 2,
    ) -> None:
        self.linear = whole(linear, "linear", low=1)
        self.priced = whole(priced, "priced")
        self.exact = whole(exact, "exact")
        self.rounds = whole(rounds, "rounds", low=1)
        self.lookahead = whole(lookahead, "lookahead", low=1)
        self.reliability = whole(reliability, "reliability", low=1)
        self.familiarity = whole(familiarity, "familiarity", low=1)

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trying: Trying) -> Chosen | None:
        found = candidates_of(rule, solution)
        if len(found) < 2:
            return Chosen(found[0]) if found else None
        listed = self._listed(found, costs, trying)
        reliable = costs.counts(listed) >= self.reliability
        known = costs.linear.counts(listed) >= self.familiarity
        gains, told = costs.gains(listed), costs.linear.gains(listed)
        most, since, seen = -1.0, 0, 0
        for k, candidate in enumerate(listed):
            if since >= self.lookahead or trying.is_over:
                break
            if not reliable[k] and known[k]:
                gains[k] = told[k]
            elif not reliable[k]:
                gains[k] = np.array(_gains_of([trying.linear(child) for child in candidate.children]))
                for (direction, distance), gain in zip(candidate.moves, gains[k], strict=False):
                    costs.linear.learn(candidate.quantity, direction, distance, float(gain))
            here = merit(gains[k], trying)
            most, since, seen = max(most, here), 0 if here > most else since + 1, k + 1
        order = by_merit(listed[:seen] or listed, gains[:seen] or gains, trying)
        entries: list[_Entry] = [(listed[k], ()) for k in order]
        if reliable[order[0]]:
            return Chosen(listed[order[0]])
        if self.priced > 1:
            entries = self._judged(entries[: self.priced], lambda child: trying.priced(child, self.rounds), trying)
        if self.exact and not _decides(entries[0]):
            entries = self._judged(entries[: self.exact], trying.exact, trying)
            for candidate, tried in entries:
                learn(costs, candidate, tried)
        return Chosen(*entries[0])

    def _listed(self, found: Sequence[Candidate], costs: PseudoCosts, trying: Trying) -> list[Candidate]:
        """Those that are looked at: half by pseudo-costs as far as there are any, the others as the rule likes them."""
        count = self.linear
        known = costs.counts(found) > 0
        ranked = by_merit(found, costs.gains(found), trying)
        chosen = dict.fromkeys([k for k in ranked if known[k]][: count // 2])
        for k in range(len(found)):
            if len(chosen) >= count:
                break
            chosen[k] = None
        return [found[k] for k in chosen]

    def _judged(
        self, entries: Sequence[_Entry], solve: Callable[[Sequence[Decision]], Tried], trying: Trying
    ) -> list[_Entry]:
        """Candidates whose children have been tried, the best first; one with a child that is done with at once."""
        judged: list[_Entry] = []
        for candidate, _ in entries:
            if trying.is_over:
                break
            judged.append((candidate, [solve(child) for child in candidate.children]))
            if _decides(judged[-1]):
                return [judged[-1], *judged[:-1]]
        judged.sort(key=lambda entry: -merit(_gains_of(entry[1]), trying))
        return judged or list(entries)


def _decides(entry: _Entry) -> bool:
    """Whether a child of a candidate is done with, so that the node has one child less."""
    return any(child.done for child in entry[1])


def learn(costs: PseudoCosts, candidate: Candidate, tried: Sequence[Tried]) -> None:
    """Let pseudo-costs learn from children that were solved to the end."""
    for (direction, distance), child in zip(candidate.moves, tried, strict=False):
        if child.exact:
            costs.learn(candidate.quantity, direction, distance, child.gain)


def _gains_of(tried: Sequence[Tried]) -> list[float]:
    return [child.gain for child in tried]
