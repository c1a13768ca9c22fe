"""What a check found wrong with a problem, and the report of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from colgen.core.budget import OutOfBudget
from colgen.core.errors import ColgenError
from colgen.core.lazy_imports import behind
from colgen.core.text import counted


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    kind
        One or two words, the same for the same mistake.
    where
        The oracle, rule or method to look at.
    message
        What was seen, first example, and what to look at.
    count
        How often it was seen.
    """

    kind: str
    where: str
    message: str
    count: int = 1

    def __str__(self) -> str:
        more = f"  (seen {self.count} times; this is the first)" if self.count > 1 else ""
        return f"[{self.kind}] {self.where}: {self.message}{more}"


class Findings:
    """Findings, one for each kind and place; the first example is kept and the others are counted."""

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
        """Turn whatever the problem's code raises into a finding; out of time is none: it is how a run ends."""
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
    """A problem broke the contract that the engine relies on."""


@dataclass(frozen=True, repr=False)
class Report:
    """What :func:`check_problem` saw.

    Attributes
    ----------
    findings
        What is wrong; empty for a problem that keeps the contract.
    notes
        What could not be checked, and why.
    points, columns
        How many times an oracle was asked, and how many different columns it returned.
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
        """Raise a :class:`ConformanceError` that holds the whole report, if anything was found."""
        if self.findings:
            raise ConformanceError(str(self))

    @property
    def verdict(self) -> str:
        """Whether anything was found, and how much was looked at."""
        found = counted(len(self.findings), "finding") if self.findings else "nothing found"
        return (
            f"{self.problem}: {found} ({counted(self.points, 'priced point')}, {counted(self.columns, 'column')}, "
            f"{self.seconds:.1f} s)"
        )

    def __repr__(self) -> str:
        return f"<Report: {self.verdict}>"

    def _repr_html_(self) -> str:
        found = [(f.kind, f.where, f.message, f.count) for f in self.findings]
        shown: str = behind("reporting.html", "show_check")(self.verdict, found, self.notes)
        return shown

    def __str__(self) -> str:
        lines = [self.verdict]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)
