"""Parsing with non-local factors on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen import BranchingRule, InputError, Method, Pricing, Problem, Sense, Solution
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.warm_start import WarmStart
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.master.protocol import RestrictedMaster
from colgen.problems.dependency.exact import TreeScores
from colgen.problems.dependency.pool import check_k
from colgen.problems.dependency.proof import TreeCertifier
from colgen.problems.dependency.sentence import Heads
from colgen.problems.nonlocal_parsing.bound import METHODS, AscentMethod, OnBlame, ShareAscent, TreeBounding
from colgen.problems.nonlocal_parsing.checking import checked, checked_list
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.losses import NearOne
from colgen.problems.nonlocal_parsing.pool import BestTreePool, Effort
from colgen.problems.nonlocal_parsing.pricing import BestTrees
from colgen.solvers.trees.eisner_items import FIRST


class NonlocalParsing(Problem):
    """The best tree by branch and bound, each node bounded by dynamic programs.

    The answer is the head of each word; with ``k`` > 1 a list of such trees, best first (all of them where there are
    fewer than k), and the result's objective and bound speak of the last.

    Parameters
    ----------
    k
        How many trees are wanted.
    method, most_calls, patience, warm
        See :mod:`colgen.problems.nonlocal_parsing.bound`; ``method="subgradient"`` with ``warm=True`` is the
        source's.
    lower_bounds
        How often the lower bound π is improved in turn before the root is bounded; the source does so at the start.
    narrow
        The same sentence with fewer candidate heads.  Its best trees are a guess: at the root all arcs whose
        max-marginals do not beat them are gone with the first dynamic program.

    Attributes
    ----------
    effort
        Calls of the dynamic program by the last run.
    """

    def __init__(
        self,
        instance: NonlocalInstance,
        *,
        k: int = 1,
        method: AscentMethod = "fixing",
        most_calls: int = 200,
        patience: int = 10,
        warm: bool = True,
        lower_bounds: int = 0,
        narrow: NonlocalInstance | None = None,
    ) -> None:
        k = check_k(k, instance.usable)
        if method not in METHODS:
            raise InputError(f"method: expected one of {', '.join(METHODS)}, not {method!r}")
        if patience < 1 or most_calls < 1:
            raise InputError(f"expected patience and most_calls of one or more, not {patience} and {most_calls}")
        self.instance, self.k = instance, k
        self.ascent_method, self.most_calls, self.patience, self.warm = method, most_calls, patience, warm
        self.lower_bounds, self.narrow = lower_bounds, narrow
        self.objective_step = instance.step
        self.effort, self._pool = Effort(), BestTreePool(k)
        self._oracle = self._new_oracle()
        self._ascent: ShareAscent | None = None

    @property
    def scale(self) -> float | None:  # type: ignore[override]
        """The size of the scores, once it is known."""
        return None if self._ascent is None else self._ascent.near.unit

    def master(self) -> RestrictedMaster:
        return LagrangianMaster(Sense.MAXIMIZE)

    def pricing(self) -> Pricing:
        return self._oracle

    def method(self) -> Method:
        return Method(bounding=TreeBounding(lambda: self.ascent(Budget()), self.warm))

    def branching(self) -> Sequence[BranchingRule]:
        return (OnBlame(self._oracle),)

    def warm_start(self, budget: Budget) -> WarmStart:
        self.effort, self._pool, self._ascent = Effort(), BestTreePool(self.k), None
        self._oracle = self._new_oracle()
        ascent = self.ascent(budget)
        for tree in self._guessed(budget):
            ascent.keep(np.array([-1, *tree]))
        duals = ascent.root()
        ascent.settle_for_any()
        return WarmStart(duals, (self._pool.solution(self.instance),) if self._pool.is_full else ())

    def _guessed(self, budget: Budget) -> Sequence[Heads]:
        """The best trees of fewer candidate heads, as far as an ascent finds them."""
        if self.narrow is None:
            return ()
        first = NonlocalParsing(self.narrow, k=self.k)
        first.warm_start(budget)
        self.effort.calls += first.effort.calls
        return list(first._pool.trees)

    def _new_oracle(self) -> BestTrees:
        return BestTrees(self._pool, self.effort, self._near)

    def _near(self) -> NearOne:
        return self.ascent(Budget()).near

    def ascent(self, budget: Budget) -> ShareAscent:
        """What looks for shares and trees, made when it is first asked for."""
        if self._ascent is None:
            self._ascent = ShareAscent(
                self.instance,
                self._pool,
                self.effort,
                method=self.ascent_method,
                most_calls=self.most_calls,
                patience=self.patience,
                lower_bounds=self.lower_bounds,
                budget=budget,
            )
        return self._ascent

    def certifier(self) -> Certifier:
        instance = self.instance
        if self.k > 1 or instance.parts.order != FIRST:  # not what the checker knows
            return super().certifier()

        def scores() -> TreeScores:
            arcs = np.where(instance.usable, instance.parts.arcs, -np.inf)
            return TreeScores(arcs, None, list(instance.nonlocal_factors), instance.single_root, instance.projective)

        return TreeCertifier(instance.name, scores, lambda solution: solution.columns[0][0].structure[0])

    def answer(self, solution: Solution) -> Heads | list[Heads]:
        trees: tuple[Heads, ...] = solution.columns[0][0].structure
        # A better tree above the k-th moves no objective: the pool knows of it, the incumbent does not.
        return trees[0] if self.k == 1 else list(self._pool.trees)

    def check(self, answer: Heads | list[Heads]) -> float:
        if self.k == 1:
            return checked(self.instance, answer)  # type: ignore[arg-type]
        return checked_list(self.instance, answer, self.k, self.scale or 0.0)  # type: ignore[arg-type]
