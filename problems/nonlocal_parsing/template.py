"""Parsing with non-local factors on the engine; copy or subclass it for similar problems."""

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
from colgen.problems.nonlocal_parsing.bound import METHODS, AscentMethod, OnLargestGap, ShareAscent, TreeBounding
from colgen.problems.nonlocal_parsing.checking import check_answer, check_list
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.losses import NormalizedScores
from colgen.problems.nonlocal_parsing.pool import BestTreePool, Effort
from colgen.problems.nonlocal_parsing.pricing import BestTrees
from colgen.solvers.trees.eisner_items import FIRST


class NonlocalParsing(Problem):
    """Find the best tree, or the k best, by branch and bound with bounds from dynamic programs.

    The answer is a tuple with the head of each word. With ``k`` > 1, it is a list of trees, best first (all trees if
    there are fewer than k). The objective and the bound of the result then refer to the last tree.

    Parameters
    ----------
    k
        Number of trees to find.
    method, most_calls, patience, warm
        See :mod:`colgen.problems.nonlocal_parsing.bound`; ``method="subgradient"`` with ``warm=True`` is the method of
        Qian and Liu (2013).
    lower_bounds
        Number of improvements of the lower bound π before the root is bounded, as in Qian and Liu (2013).
    narrow
        The same sentence with fewer candidate heads. It is solved first. The first dynamic program at the root then
        drops all arcs whose max-marginals do not beat its best trees.

    Attributes
    ----------
    effort
        Calls of the dynamic program in the last run.
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
            raise InputError(f"patience and most_calls must be at least 1, not {patience} and {most_calls}")
        self.instance, self.k = instance, k
        self.ascent_method, self.most_calls, self.patience, self.warm = method, most_calls, patience, warm
        self.lower_bounds, self.narrow = lower_bounds, narrow
        self.objective_step = instance.step
        self.effort, self._pool = Effort(), BestTreePool(k)
        self._oracle = self._make_oracle()
        self._ascent: ShareAscent | None = None

    @property
    def scale(self) -> float | None:  # type: ignore[override]
        """The scale of the scores; None before the first run."""
        return None if self._ascent is None else self._ascent.near.unit

    def master(self) -> RestrictedMaster:
        return LagrangianMaster(Sense.MAXIMIZE)

    def pricing(self) -> Pricing:
        return self._oracle

    def method(self) -> Method:
        return Method(bounding=TreeBounding(lambda: self.ascent(Budget()), self.warm))

    def branching(self) -> Sequence[BranchingRule]:
        return (OnLargestGap(self._oracle),)

    def warm_start(self, budget: Budget) -> WarmStart:
        self.effort, self._pool, self._ascent = Effort(), BestTreePool(self.k), None
        self._oracle = self._make_oracle()
        ascent = self.ascent(budget)
        for tree in self._narrow_trees(budget):
            ascent.add_tree(np.array([-1, *tree]))
        duals = ascent.root()
        ascent.add_any_trees()
        return WarmStart(duals, (self._pool.solution(self.instance),) if self._pool.is_full else ())

    def _narrow_trees(self, budget: Budget) -> Sequence[Heads]:
        """Return the best trees that an ascent finds in the instance ``narrow``, which has fewer candidate heads."""
        if self.narrow is None:
            return ()
        first = NonlocalParsing(self.narrow, k=self.k)
        first.warm_start(budget)
        self.effort.calls += first.effort.calls
        return list(first._pool.trees)

    def _make_oracle(self) -> BestTrees:
        return BestTrees(self._pool, self.effort, self._near)

    def _near(self) -> NormalizedScores:
        return self.ascent(Budget()).near

    def ascent(self, budget: Budget) -> ShareAscent:
        """Return the search for shares and trees, created at the first call."""
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
        if self.k > 1 or instance.parts.order != FIRST:  # not supported by the checker
            return super().certifier()

        def scores() -> TreeScores:
            arcs = np.where(instance.usable, instance.parts.arcs, -np.inf)
            return TreeScores(arcs, None, list(instance.nonlocal_factors), instance.single_root, instance.projective)

        return TreeCertifier(instance.name, scores, lambda solution: solution.columns[0][0].structure[0])

    def answer(self, solution: Solution) -> Heads | list[Heads]:
        trees: tuple[Heads, ...] = solution.columns[0][0].structure
        # A better tree among the first k - 1 does not change the objective, so only the pool has it.
        return trees[0] if self.k == 1 else list(self._pool.trees)

    def check(self, answer: Heads | list[Heads]) -> float:
        if self.k == 1:
            return check_answer(self.instance, answer)  # type: ignore[arg-type]
        return check_list(self.instance, answer, self.k, self.scale or 0.0)  # type: ignore[arg-type]
