"""`Problem`, what a researcher subclasses."""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from colgen.bounds.bounding import Bounding
from colgen.bounds.column_generation import ColumnGeneration
from colgen.bounds.fixing import Reduction
from colgen.bounds.stabilization import Stabilization, Wentges
from colgen.core.budget import Budget
from colgen.core.duals import OwnDuals
from colgen.core.result import Result
from colgen.core.solution import Solution
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.master.linear import LinearMaster
from colgen.master.protocol import RestrictedMaster
from colgen.model.formulation import Formulation, FormulationCache, compile_model
from colgen.pricing.oracles import Pricing, PricingContext
from colgen.proof.certifier import Certifier
from colgen.tree.branching import BranchingRule
from colgen.tree.choice import Choice, MostFractional
from colgen.tree.enumeration import Enumeration
from colgen.tree.heuristics import Diving, Heuristic, RestrictedMIP

_SHAPES = FormulationCache()

_DIVING, _MANY_COLUMNS = 10.0, 500
"""Seconds of the default dive, and from how many columns on: fewer are soon combined by an integer program."""


class Problem(ABC):
    """A problem for column generation: a master stated in Pyomo, oracles, and whatever else it has.

    Subclasses write :meth:`master` and :meth:`pricing`; the other methods have defaults that add nothing.

    Attributes
    ----------
    objective_step
        Every answer's objective is a multiple of this (1 where the objective counts things): dual bounds are rounded to
        it.  None if nothing of the kind is known.
    """

    objective_step: float | None = None

    scale: float | None = None
    """What differences of objectives are relative to, a power of two (:func:`colgen.core.tolerances.power_of_two`);
    None: a linear master finds out by itself, and elsewhere they are relative to the objectives."""

    def master(self) -> pyo.ConcreteModel:
        """The master's rows as a Pyomo model, with artificial variables that can satisfy them; columns come later."""
        raise NotImplementedError(
            f"{type(self).__name__} must define master(), or formulation() or restricted_master()"
        )

    def shape(self) -> Hashable | None:
        """What the matrix of :meth:`master` depends on, if that is little; None: it is compiled for each problem.

        Masters of one class and shape are compiled once and given this problem's numbers by :meth:`data`.  A subclass
        that states another :meth:`master` says anew what its shape is: its parent's is not asked.
        """
        return None

    def data(self) -> Mapping[str, Mapping[str, ArrayLike]]:
        """The numbers of this problem in a master of its shape: arguments of :meth:`Formulation.with_data`."""
        return {}

    def formulation(self) -> Formulation:
        """The compiled master."""
        shape = self.shape() if _states_last(self, "shape", "master") else None
        if shape is None:
            return compile_model(self.master())
        return _SHAPES.get(shape, self.master).with_data(**self.data())

    def restricted_master(self) -> RestrictedMaster:
        """The restricted master problem; override for one that is not a linear program."""
        return LinearMaster(self.formulation())

    def warm_start(self, budget: Budget) -> WarmStart:
        """Guesses to start from: dual values, answers, columns, rows.

        The engine checks the answers and prices once at the dual values; where that proves the best answer, nothing
        else happens.  A method that can last looks at ``budget``, which leaves time for that round, and returns what it
        has.
        """
        return NOTHING

    def bounding(self) -> Bounding:
        """What bounds the nodes: column generation, unless overridden."""
        return ColumnGeneration()

    def pricing(self) -> Pricing | Sequence[Pricing]:
        """The pricing problem, or all of them."""
        return ()

    def separation(self) -> Sequence[Separation]:
        """Where violated rows come from."""
        return ()

    def stabilization(self) -> Stabilization:
        """Which duals to price at: Wentges smoothing, automatic, as soon as it may pay, unless overridden."""
        return Wentges(patient=True)

    def branching(self) -> Sequence[BranchingRule]:
        """Branching rules, asked in order until one applies."""
        return ()

    def choice(self) -> Choice:
        """How the tree chooses among the candidates of a branching rule: what the rule likes best, unless overridden.

        ``StrongBranching()`` pays where nodes are dear and trees large.
        """
        return MostFractional()

    def reductions(self) -> Sequence[Reduction]:
        """Reduced-cost fixing at the nodes."""
        return ()

    def sharpen(self, bound: float, duals: OwnDuals, context: PricingContext) -> float:
        """A node's dual bound, rounded to :attr:`objective_step` with no tolerance, for who can prove it exactly.

        The engine rounds a bound of 65.00001 to 65, for that is what floating point may have made of 65, and would have
        to branch.  Asked before it does: a problem whose dual values can be taken as whole numbers, and whose pricing
        problem adds those without an error, may say 66.

        Parameters
        ----------
        bound
            The node's, as floating point has it.
        duals
            Dual values at which it was proved.
        context
            The node's decisions, and the budget.

        Returns
        -------
        float
            ``bound`` where nothing better is proved; never more than ``bound`` rounded up (down, when maximising).
        """
        return bound

    def enumeration(self) -> Enumeration | None:
        """Column enumeration at the nodes."""
        return None

    def heuristics(self) -> Sequence[Heuristic]:
        """Primal heuristics, run in order: a dive where the restricted master is large, and its integer program."""
        return (Diving(1, seconds=_DIVING, least=_MANY_COLUMNS), RestrictedMIP())

    def certifier(self) -> Certifier:
        """What says in exact numbers why the engine is right, where a certificate is wanted.

        By default nothing does: the certificate then names the answer and the tree, and asks to be trusted.
        """
        return Certifier(self.restricted_master().sense, type(self).__name__)

    def answer(self, solution: Solution) -> Any:
        """A whole solution in the problem's own terms; by default ``[(structure, value), ...]``."""
        return [(column.structure, value) for column, value in solution.columns]

    def check(self, answer: Any) -> float | None:
        """The objective of an answer, recomputed from the instance alone.

        The engine holds every incumbent against it, wherever it comes from.  None, the default, says nothing: the rows
        and bounds of a linear master are then recomputed from the columns; where the master is no linear program,
        nothing can be called optimal.

        Parameters
        ----------
        answer
            What :meth:`answer` returns.

        Raises
        ------
        InfeasibleAnswerError
            If it is not an answer; the message says why.
        """
        return None

    def finished(self, result: Result) -> Result:
        """What a run of the problem returns: the result itself, unless overridden.

        Asked once, when all is done: the place to put an answer where the user looks for it, or to add a note.
        """
        return result


def _states_last(problem: Problem, name: str, other: str) -> bool:
    """Whether a method is stated by the class that states another one, or by a subclass of that."""
    own = vars(problem)
    if name in own or other in own:
        return name in own
    return _class_states_last(type(problem), name, other)


@lru_cache(maxsize=1000)
def _class_states_last(kind: type, name: str, other: str) -> bool:
    order = kind.__mro__
    where = {method: next(k for k, base in enumerate(order) if method in vars(base)) for method in (name, other)}
    return where[name] <= where[other]


def answer_to_check(problem: Problem, solution: Solution) -> Any:
    """An answer as the class that states ``check`` knows it: a subclass may show answers in another form."""
    if "check" in vars(problem) or _states_last(problem, "check", "answer"):
        return problem.answer(solution)
    order = type(problem).__mro__
    first = next(k for k, kind in enumerate(order) if "check" in vars(kind))
    stating = next(kind for kind in order[first:] if "answer" in vars(kind))
    return vars(stating)["answer"](problem, solution)
