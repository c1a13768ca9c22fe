"""Dependency trees: potentials reduce scores to a sum over arcs, whose best tree bounds all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import add, sub
from typing import Any

from colgen.certificate.checker_pricing import NO, CheckerState, Place, Scored, WrongError, fields, integer, table

Weights = list[list[Any]]
"""Weights by head and modifier. 0 is the root, and ``NO`` means that there is no arc."""


class TreePricing(Scored):
    """Trees over words 1, ..., n with the root 0, projective or not, optionally with a single modifier of the root.

    A column is the head of each word. It scores its arcs, the chains of two of them (``grandparents``, by grandparent,
    parent and child) and the ``factors``: sets of arcs that all belong to it.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        super().__init__(data, ("single_root", "projective", "arcs", "grandparents", "factors"))
        self.single, self.projective = data["single_root"], data["projective"]
        self.size = n = len(data["arcs"])
        self.arcs: Weights = table(data["arcs"], n, n)
        for k, row in enumerate(self.arcs):
            row[0] = row[k] = NO
        self.chains = [table(each, n, n) for each in data["grandparents"] or ()]
        self.factors = [
            ([(integer(h), integer(m)) for h, m in arcs], integer(score)) for arcs, score in data["factors"]
        ]
        if type(self.single) is not bool or type(self.projective) is not bool or len(self.chains) not in (0, n):
            raise WrongError("expected scores of arcs and of chains, and the kind of trees")
        words = range(1, n)
        if any(not arcs or len(set(arcs)) < len(arcs) for arcs, _ in self.factors):
            raise WrongError("expected factors of different arcs")
        if any(m not in words or (h and h not in words) or h == m for arcs, _ in self.factors for h, m in arcs):
            raise WrongError("expected factors over arcs from the root or a word to another word")

    def column(self, heads: Any) -> tuple[Fraction, dict[int, int]]:
        head = [0, *(integer(h) for h in heads)]
        if len(head) != self.size or not all(0 <= h < self.size for h in head):
            raise WrongError("expected a head for each word")
        for word in range(1, self.size):
            at = word
            for _ in head:
                at = head[at]
            if at:
                raise WrongError(f"word {word} is not connected to the root")
        spans = [sorted((h, m)) for m, h in enumerate(head) if m]
        if self.projective and any(a < c < b < d for a, b in spans for c, d in spans):
            raise WrongError("arcs cross each other")
        if self.single and head[1:].count(0) != 1:
            raise WrongError("expected one word under the root")
        total = sum(self.arcs[head[m]][m] for m in range(1, self.size))
        if self.chains:
            total += sum(self.chains[head[p]][p][c] for c, p in enumerate(head) if p)
        if total == NO:
            raise WrongError("an arc or a chain is forbidden")
        total += sum(score for arcs, score in self.factors if all(head[m] == h for h, m in arcs))
        return Fraction(total, self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return the least reduced cost. Without costs it is 1 if there are no columns."""
        open_ = [[NO if (h, m) in state.closed else x for m, x in enumerate(row)] for h, row in enumerate(self.arcs)]
        if unit == 0:
            if self.projective:
                if state.given is not None:
                    raise WrongError("the existence of a projective tree needs no potentials")
                return Fraction(self.best_projective(open_) == NO)
            # All trees score 0, so a negative bound proves infeasibility.
            fields(state.given, ("words", "sets", "root"))
            nothing = [[x if x == NO else 0 for x in row] for row in open_]
            return Fraction(self._bound_by_sets(nothing, state.given) < 0)
        own = ("chains",) * bool(self.chains) + ("factors",)
        fields(state.given, own if self.projective else (*own, "words", "sets", "root"), ("chains",))
        constant = self._tilt(open_, state.given)
        best = self.best_projective(open_) if self.projective else self._bound_by_sets(open_, state.given)
        if best == NO:
            raise WrongError("there is no tree")
        return self.reduced(constant + best, unit)

    def _tilt(self, weights: Weights, given: Any) -> int:
        """Add the scores of chains and factors to arcs so that no tree scores less; return the constant.

        A chain g, p, c exists at most if the arc (g, p) does, and each arc (p, c) below a word has one. A product of
        arcs is at most the sum of shares that add up to its score, one per arc. A product with a negative score is at
        most a part of it times the number of its arcs in the tree beyond all but one.
        """
        size, constant, there = self.size, 0, [[x != NO for x in row] for row in weights]
        if self.chains:
            pi = table(given["chains"], size, size)
            if any(NO in row for row in pi):
                raise WrongError("expected a potential for each arc")
            # The payment of a chain to the arc below it; infinite if that arc does not exist.
            paid = [
                [x if open_ else -NO for x, open_ in zip(*each, strict=True)] for each in zip(pi, there, strict=True)
            ]
            for g, chains in enumerate(self.chains):
                for p in range(1, size):
                    if there[g][p]:
                        earned = sum(gain for gain in map(sub, chains[p], paid[p]) if gain > 0)
                        earned -= max(chains[p][g] - paid[p][g], 0)  # a word is not its own grandparent
                        weights[g][p] += earned + (pi[g][p] if g else 0)
        if len(given["factors"]) != len(self.factors):
            raise WrongError("expected shares of each factor")
        for (arcs, score), shares in zip(self.factors, given["factors"], strict=True):
            if score >= 0:
                if len(shares) != len(arcs) or min(map(integer, shares)) < 0 or sum(shares) < score:
                    raise WrongError("expected nonnegative shares that add up to the score of a factor")
                each = shares
            else:
                if len(shares) != 1 or not score <= integer(shares[0]) <= 0:
                    raise WrongError("expected a part of the score of a factor")
                each = shares * len(arcs)
            if all(there[h][m] for h, m in arcs):  # otherwise no tree has all of them
                constant -= shares[0] * (len(arcs) - 1) if score < 0 else 0
                for (h, m), share in zip(arcs, each, strict=True):
                    weights[h][m] += share
        return constant

    def _bound_by_sets(self, weights: Weights, given: Any) -> int:
        """Return an upper bound on the scores of trees: words, and sets that a tree enters, pay for all arcs into them.

        Source: J. Edmonds, *Optimum branchings* (1967); D. R. Fulkerson, *Packing rooted directed cuts* (1974).
        """
        words = [0, *map(integer, given["words"])]
        sets = [(set(map(integer, members)), integer(y)) for members, y in given["sets"]]
        root = integer(given["root"])
        if len(words) != self.size or any(y > 0 or not s <= set(range(1, self.size)) for s, y in sets):
            raise WrongError("expected potentials of words, and nonpositive potentials of sets of words")
        if root and not self.single:
            raise WrongError("the root may have more than one modifier")
        for m in range(1, self.size):
            around = [(s, y) for s, y in sets if m in s]
            for h in range(self.size):
                paid = words[m] + sum(y for s, y in around if h not in s) + (0 if h else root)
                if weights[h][m] > paid:
                    raise WrongError(f"the arc from {h} to {m} scores more than its potentials")
        if any(not s for s, _ in sets):
            raise WrongError("expected sets that are not empty")
        return sum(words) + sum(y for _, y in sets) + root

    def best_projective(self, weights: Weights) -> Any:
        """Return the score of the best projective tree (Eisner, 1996), or ``NO``."""
        size = self.size
        # Complete spans by left and right end, with the head at either end; and spans of an arc.
        right = [[NO] * size for _ in range(size)]
        left, left_at, arc_right, arc_left = ([[NO] * size for _ in range(size)] for _ in range(4))
        for i in range(size):
            right[i][i] = left[i][i] = left_at[i][i] = 0
        right_at = [row.copy() for row in right]
        for width in range(1, size):
            for i in range(size - width):
                j = i + width
                both = max(map(add, right[i][i:j], left_at[j][i + 1 : j + 1]))
                arc_right[i][j], arc_left[j][i] = both + weights[i][j], both + weights[j][i]
                right[i][j] = right_at[j][i] = max(map(add, arc_right[i][i + 1 : j + 1], right_at[j][i + 1 : j + 1]))
                left[i][j] = left_at[j][i] = max(map(add, left[i][i:j], arc_left[j][i:j]))
        if not self.single:
            return right[0][size - 1]
        return max(weights[0][m] + left[1][m] + right[m][size - 1] for m in range(1, size))
