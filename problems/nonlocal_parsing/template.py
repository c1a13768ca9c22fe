"""Parsing with non-local factors on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

from colgen import InputError, Problem, Sense, Solution
from colgen.bounds.run import Run
from colgen.tree.search import Relaxation
from problems.dependency.sentence import Heads
from problems.nonlocal_parsing.bound import METHODS, Effort, Method, Pool, TreeRelaxation
from problems.nonlocal_parsing.checking import checked, checked_list
from problems.nonlocal_parsing.instance import Instance


class NonlocalParsing(Problem):
    """The best tree by branch and bound, each node bounded by dynamic programs.

    The answer is the head of each word; with ``k`` > 1 a list of such trees, best first (all of them where there are
    fewer than k), and the result's objective and bound speak of the last.

    Parameters
    ----------
    k
        How many trees are wanted.
    method, most_calls, patience, warm
        See :class:`~problems.nonlocal_parsing.bound.TreeRelaxation`; ``method="subgradient"`` with ``warm=True`` is the
        source's.
    lower_bounds
        How often the lower bound π is improved in turn before the root is bounded; the source does so at the start.

    Attributes
    ----------
    effort
        Calls of the dynamic program by the last run.
    """

    sense = Sense.MAXIMIZE

    def __init__(
        self,
        instance: Instance,
        *,
        k: int = 1,
        method: Method = "fixing",
        most_calls: int = 200,
        patience: int = 10,
        warm: bool = True,
        lower_bounds: int = 0,
    ) -> None:
        if k < 1:
            raise InputError(f"k: expected one tree or more, not {k}")
        if method not in METHODS:
            raise InputError(f"method: expected one of {', '.join(METHODS)}, not {method!r}")
        if patience < 1 or most_calls < 1:
            raise InputError(f"expected patience and most_calls of one or more, not {patience} and {most_calls}")
        self.instance, self.k = instance, k
        self.method, self.most_calls, self.patience, self.warm = method, most_calls, patience, warm
        self.lower_bounds = lower_bounds
        self.objective_step = instance.step
        self.effort, self._pool = Effort(), Pool(k)

    def relaxation(self, run: Run) -> Relaxation:
        relaxation = TreeRelaxation(
            self.instance,
            run,
            k=self.k,
            method=self.method,
            most_calls=self.most_calls,
            patience=self.patience,
            warm=self.warm,
            lower_bounds=self.lower_bounds,
        )
        self.effort, self._pool = relaxation.effort, relaxation.pool
        return relaxation

    def answer(self, solution: Solution) -> Heads | list[Heads]:
        trees: tuple[Heads, ...] = solution.columns[0][0].structure
        # A better tree above the k-th moves no objective: the pool knows of it, the incumbent does not.
        return trees[0] if self.k == 1 else list(self._pool.trees)

    def check(self, answer: Heads | list[Heads]) -> float:
        if self.k == 1:
            return checked(self.instance, answer)  # type: ignore[arg-type]
        return checked_list(self.instance, answer, self.k)  # type: ignore[arg-type]
