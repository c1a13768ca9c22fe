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
from colgen.core.lazy_imports import import_name
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
"""Seconds of the default dive, and least number of columns for it: with fewer, the integer program is fast."""


class Problem(ABC, Generic[Answer]):
    """A problem for column generation.

    Subclasses define :meth:`master` and :meth:`pricing`; the other methods have defaults. :meth:`separation` and
    :meth:`branching` complete the formulation. :meth:`warm_start` and :meth:`method` control how it is solved.
    :meth:`answer` and :meth:`check` convert and check solutions. :meth:`codec` is for files of columns, and
    :meth:`certifier` for certificates.
    The type of ``result.answer`` may be given: ``class Rolls(Problem[list[tuple[Pattern, int]]])``.

    Attributes
    ----------
    objective_step
        The objective of every answer is a multiple of this number, for example 1 if it counts things. Dual bounds are
        rounded to it. None if no such number is known.

    Examples
    --------
    >>> from colgen.testing import check_problem
    >>> check_problem(problem).findings
    ()
    """

    objective_step: float | None = None

    scale: float | None = None
    """Scale of differences of objectives, a power of two (:func:`colgen.solvers.scaling.power_of_two`). None: a linear
    master computes it; other masters use the objectives themselves."""

    identity: Any = None
    """Data that distinguishes this problem from others of its class: numbers, strings, arrays, tuples of these, or
    dataclasses. Checkpoints and pools store its digest; a checkpoint of another problem is refused. None: the attribute
    ``instance`` is used, or all attributes if there is none."""

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
        text: str = import_name("reporting.html", "problem_in_a_line")(self)
        return text

    def _repr_html_(self) -> str:
        page: str = import_name("reporting.html", "show_problem")(self)
        return page

    def master(self) -> pyo.ConcreteModel | Rows | RestrictedMaster:
        """Return the rows of the master, with artificial variables that can satisfy them; columns are generated.

        A subclass may change the result of ``super().master()``: a Pyomo model, or :class:`colgen.Rows`, which
        ``rows.pyomo()`` converts to a Pyomo model.

        Returns
        -------
        pyo.ConcreteModel, Rows or RestrictedMaster
            A Pyomo model; the same as arrays, which is faster; or a restricted master that is not a linear program.
        """
        raise NotImplementedError(f"{type(self).__name__} must define master()")

    def warm_start(self, budget: Budget) -> WarmStart:
        """Return guesses to start from: dual values, answers, columns, rows.

        The engine checks the answers and prices once at the dual values. If this proves an answer optimal, the run
        ends. A long computation should check ``budget``, which leaves time for that round, and return its best so far.
        """
        return NOTHING

    def pricing(self) -> Pricing | Sequence[Pricing]:
        """Return the oracle of the pricing problem, or a sequence of oracles."""
        return ()

    def separation(self) -> Sequence[Separation]:
        """Return the separation routines, which find violated rows."""
        return ()

    def branching(self) -> Sequence[BranchingRule]:
        """Return branching rules in order; the first that applies to a solution is used.

        The default branches on integer variables of the template, and on component bounds if all oracles price ``Box``
        terms (:class:`colgen.OnComponents`).
        """
        return (OnTemplateVariable(), OnCoefficients())

    def method(self) -> Method:
        """Return how the problem is solved; ``solve(method=...)`` replaces some of the fields.

        Fields that a subclass leaves None get the values below. A subclass changes its parent's fields by
        ``dataclasses.replace(super().method(), ...)``. If its rows differ from its parent's, fields that are valid only
        for the parent's rows (:data:`colgen.method.CLAIMS`) are None in ``super().method()``.

        The engine calls this method after it has made the restricted master.
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
        """Return the certifier, which proves the result in exact arithmetic for a certificate.

        With the default, the certificate contains the answer and the tree, and the checker trusts all of it.
        """
        return Certifier(restricted_master(self.master()).sense, type(self).__name__)

    def answer(self, solution: Solution) -> Answer:
        """Return an integer solution in terms of the problem; by default ``[(structure, value), ...]``."""
        pairs: Any = [(column.structure, _count_of(column, value)) for column, value in solution.columns]
        return cast(Answer, pairs)

    def check(self, answer: Answer) -> float | None:
        """Return the objective of an answer, computed from the instance alone.

        The engine compares it with the objective of every incumbent. The default, None, means no check. The engine then
        recomputes rows and bounds of a linear master from the columns; with any other master no answer is called
        optimal.

        Parameters
        ----------
        answer
            What :meth:`answer` returns.

        Raises
        ------
        InfeasibleAnswerError
            If the answer is infeasible; the message states why.
        """
        return None

    def codec(self) -> Codec | None:
        """Return the codec that writes columns to files and reads them, also for other instances.

        With the default, None, structures of columns must be plain data, and files of other instances are refused. A
        subclass that defines :meth:`pricing` must define its own codec; its parent's is not used.
        """
        return None

    def finish(self, result: Result[Answer]) -> Result[Answer]:
        """Return the result that ``solve`` returns; by default the argument.

        Called once, at the end of a run. A problem may store the answer elsewhere or add notes.
        """
        return result


def _count_of(column: Column, value: float) -> float:
    """Return the value of a column, as an ``int`` if it is integer: 49 rolls, not 49.0."""
    return round(value) if column.integer and not fractionality(value) else value


def method_of(problem: Problem, given: Method = Method(), claims: RowClaims | None = None) -> Method:
    """Return how a problem is solved: given fields first, then those of its own method, then the defaults.

    ``claims`` are those of a run whose master exists already. InputError is raised if ``method()`` does not return a
    :class:`Method`.
    """
    name = f"{type(problem).__name__}.method"
    if not callable(problem.method):
        raise InputError(f"{name}: expected the method that returns a Method, not {describe(problem.method)}")
    own = problem.method() if claims is None else claims.method()
    if not isinstance(own, Method):
        why = f": {FORGOTTEN} Expected" if own is None else ", expected"
        raise InputError(f"{name}() returned {describe(own)}{why} a Method, such as Method(heuristics=())")
    return given.fill_from(own, Problem.method(problem))


def name_of(problem: Problem) -> str:
    """Return the class of a problem and the name of its instance, if it has one."""
    name = getattr(getattr(problem, "instance", None), "name", None)
    return f"{type(problem).__name__} {name}" if isinstance(name, str) and name else type(problem).__name__


def codec_of(problem: Problem) -> Codec | None:
    """Return a problem's codec, or raise InputError if ``codec()`` returns another type.

    None if it has none, or if a subclass replaced the oracles that the codec is for.
    """
    codec = problem.codec()
    if codec is not None and not isinstance(codec, Codec):
        raise InputError(f"{type(problem).__name__}.codec() returned {describe(codec)}, expected a Codec or None")
    return codec if is_defined_with(problem, "codec", "pricing") else None


def digest_of_problem(problem: Problem) -> str:
    """Return a digest of a problem's identity; raise InputError if its attributes are not plain data."""
    kind, identity = type(problem), problem.identity
    if identity is not None:
        return digest_of([kind.__module__, kind.__qualname__, identity], f"{kind.__name__}.identity")
    try:
        return digest_of_object(problem)
    except InputError as error:
        raise InputError(f"{error}; set {kind.__name__}.identity to data that distinguishes its instances") from None
