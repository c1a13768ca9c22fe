"""`Problem`, the class that users subclass."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, cast

from colgen.bounding.column_generation import ColumnGeneration
from colgen.branching.component_bounds import OnCoefficients
from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.branching.selection import MostFractional
from colgen.certificate.certifier import Certifier
from colgen.claims import RowClaims, for_rows_of, is_defined_with
from colgen.core.budget import Budget
from colgen.core.columns import Codec, Column
from colgen.core.errors import InputError
from colgen.core.lazy_imports import behind
from colgen.core.renamed import METHODS, missing
from colgen.core.result import Result
from colgen.core.serialization import digest_of, digest_of_object
from colgen.core.solution import Solution
from colgen.core.text import FORGOTTEN, describe
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.core.type_variables import Answer
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.heuristics import Diving, Exchanging, RestrictedMIP
from colgen.master.protocol import RestrictedMaster
from colgen.master.statement import restricted_master
from colgen.method import Method
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing
from colgen.stabilization import Wentges

if TYPE_CHECKING:
    import pyomo.environ as pyo

_DIVING, _MANY_COLUMNS = 10.0, 500
"""Seconds of the default dive, and from how many columns on: fewer are soon combined by an integer program."""


class Problem(ABC, Generic[Answer]):
    """A problem for column generation.

    Subclasses define :meth:`master` and :meth:`pricing`; the other methods have defaults.  :meth:`separation` and
    :meth:`branching` complete what is solved, :meth:`warm_start` and :meth:`method` state how, :meth:`answer` and
    :meth:`check` are about solutions, :meth:`codec` is for files and :meth:`certifier` for certificates.  The type of
    ``result.answer`` may be given: ``class Rolls(Problem[list[tuple[Pattern, int]]])``.

    Attributes
    ----------
    objective_step
        The objective of every answer is a multiple of this, 1 where the objective counts things.  Dual bounds are
        rounded to it.  None if no such number is known.
    """

    objective_step: float | None = None

    scale: float | None = None
    """What differences of objectives are relative to, a power of two (:func:`colgen.solvers.scaling.power_of_two`);
    None: a linear master finds out by itself, and elsewhere they are relative to the objectives."""

    identity: Any = None
    """What distinguishes this problem from others of its class: data, such as numbers, strings, arrays, tuples of these
    and dataclasses.  A checkpoint or pool holds its digest, and a checkpoint of another problem is refused.  None: the
    attribute ``instance`` distinguishes it, or where there is none all attributes do."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if inspect.isfunction(vars(cls).get("method")):
            setattr(cls, "method", for_rows_of(cls, cls.method))  # noqa: B010  mypy refuses the assignment

    if not TYPE_CHECKING:  # a type checker reports attributes that are not there

        def __getattr__(self, name: str) -> Any:
            if name in METHODS["Problem"]:
                raise missing("Problem", self, name)
            return object.__getattribute__(self, name)  # raises

    def __repr__(self) -> str:
        told: str = behind("reporting.html", "problem_in_a_line")(self)
        return told

    def _repr_html_(self) -> str:
        shown: str = behind("reporting.html", "show_problem")(self)
        return shown

    def master(self) -> pyo.ConcreteModel | Rows | RestrictedMaster:
        """Return the rows of the master, with artificial variables that can satisfy them; columns are generated.

        A subclass changes what ``super().master()`` returns: a Pyomo model, or :class:`colgen.Rows`, of which
        ``rows.pyomo()`` makes a Pyomo model.

        Returns
        -------
        pyo.ConcreteModel, Rows or RestrictedMaster
            A Pyomo model; the same as arrays, which is faster; or a restricted master that is no linear program.
        """
        raise NotImplementedError(f"{type(self).__name__} must define master()")

    def warm_start(self, budget: Budget) -> WarmStart:
        """Return guesses to start from: dual values, answers, columns, rows.

        The engine checks the answers and prices once at the dual values.  If that proves the best answer, the run ends.
        A method that may take long looks at ``budget``, which leaves time for that round, and returns what it has.
        """
        return NOTHING

    def pricing(self) -> Pricing | Sequence[Pricing]:
        """Return the oracle of the pricing problem, or the oracles of several."""
        return ()

    def separation(self) -> Sequence[Separation]:
        """Return the separations, which find violated rows."""
        return ()

    def branching(self) -> Sequence[BranchingRule]:
        """Return branching rules in order: the first that applies to a solution is used.

        By default integer variables of the template are branched on, and component bounds where all oracles price
        ``Box`` terms (:class:`colgen.OnComponents`).
        """
        return (OnTemplateVariable(), OnCoefficients())

    def method(self) -> Method:
        """Return how the problem is solved; ``solve(method=...)`` replaces some of the fields.

        Fields that a subclass leaves None have the values below.  A subclass changes fields of its parent's method by
        ``dataclasses.replace(super().method(), ...)``.  If it has other rows than its parent, fields whose results hold
        for the parent's rows alone (:data:`colgen.method.CLAIMS`) are None in ``super().method()``.

        The engine calls this method once the restricted master is made.
        """
        return Method(
            stabilization=Wentges(patient=True, real_costs=True),
            bounding=ColumnGeneration(),
            heuristics=(
                Exchanging(seconds=_DIVING),
                Diving(1, seconds=_DIVING, least=_MANY_COLUMNS),
                RestrictedMIP(3.0),
            ),
            choice=MostFractional(),
            reductions=(),
            enumeration=(),
            pricing_share=1.0,
            tolerance=TOLERANCES.reduced_cost,
        )

    def certifier(self) -> Certifier:
        """Return the certifier, which states in exact numbers why the result is right, for a certificate.

        The default states nothing: its certificate holds the answer and the tree, and everything in it is trusted.
        """
        return Certifier(restricted_master(self.master()).sense, type(self).__name__)

    def answer(self, solution: Solution) -> Answer:
        """Return a whole solution in terms of the problem; by default ``[(structure, value), ...]``."""
        found: Any = [(column.structure, _counted(column, value)) for column, value in solution.columns]
        return cast(Answer, found)

    def check(self, answer: Answer) -> float | None:
        """Return the objective of an answer, computed from the instance alone.

        The engine compares it with the objective of every incumbent.  None, the default, is no check: the rows and
        bounds of a linear master are then recomputed from the columns, and if the master is no linear program, no
        answer is called optimal.

        Parameters
        ----------
        answer
            What :meth:`answer` returns.

        Raises
        ------
        InfeasibleAnswerError
            If it is no answer; the message states why.
        """
        return None

    def codec(self) -> Codec | None:
        """Return how columns are written to files and read from those of other instances.

        By default None: structures of columns must be plain data, and files of other instances are refused.  A subclass
        that defines :meth:`pricing` defines its own codec too: its parent's is not used.
        """
        return None

    def finish(self, result: Result[Answer]) -> Result[Answer]:
        """Return what ``solve`` returns; by default the result itself.

        It is called once, at the end of a run.  A problem may store the answer elsewhere as well, or add notes.
        """
        return result


def _counted(column: Column, value: float) -> float:
    """How often a column is used: 49 rolls, not 49.0."""
    return round(value) if column.integer and not fractionality(value) else value


def method_of(problem: Problem, given: Method = Method(), claims: RowClaims | None = None) -> Method:
    """Return how a problem is solved: the fields that are given, then those of the problem's own method, then defaults.

    ``claims``: those of a run, which has a master already.

    Raises
    ------
    InputError
        If the problem's ``method()`` returns no :class:`Method`.
    """
    name = f"{type(problem).__name__}.method"
    if not callable(problem.method):
        raise InputError(f"{name}: expected the method that returns a Method, not {describe(problem.method)}")
    own = problem.method() if claims is None else claims.method()
    if not isinstance(own, Method):
        why = f": {FORGOTTEN} Expected" if own is None else ", expected"
        raise InputError(f"{name}() returned {describe(own)}{why} a Method, such as Method(heuristics=())")
    return given.fill_from(own, Problem.method(problem))


def codec_of(problem: Problem) -> Codec | None:
    """Return a problem's codec; None if it has none, or if a subclass has replaced the oracles that it belongs to.

    Raises
    ------
    InputError
        If ``codec()`` returns something else.
    """
    codec = problem.codec()
    if codec is not None and not isinstance(codec, Codec):
        raise InputError(f"{type(problem).__name__}.codec() returned {describe(codec)}, expected a Codec or None")
    return codec if is_defined_with(problem, "codec", "pricing") else None


def digest_of_problem(problem: Problem) -> str:
    """Return a text that distinguishes a problem from others.

    Raises
    ------
    InputError
        If its identity, its attribute ``instance`` or its attributes are no data.
    """
    kind, identity = type(problem), problem.identity
    if identity is not None:
        return digest_of([kind.__module__, kind.__qualname__, identity], f"{kind.__name__}.identity")
    try:
        return digest_of_object(problem)
    except InputError as error:
        raise InputError(f"{error}; set {kind.__name__}.identity to data that distinguishes its instances") from None
