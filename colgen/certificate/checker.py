"""Checks certificates in integers and fractions, without a solver, a tolerance or code that found the proof.

This module and the other ``checker`` modules import only the standard library. The page *Certificates* of the
documentation describes the lines of a certificate and their proofs.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TextIO

from colgen.certificate.checker_bounds import bound_of, check_fixing
from colgen.certificate.checker_files import UnreadError, lines_of, record_of, text_of
from colgen.certificate.checker_instances import compare, formulation_of
from colgen.certificate.checker_pricing import CheckerState, UnreadableError, WrongError, exact, fields, integer
from colgen.certificate.checker_program import Claims, Program, check_answer

VERSION = 1

PROVED, UNREADABLE, FALSE, TRUSTED = 0, 2, 4, 6
"""Exit codes: everything is checked; not readable; a line is false; parts are trusted, open or not compared."""


@dataclass
class Verdict:
    """The result of a check.

    ``proves`` is ``optimal``, ``infeasible`` or ``bound``, or with an open node ``answer`` or ``nothing``.
    """

    proves: str = ""
    objective: Fraction | None = None
    bound: Fraction | None = None
    leaves: int = 0
    fixings: int = 0
    claims: Claims = field(default_factory=Claims)
    stated: bool = False
    """Whether the checker made the formulation from the instance."""
    compared: bool = False
    """Whether the instance was compared with a file."""
    convention: str | None = None
    """The choice that the file leaves open and the instance makes."""
    unread: str | None = None
    """Why the instance was not compared with the given file."""

    @property
    def checked(self) -> bool:
        """True if everything was checked (promise 10): no trusted claim, no open node, and a given file was read."""
        proved = not self.claims.trusted and self.proves in ("optimal", "infeasible", "bound")
        return proved and self.unread is None

    def __str__(self) -> str:
        known = "no answer is known" if self.objective is None else f"the best known is {self.objective}"
        words, value = {
            "optimal": ("optimal", f"{self.objective}"),
            "infeasible": ("infeasible", "there is no answer"),
            "bound": ("", f"no answer is better than {self.bound}; {known}"),
            "answer": ("", f"nothing bounds how much better than {self.objective} an answer may be"),
            "nothing": ("", "neither an answer nor a bound is known"),
        }[self.proves]
        trusted = _count(self.claims.trusted, "claim is trusted", "claims are trusted")
        start = "Proved"
        if self.claims.trusted:
            start = f"Not proved, {trusted}" + ("; if that is right," if words else "")
        elif self.proves in ("answer", "nothing"):
            start = "Not proved"
        elif self.unread is not None:
            start = "Proved of the certificate's instance, not compared with the file" + ("," if words else "")
        lines = [
            f"{start}{words and ' ' + words}: {value}.",
            f"{_count(self.leaves, 'leaf', 'leaves')}, {_count(self.claims.checked, 'claim', 'claims')} checked, "
            f"{self.claims.trusted} trusted",
        ]
        lines += (
            [f"{_count(self.fixings, 'position or item', 'positions or items')} closed, each by a bound"]
            if self.fixings
            else []
        )
        lines.append(self._describe_instance())
        lines.append("formulated by the checker" if self.stated else "formulated as the certificate has it")
        return "\n".join(lines)

    def _describe_instance(self) -> str:
        if self.unread is not None:
            return f"the instance of the certificate, not checked against the file: {self.unread}"
        if not self.compared:
            return "the instance of the certificate"
        return "the instance of the file" + ("" if self.convention is None else f", {self.convention}")


def check(lines: Iterable[str], instance: str | None = None) -> Verdict:
    """Check the lines of a certificate, and compare its instance with the text of a file if given.

    Raises
    ------
    WrongError
        At the first false line. Its attribute ``line`` is the number.
    UnreadableError
        A WrongError for a line that is not in the format.
    """
    number = 0
    try:
        checking = _Checker(instance)
        for number, line in enumerate(lines, 1):
            checking.take(number, record_of(line))
        return checking.verdict(number)
    except (RecursionError, OverflowError, MemoryError) as error:
        wrong: WrongError = UnreadableError(
            f"its numbers or lists are too large to compute with ({type(error).__name__})"
        )
        wrong.line = number
        raise wrong from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        wrong = WrongError(f"the line is not in the expected form ({type(error).__name__}: {error})")
        wrong.line = number
        raise wrong from None
    except WrongError as wrong:
        wrong.line = wrong.line or number
        raise


class _Checker:
    """Checks a certificate line by line."""

    def __init__(self, text: str | None) -> None:
        self._text = text
        self._instance: dict[str, Any] = {}
        self._program: Program | None = None
        self._open: dict[int, CheckerState] = {}
        self._seen: set[int] = {0}
        self._bound: Fraction | None = None  # of the leaves; None if all are infeasible
        self._unknown = False  # a leaf is left open, without a bound
        self._excludes = False  # something was fixed because no better solution uses it
        self._ended = False
        self.found = Verdict()

    def take(self, number: int, record: dict[str, Any]) -> None:
        if self._ended:
            raise WrongError("expected no line after the end")
        if number == 1 and (record != {"certificate": "colgen", "version": VERSION} or record["version"] is True):
            raise WrongError(f"expected a certificate of colgen, version {VERSION}")
        head = {1: lambda r: None, 2: self._take_instance, 3: self._take_formulation, 4: self._take_answer}
        if number in head:
            head[number](record)
        elif "end" in record:
            fields(record, ("end",))
            self._take_end(number, record["end"])
        else:
            self._take_node(record)

    def _take_instance(self, record: dict[str, Any]) -> None:
        fields(record, ("instance", "sha256"))
        self._instance = record["instance"]
        written = json.dumps(self._instance, sort_keys=True, separators=(",", ":"))
        if hashlib.sha256(written.encode()).hexdigest() != record["sha256"]:
            raise WrongError("the digest does not match the instance")
        if self._text is not None:
            try:
                self.found.convention = compare(self._text, self._instance)
                self.found.compared = True
            except UnreadError as error:
                self.found.unread = str(error)

    def _take_formulation(self, record: dict[str, Any]) -> None:
        fields(record, ("formulation",))
        own, given = formulation_of(self._instance), record["formulation"]
        if own is not None and given is not None and own != given:
            raise WrongError("the formulation does not match the instance")
        self.found.stated = self.found.claims.refuses = own is not None
        self._program = Program(given if own is None else own)
        self._open[0] = CheckerState()

    def _take_answer(self, record: dict[str, Any]) -> None:
        fields(record, ("answer",))
        if record["answer"] is not None:
            self.found.objective = check_answer(self.program, record["answer"], self.found.claims)

    def _take_node(self, record: dict[str, Any]) -> None:
        node = integer(record["node"])
        state = self._open.get(node)
        if state is None:
            raise WrongError(f"node {node} is not open: no split created it, or it is closed")
        if "fix" in record:
            fields(record, ("node", "fix"))
            closed = check_fixing(self.program, state, record["fix"], self.found.objective, self.found.claims)
            self.found.fixings += closed
            self._excludes = self._excludes or closed > 0 or state.listed is not None
        elif "split" in record:
            fields(record, ("node", "split", "children"))
            children = [integer(child) for child in record["children"]]
            states = self.program.split(state, record["split"], len(children), self.found.claims)
            for child, below in zip(children, states, strict=True):
                if child in self._seen:
                    raise WrongError(f"node {child} exists already")
                self._seen.add(child)
                self._open[child] = below
            del self._open[node]
        else:
            fields(record, ("node", "claim"))
            self.found.leaves += 1
            if record["claim"] is None:
                self._unknown = True
            else:
                bound = bound_of(self.program, state, record["claim"], self.found.claims)
                if bound is not None and (self._bound is None or bound < self._bound):
                    self._bound = bound
            del self._open[node]

    def _take_end(self, number: int, end: dict[str, Any]) -> None:
        if self._open:
            raise WrongError(f"node {min(self._open)} is open: it has neither a claim nor a split")
        fields(end, ("proves", "objective", "bound", "lines", "leaves"))
        if (integer(end["lines"]), integer(end["leaves"])) != (number, self.found.leaves):
            raise WrongError(f"there are {number} lines and {_count(self.found.leaves, 'leaf', 'leaves')}")
        program, objective = self.program, self.found.objective
        bound = None if self._bound is None or self._unknown else program.round_up(self._bound)
        if objective is not None and not self._unknown and (bound is None or bound > objective):
            if not self._excludes:
                leaves = (
                    "no leaf has an answer" if bound is None else f"the bound of all leaves is {program.sign * bound}"
                )
                raise WrongError(f"the answer of {program.sign * objective} is a contradiction: {leaves}")
            bound = objective  # only better solutions were kept, and none exists
        self.found.bound = None if bound is None else program.sign * bound
        if objective is not None:
            self.found.objective = program.sign * objective
        if self._unknown:
            proves = "nothing" if objective is None else "answer"
        else:
            proves = "infeasible" if bound is None else "optimal" if bound == objective else "bound"
        if end["proves"] != proves:
            raise WrongError(f"the certificate proves {proves}, not {str(end['proves'])[:20]}")
        if _read(end["objective"]) != self.found.objective or _read(end["bound"]) != self.found.bound:
            raise WrongError(
                f"the objective is {self.found.objective} and the bound {self.found.bound}, "
                f"not {end['objective']} and {end['bound']}"
            )
        self.found.proves = proves
        self._ended = True

    @property
    def program(self) -> Program:
        assert self._program is not None  # set by line 3
        return self._program

    def verdict(self, number: int) -> Verdict:
        if not self._ended:
            raise WrongError(f"the certificate ends early, after line {number}")
        return self.found


def _read(value: Any) -> Fraction | None:
    return None if value is None else exact(value)


def main(arguments: list[str]) -> int:
    """Check a file and print the result. Return an exit code, 0 if everything is checked and true."""
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print("usage: python -m colgen.certificate FILE [INSTANCE]", file=sys.stderr)
        return UNREADABLE
    path = arguments[0]
    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        verdict = check(lines_of(path), text_of(arguments[1]) if len(arguments) == 2 else None)
        print(verdict)
        return PROVED if verdict.checked else TRUSTED
    except UnreadableError as error:
        _print(f"colgen: {path}{f', line {error.line}' if error.line else ''}: {error}", sys.stderr)
        return UNREADABLE
    except WrongError as wrong:
        _print(f"{path}, line {wrong.line}: {wrong}", sys.stdout)
        return FALSE
    except OSError as error:
        _print(f"colgen: {error}", sys.stderr)
        return UNREADABLE
    finally:
        sys.set_int_max_str_digits(most)


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _print(message: str, stream: TextIO) -> None:
    """Print a message on one line, with escapes for line breaks and unprintable characters."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    encoding = stream.encoding or "ascii"
    print(line.encode(encoding, "backslashreplace").decode(encoding), file=stream)
