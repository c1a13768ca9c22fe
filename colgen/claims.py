"""Which methods of a problem are valid for the rows that are solved (promise 4).

A bounding, reduction or heuristic is written for the rows of the class that defines it. A subclass may define other
rows and inherit such methods. The rows of the defining class are therefore compared with those of the restricted
master, entry by entry. If they differ, the engine uses its defaults instead and adds a note.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

import numpy as np

from colgen.certificate.certifier import Certifier
from colgen.core.errors import ColgenError, InputError
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.linear_master import LinearMaster
from colgen.master.protocol import RestrictedMaster
from colgen.master.statement import restricted_master, stated_rows
from colgen.method import CLAIMS, Method
from colgen.model.rows import Rows

_WRITTEN_FOR_ROWS = ("method", "certifier", "pricing", "separation", "branching", "check")

_KNOWN: ContextVar[RowClaims | None] = ContextVar("claims of the run that asks for a problem's method", default=None)


class RowClaims:
    """The methods of a problem, and whether they are valid for the rows of its restricted master."""

    def __init__(self, problem: Any, master: RestrictedMaster) -> None:
        self.problem, self._master = problem, master
        self._rows: dict[type, Rows | RestrictedMaster | None] = {}
        self._left_out: set[str] = set()
        template = _defining(problem, "pricing")
        other = self._rows_of(template)
        if template is not None and isinstance(other, RestrictedMaster):
            raise InputError(
                f"{type(problem).__name__}.master() returns rows, but the oracles of {template.__name__} price for its "
                f"{type(other).__name__}, which is not a linear program over rows: add the rows by separation(), or "
                "define pricing() as well"
            )

    def hold(self, method: str) -> bool:
        """Return whether a method was written for the rows that are solved."""
        return not self._differs(method)

    def extend(self, method: str) -> bool:
        """Return whether the rows that are solved contain those that a method was written for.

        Then each answer also satisfies the other rows, at any cost.
        """
        rows = self._rows_of(_defining(self.problem, method))
        return rows is None or (isinstance(rows, Rows) and self._own.contains(rows))

    def certifier(self) -> Certifier:
        """Return the problem's certifier, or the default one if it is not valid."""
        if self.hold("certifier"):
            return cast(Certifier, self.problem.certifier())
        return Certifier(self._master.sense, type(self.problem).__name__)

    def method(self) -> Any:
        """Return the problem's ``method()`` without fields that are not valid."""
        token = _KNOWN.set(self)
        try:
            own = self.problem.method()
        finally:
            _KNOWN.reset(token)
        self._left_out = {name for name in self._left_out if getattr(own, name, None) is None}
        return own

    def keep(self, kind: type, method: Method) -> Method:
        """Return the method that a class defines, without fields that are not valid for the rows that are solved."""
        if self._rows_of(kind) is None:
            return method
        self._left_out |= {name for name in CLAIMS if getattr(method, name)}
        return method.without_claims()

    def note(self, *others: str) -> str | None:
        """Return a note on parts omitted because the rows differ, or None.

        ``others`` lists omitted items besides the certifier and fields of the method.
        """
        left_out = [name for name in CLAIMS if name in self._left_out]
        left_out += [] if self.hold("certifier") else ["certifier()"]
        left_out += others
        if not left_out:
            return None
        name = type(self.problem).__name__
        return (
            f"{name} has other rows than its template: {', '.join(left_out)} of the template were left out. "
            f"Define them in {name} for its own rows."
        )

    def step(self, step: float | None) -> float | None:
        """Return the step of objectives; None if the changed rows contain costs that are not multiples of it."""
        if step is None or all(map(self.hold, _WRITTEN_FOR_ROWS)):
            return step
        rows = self._own
        own = ~rows.artificial & (rows.costs != 0.0)
        steps = np.append(rows.costs[own], rows.offset) / step
        return step if rows.integer[own].all() and (steps == np.rint(steps)).all() else None

    def objective(self, solution: Solution) -> float | None:
        """Return the objective that ``problem.check`` computes for a solution; None without a valid check.

        A template's check is not valid for answers to other rows: if it disagrees, the answer counts as unchecked.
        """
        if self.hold("check"):
            return cast("float | None", self.problem.check(answer_for_check(self.problem, solution)))
        try:
            stated = self.problem.check(answer_for_check(self.problem, solution))
        except (ColgenError, ValueError, IndexError, KeyError):
            return None
        agrees = stated is not None and abs(stated - solution.objective) <= TOLERANCES.diagnostic * size(0.0, stated)
        return stated if agrees else None

    @property
    def _own(self) -> Rows:
        assert isinstance(self._master, LinearMaster)
        return self._master.formulation

    def _differs(self, method: str) -> bool:
        """Return whether the class that defines a method has other rows than those that are solved."""
        return self._rows_of(_defining(self.problem, method)) is not None

    def _rows_of(self, kind: type | None) -> Rows | RestrictedMaster | None:
        """Return the rows (or other master) of a class; None if they equal those that are solved."""
        if kind is None or not isinstance(self._master, LinearMaster):
            return None
        if kind not in self._rows:
            self._rows[kind] = self._others(kind)
        return self._rows[kind]

    def _others(self, kind: type) -> Rows | RestrictedMaster | None:
        if not _may_differ(self.problem, kind):
            return None
        try:
            stated = cast(Any, kind).master(self.problem)
        except NotImplementedError:  # the class defines no rows
            return None
        rows = stated_rows(stated)
        if rows is None:
            return cast(RestrictedMaster, stated)
        return None if self._own.is_same(rows) else rows


def _may_differ(problem: Any, kind: type) -> bool:
    """Return whether a class may have other rows than a problem: its ``master()`` is another function."""
    master = getattr(kind, "master", None)
    return master is not None and (master is not type(problem).master or "master" in vars(problem))


def for_rows_of(kind: type, method: Callable[[Any], Method]) -> Callable[[Any], Method]:
    """Wrap a class's ``method()`` so that its claims are omitted in a problem with other rows."""

    @functools.wraps(method)
    def method_for_rows(problem: Any) -> Method:
        own, claims = method(problem), _KNOWN.get()
        if not isinstance(own, Method) or not _may_differ(problem, kind):
            return own
        if claims is None or claims.problem is not problem:
            claims = RowClaims(problem, restricted_master(problem.master()))
        return claims.keep(kind, own)

    return method_for_rows


def is_plain(problem: Any) -> bool:
    """Return whether the class of a problem declares ``plain = True`` in its own body.

    A template may compute a result from its scores alone, before there is a master, if the program is its own. A
    subclass may change the program in any method, so each class must declare that it does not. An object with methods
    as attributes counts as a subclass.
    """
    kind = type(problem)
    replaced = any(callable(getattr(kind, name, None)) for name in vars(problem))
    return bool(vars(kind).get("plain")) and not replaced


def covers_separation(problem: Any) -> bool:
    """Return whether a problem's check covers its separated rows; a subclass may add rows and inherit a check."""
    return "separation" not in vars(problem) and is_defined_with(problem, "check", "separation")


def is_defined_with(problem: Any, method: str, other: str) -> bool:
    """Return whether the class that defines a method also defines or inherits the problem's other method."""
    own, others = _defining(problem, method), _defining(problem, other)
    return own is None or (others is not None and issubclass(own, others))


def answer_for_check(problem: Any, solution: Solution) -> Any:
    """Return an answer in the form of the class that defines ``check``; a subclass may use another form."""
    kind = _defining(problem, "check")
    if kind is None:
        return problem.answer(solution)
    return getattr(kind, "answer", type(problem).answer)(problem, solution)


def _defining(problem: Any, method: str) -> type | None:
    """Return the class that defines a method; None if the object itself does."""
    if method not in vars(problem):
        for kind in type(problem).__mro__:
            if method in kind.__dict__:
                return kind
    return None
