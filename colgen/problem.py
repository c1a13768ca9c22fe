"""`Problem`, the class that users subclass."""

from __future__ import annotations

import functools
import inspect
from abc import ABC
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np
from numpy.typing import ArrayLike

from colgen.bounding.column_generation import ColumnGeneration
from colgen.branching.component_bounds import OnCoefficients
from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.branching.selection import MostFractional
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec, Column
from colgen.core.errors import ColgenError, FormulationError, InputError
from colgen.core.lazy_imports import behind
from colgen.core.numbers import returned
from colgen.core.renamed import METHODS, missing
from colgen.core.result import Result
from colgen.core.serialization import digest_of, digest_of_object
from colgen.core.solution import Solution
from colgen.core.text import FORGOTTEN, describe
from colgen.core.tolerances import TOLERANCES, fractionality, size
from colgen.core.type_variables import Answer
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.heuristics import Diving, Exchanging, RestrictedMIP
from colgen.master.linear_master import LinearMaster
from colgen.master.protocol import RestrictedMaster
from colgen.method import CLAIMS, Method
from colgen.model.formulation import Formulation, FormulationCache, compile_master
from colgen.pricing.oracles import Pricing
from colgen.stabilization import Wentges

if TYPE_CHECKING:
    import pyomo.environ as pyo

_SHAPES = FormulationCache()

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
            setattr(cls, "method", _for_the_rows_of(cls, cls.method))  # noqa: B010  mypy refuses the assignment

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

    def master(self) -> pyo.ConcreteModel:
        """The master's rows as a Pyomo model, with artificial variables that can satisfy them; columns come later."""
        raise NotImplementedError(
            f"{type(self).__name__} must define master(), or formulation() or restricted_master()"
        )

    def shape(self) -> Hashable | None:
        """What the matrix of :meth:`master` depends on, if that is little; None: it is compiled for each problem.

        Masters of one class and shape are compiled once and given this problem's numbers by :meth:`shape_data`.  A
        subclass that states another :meth:`master` says anew what its shape is: its parent's is not asked.
        """
        return None

    def shape_data(self) -> Mapping[str, Mapping[str, ArrayLike]]:
        """The numbers of this problem in a master of its shape: arguments of :meth:`Formulation.with_data`."""
        return {}

    def formulation(self) -> Formulation:
        """The compiled master."""
        shape = self.shape() if _states_last(self, "shape", "master") else None
        if shape is None:
            return compile_master(self.master())
        kind = type(self)
        if callable(getattr(kind, "data", None)) and kind.shape_data is Problem.shape_data:
            raise FormulationError(f"{kind.__name__}.data() is shape_data() now: `data` is the user's own attribute")
        return _SHAPES.get(shape, self.master).with_data(**self.shape_data())

    def restricted_master(self) -> RestrictedMaster:
        """The restricted master problem; override for one that is not a linear program."""
        return LinearMaster(rows_of(self))

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
        return Certifier(self.restricted_master().sense, type(self).__name__)

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


def knows_rows(problem: Problem) -> bool:
    """Whether the problem's check can speak of separated rows: a subclass that adds some may inherit a check."""
    own = vars(problem)
    if "check" in own and "separation" in own:  # nobody can tell which of them knows the other
        return False
    return _states_last(problem, "check", "separation")


def _states_last(problem: Problem, name: str, other: str) -> bool:
    """Whether a method is stated by the class that states another one, or by a subclass of that."""
    own = vars(problem)
    if name in own or other in own:
        return name in own
    return _class_states_last(type(problem), name, other)


@functools.lru_cache(maxsize=1000)
def _class_states_last(kind: type, name: str, other: str) -> bool:
    order = kind.__mro__
    where = {method: next(k for k, base in enumerate(order) if method in vars(base)) for method in (name, other)}
    return where[name] <= where[other]


def rows_of(problem: Problem) -> Formulation:
    """Return the compiled rows of the class that states them last, by ``formulation()`` or by ``master()``.

    A template may state its rows as arrays besides the Pyomo model, because that is faster.  A subclass of it may state
    another model.
    """
    if not _states_last(problem, "formulation", "master"):
        return Problem.formulation(problem)
    return returned(problem.formulation(), f"{type(problem).__name__}.formulation()", "a Formulation")


def check_rows_are_solved(problem: Problem, master: RestrictedMaster) -> None:
    """Refuse rows that a subclass states, if the restricted master of its template has no use for them.

    Raises
    ------
    InputError
        Naming the method of the subclass, and the template.
    """
    if isinstance(master, LinearMaster):
        return
    for name in _ROWS:
        if not _states_last(problem, "restricted_master", name):
            template = next(kind for kind in type(problem).__mro__ if "restricted_master" in vars(kind))
            raise InputError(
                f"{type(problem).__name__}.{name}() would have no effect: the restricted master of {template.__name__} "
                f"is a {type(master).__name__}, not a linear program over rows; state the rows as a separation, or "
                "override restricted_master() as well"
            )


def states_rows_anew(problem: Problem, method: str) -> bool:
    """Return whether a subclass states other rows than those that a method of its template was written for.

    A subclass that states the same rows in another way sets ``same_problem = True`` in its body.
    """
    if not _is_overridden(type(problem), method) or all(_states_last(problem, method, name) for name in _ROWS):
        return False
    return states_anew(problem, _ROWS)


def states_anew(problem: Problem, names: Iterable[str]) -> bool:
    """Return whether the class that states any of these methods last lacks ``same_problem = True``.

    An object that has one of them as an attribute of its own states it last.
    """
    stating = frozenset(names)
    if vars(problem).keys() & stating:
        return True
    for kind in type(problem).__mro__:
        if "same_problem" in vars(kind):
            return not vars(kind)["same_problem"]
        if vars(kind).keys() & stating:
            return True
    return False


_ROWS = ("master", "formulation")
"""Methods that state rows."""


def _restates_rows(problem: Problem, kind: type) -> bool:
    """Return whether a problem has other rows than one of its classes: a subclass of that or the object states them."""
    order = type(problem).__mro__
    below = (problem, *order[: order.index(kind)])
    return any(vars(each).keys() & set(_ROWS) for each in below) and states_anew(problem, _ROWS)


def _for_the_rows_of(kind: type, method: Callable[[Any], Method]) -> Callable[[Any], Method]:
    """Return ``method()`` of a class, which leaves out its claims in a problem with other rows than the class has."""

    @functools.wraps(method)
    def method_for_rows(problem: Any) -> Method:
        found = method(problem)
        return found.without_claims() if isinstance(found, Method) and _restates_rows(problem, kind) else found

    return method_for_rows


def method_of(problem: Problem, given: Method = Method()) -> Method:
    """Return how a problem is solved: the fields that are given, then those of the problem's own method, then defaults.

    Raises
    ------
    InputError
        If the problem's ``method()`` returns no :class:`Method`.
    """
    name = f"{type(problem).__name__}.method"
    if not callable(problem.method):
        raise InputError(f"{name}: expected the method that returns a Method, not {describe(problem.method)}")
    own = problem.method()
    if not isinstance(own, Method):
        why = f": {FORGOTTEN} Expected" if own is None else ", expected"
        raise InputError(f"{name}() returned {describe(own)}{why} a Method, such as Method(heuristics=())")
    return given.fill_from(own).fill_from(Problem.method(problem))


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
    return codec if _states_last(problem, "codec", "pricing") else None


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


def certifier_of(problem: Problem) -> Certifier:
    """Return a problem's certifier: the default one where a subclass states other rows than its template."""
    return Problem.certifier(problem) if states_rows_anew(problem, "certifier") else problem.certifier()


def claims_left_out(problem: Problem, *others: str) -> str | None:
    """Return a note on what of a template is left out because a subclass states other rows; None if nothing is.

    ``others``: what is left out besides the certifier and the fields in :data:`colgen.method.CLAIMS`.
    """
    kind, names = type(problem), [*others]
    if states_rows_anew(problem, "certifier"):
        names.insert(0, "certifier()")
    stated = [
        getattr(vars(each).get("method"), "__wrapped__", None) for each in kind.__mro__ if _restates_rows(problem, each)
    ]
    claims = [method(problem) for method in stated if method is not None]
    if claims:
        own = problem.method()
        claimed = (name for name in CLAIMS if any(getattr(method, name) for method in claims))
        names = [name for name in claimed if getattr(own, name) is None] + names
    if not names:
        return None
    return (
        f"{kind.__name__} states rows of its own: {', '.join(names)} of its template hold for other rows and were "
        f"left out. State them in {kind.__name__} too, or same_problem = True if the rows are the same."
    )


def keeps_rows(problem: Problem, master: RestrictedMaster) -> bool:
    """Return whether the rows of a problem contain those of its template, with the same sides and coefficients.

    Then each of its answers is an answer of the template's problem as well, whatever it costs.
    """
    order = type(problem).__mro__
    stating = next(k for k, kind in enumerate(order) if vars(kind).keys() & set(_ROWS))
    parent = next((kind for kind in order[stating + 1 :] if "master" in vars(kind)), Problem)
    if parent is Problem:
        return False
    own = master.formulation if type(master) is LinearMaster else Problem.formulation(problem)
    template = compile_master(vars(parent)["master"](problem))
    rows = _positions(template.row_keys, own.row_keys)
    columns = _positions(template.column_keys, own.column_keys)
    if rows is None or columns is None:
        return False
    others = np.ones(len(own.costs), dtype=bool)
    others[columns] = False
    inside = own.matrix[rows, :]
    return bool(
        np.array_equal(own.row_lower[rows], template.row_lower)
        and np.array_equal(own.row_upper[rows], template.row_upper)
        and (inside[:, columns] != template.matrix).nnz == 0
        and inside[:, others].nnz == 0
        and (own.lower[columns] >= template.lower).all()
        and (own.upper[columns] <= template.upper).all()
        and (own.integer[columns] >= template.integer).all()
    )


def _positions(keys: Sequence[Hashable], among: Sequence[Hashable]) -> list[int] | None:
    where = {key: position for position, key in enumerate(among)}
    return [where[key] for key in keys] if all(key in where for key in keys) else None


def _is_overridden(kind: type, name: str) -> bool:
    return getattr(kind, name) is not getattr(Problem, name)


def _is_restated(problem: Problem) -> bool:
    """Return whether a subclass states other rows than any of its template's methods were written for."""
    methods = ("method", "certifier", "pricing", "separation", "branching", "check")
    return any(states_rows_anew(problem, method) for method in methods)


def step_of(problem: Problem, master: RestrictedMaster, step: float | None) -> float | None:
    """Return the step that a problem states, or None where a subclass's rows add costs that are no multiples of it."""
    if step is None or not _is_restated(problem) or not isinstance(master, LinearMaster):
        return step
    rows = master.formulation
    own = ~rows.artificial & (rows.costs != 0.0)
    steps = np.append(rows.costs[own], rows.offset) / step
    return step if rows.integer[own].all() and (steps == np.rint(steps)).all() else None


def check_objective(problem: Problem, solution: Solution) -> float | None:
    """Return the objective that ``problem.check`` computes for a solution; None if it has no check.

    The check of a template does not judge answers to other rows, which a subclass states without a check of its own:
    where it disagrees, nothing has checked the answer.
    """
    if not states_rows_anew(problem, "check"):
        return problem.check(answer_for_check(problem, solution))
    try:
        stated = problem.check(answer_for_check(problem, solution))
    except (ColgenError, ValueError, IndexError, KeyError):
        return None
    agrees = stated is not None and abs(stated - solution.objective) <= TOLERANCES.diagnostic * size(0.0, stated)
    return stated if agrees else None


def answer_for_check(problem: Problem, solution: Solution) -> Any:
    """An answer as the class that states ``check`` knows it: a subclass may show answers in another form."""
    if "check" in vars(problem) or _states_last(problem, "check", "answer"):
        return problem.answer(solution)
    order = type(problem).__mro__
    first = next(k for k, kind in enumerate(order) if "check" in vars(kind))
    stating = next(kind for kind in order[first:] if "answer" in vars(kind))
    return vars(stating)["answer"](problem, solution)
