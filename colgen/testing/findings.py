"""Findings about a problem, and the report of a check."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from colgen.core.budget import OutOfBudget
from colgen.core.errors import ColgenError
from colgen.core.lazy_imports import import_name
from colgen.core.text import plural


@dataclass(frozen=True)
class Finding:
    """One mistake, with the first example and advice in ``message``.

    ``kind`` is one or two words, equal for equal mistakes. ``where`` is the oracle, rule or method to check, and
    ``count`` the number of occurrences.
    """

    kind: str
    where: str
    message: str
    count: int = 1

    def __str__(self) -> str:
        more = f"  (seen {self.count} times; this is the first)" if self.count > 1 else ""
        return f"[{self.kind}] {self.where}: {self.message}{more}"


class Findings:
    """Findings by kind and place; the first example is kept and the others are counted."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Finding] = {}

    def add(self, kind: str, where: str, message: str, count: int = 1) -> None:
        known = self._found.get((kind, where))
        if known is None:
            self._found[kind, where] = Finding(kind, where, message, count)
        else:
            self._found[kind, where] = dataclasses.replace(known, count=known.count + count)

    @contextmanager
    def guard(self, kind: str, where: str) -> Iterator[None]:
        """Convert an exception of the problem's code to a finding; OutOfBudget is ignored."""
        try:
            yield
        except OutOfBudget:
            pass
        except Exception as error:
            self.add(kind, where, f"raised {type(error).__name__}: {error}")

    def list(self) -> tuple[Finding, ...]:
        return tuple(self._found.values())

    def __bool__(self) -> bool:
        return bool(self._found)


class ConformanceError(ColgenError):
    """A problem does not meet the requirements of the engine."""


@dataclass(frozen=True, repr=False)
class Report:
    """The result of :func:`check_problem`.

    ``findings`` is empty if nothing is wrong; ``notes`` states what could not be checked. ``points`` is the number of
    oracle calls, ``columns`` that of different columns that they returned.
    """

    problem: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    points: int
    columns: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def raise_if_any(self) -> None:
        """Raise a :class:`ConformanceError` with the complete report if anything was found."""
        if self.findings:
            raise ConformanceError(str(self))

    @property
    def verdict(self) -> str:
        """Number of findings, and the extent of the check."""
        found = plural(len(self.findings), "finding") if self.findings else "nothing found"
        return (
            f"{self.problem}: {found} ({plural(self.points, 'priced point')}, {plural(self.columns, 'column')}, "
            f"{self.seconds:.1f} s)"
        )

    def __repr__(self) -> str:
        return f"<Report: {self.verdict}>"

    def _repr_html_(self) -> str:
        findings = [(f.kind, f.where, f.message, f.count) for f in self.findings]
        page: str = import_name("reporting.html", "show_check")(self.verdict, findings, self.notes)
        return page

    def __str__(self) -> str:
        lines = [self.verdict]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)
