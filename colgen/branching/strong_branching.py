"""Strong branching: children are tried before the choice, in phases of rising cost and fewer candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, Candidate, candidates_of
from colgen.branching.selection import Choice, Chosen, merit, rank_by_merit
from colgen.branching.trials import Trial, Trials
from colgen.core.decision import Decision
from colgen.core.numbers import integer
from colgen.core.solution import Solution

_Entry: TypeAlias = tuple[Candidate, Sequence[Trial]]
"""A candidate, and the trials of its children."""


class StrongBranching(Choice):
    """Strong branching in three phases, with reliability.

    The candidates preferred by the rule, and those with the best pseudo-costs, are tried by linear programs over the
    known columns. The better ones are tried by a few rounds of pricing, and the best of these are solved exactly.
    Candidates that are known well enough are judged by their pseudo-costs. The results of trials are kept: bounds,
    infeasibility, columns and bases. A candidate with a child that needs no search is chosen at once.

    Parameters
    ----------
    linear
        Number of candidates tried by linear programs.
    priced
        Number of those that are priced.
    exact
        Number of those that are solved exactly; may be 0.
    rounds
        Rounds of pricing for each.
    lookahead
        Trials end after this many candidates in a row that are no better than the best.
    reliability
        A candidate is not tried if each of its directions has this many pseudo-costs.
    familiarity
        Its linear program is not solved if each of its directions has this many gains of linear programs; their
        average per unit is used.

    References
    ----------
    T. Achterberg, T. Koch, A. Martin, *Branching rules revisited*, Operations Research Letters 33 (2005), for
    reliability; D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, *Improved branch-cut-and-price for capacitated vehicle
    routing*, Mathematical Programming Computation 9 (2017), section 6, for the phases.

    Examples
    --------
    >>> solve(problem, method=Method(choice=StrongBranching())).objective
    453.0
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
        self.linear = integer(linear, "linear", low=1)
        self.priced = integer(priced, "priced")
        self.exact = integer(exact, "exact")
        self.rounds = integer(rounds, "rounds", low=1)
        self.lookahead = integer(lookahead, "lookahead", low=1)
        self.reliability = integer(reliability, "reliability", low=1)
        self.familiarity = integer(familiarity, "familiarity", low=1)

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trials: Trials) -> Chosen | None:
        found = candidates_of(rule, solution)
        if len(found) < 2:
            return Chosen(found[0]) if found else None
        selected = self._select(found, costs, trials)
        reliable = costs.counts(selected) >= self.reliability
        is_familiar = costs.linear.counts(selected) >= self.familiarity
        gains, linear_gains = costs.gains(selected), costs.linear.gains(selected)
        best, since, seen = -1.0, 0, 0
        for k, candidate in enumerate(selected):
            if since >= self.lookahead or trials.is_over:
                break
            if not reliable[k] and is_familiar[k]:
                gains[k] = linear_gains[k]
            elif not reliable[k]:
                gains[k] = np.array(_gains_of([trials.linear(child) for child in candidate.children]))
                for (direction, distance), gain in zip(candidate.moves, gains[k], strict=False):
                    costs.linear.learn(candidate.quantity, direction, distance, float(gain))
            here = merit(gains[k], trials)
            best, since, seen = max(best, here), 0 if here > best else since + 1, k + 1
        order = rank_by_merit(selected[:seen] or selected, gains[:seen] or gains, trials)
        entries: list[_Entry] = [(selected[k], ()) for k in order]
        if reliable[order[0]]:
            return Chosen(selected[order[0]])
        if self.priced > 1:
            entries = self._try(entries[: self.priced], lambda child: trials.price(child, self.rounds), trials)
        if self.exact and not _decides(entries[0]):
            entries = self._try(entries[: self.exact], trials.price, trials)
            for candidate, tried in entries:
                learn(costs, candidate, tried)
        return Chosen(*entries[0])

    def _select(self, found: Sequence[Candidate], costs: PseudoCosts, trials: Trials) -> list[Candidate]:
        """Return the candidates to try: up to half by pseudo-costs, the others in the order of the rule."""
        count = self.linear
        is_familiar = costs.counts(found) > 0
        ranked = rank_by_merit(found, costs.gains(found), trials)
        chosen = dict.fromkeys([k for k in ranked if is_familiar[k]][: count // 2])
        for k in range(len(found)):
            if len(chosen) >= count:
                break
            chosen[k] = None
        return [found[k] for k in chosen]

    def _try(
        self, entries: Sequence[_Entry], solve: Callable[[Sequence[Decision]], Trial], trials: Trials
    ) -> list[_Entry]:
        """Try candidates and return the best first. Stop at one with a child that needs no search."""
        results: list[_Entry] = []
        for candidate, _ in entries:
            if trials.is_over:
                break
            results.append((candidate, [solve(child) for child in candidate.children]))
            if _decides(results[-1]):
                return [results[-1], *results[:-1]]
        results.sort(key=lambda entry: -merit(_gains_of(entry[1]), trials))
        return results or list(entries)


def _decides(entry: _Entry) -> bool:
    """Return whether some child of a candidate needs no search."""
    return any(child.done for child in entry[1])


def learn(costs: PseudoCosts, candidate: Candidate, tried: Sequence[Trial]) -> None:
    """Update pseudo-costs from children whose relaxations were solved."""
    for (direction, distance), child in zip(candidate.moves, tried, strict=False):
        if child.exact:
            costs.learn(candidate.quantity, direction, distance, child.gain)


def _gains_of(tried: Sequence[Trial]) -> list[float]:
    return [child.gain for child in tried]
