"""Models in MPS and LP files, read line by line with exact numbers.

The page *How MPS and LP files are read* states the rules.  What common readers understand differently is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from colgen.certificate.checker_files import UnreadError
from colgen.certificate.checker_pricing import WrongError, exact, integer, sides

INFINITE = 10**20
"""Bounds and sides of at least this size are infinite."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_LIKE_NUMBER = re.compile("inf|nan", re.IGNORECASE)
_GOALS = {"minimize": 1, "minimum": 1, "min": 1, "maximize": -1, "maximum": -1, "max": -1}


class ModelFile:
    """A mixed-integer linear program, in the order of its file.

    Attributes
    ----------
    sense
        ``minimize`` or ``maximize``.
    offset
        Constant of the objective.
    variables
        For each name: cost, lower and upper bound, and whether the variable is an integer.
    rows
        For each name: lower and upper side, and the coefficients by variable.
    """

    def __init__(self) -> None:
        self.sense = "minimize"
        self.offset: Any = 0
        self.variables: dict[str, list[Any]] = {}
        self.rows: dict[str, tuple[Any, Any, dict[str, Any]]] = {}


def read_model(text: str, number: Callable[[str], Any] = Fraction) -> ModelFile:
    """Return the model in the text of a file in MPS or LP format, in numbers of a type: fractions or floats.

    A model that the checker does not read is an ``UnreadError``, whose message names the line.
    """
    text = text.replace("\r\n", "\n")
    if re.search(r"[^\S\t\n ]|[\0-\x08\x0e-\x1f\x7f]", text):
        raise UnreadError("the file has control characters or spaces that readers understand differently")
    lines = text.split("\n")
    first = next((words[0].lower() for line in lines if (words := line.split()) and line[0] not in "*\\"), "")
    is_lp = first in _GOALS or text.lstrip().startswith("\\")  # a comment
    reader = (_Lp if is_lp else _Mps)(number)
    for number_of_line, line in enumerate(lines, 1):
        reader.line = number_of_line
        reader.take(line)
    return reader.end()


class _Reader:
    """Base class of the readers: numbers, bounds, and errors that name the line."""

    def __init__(self, number: Callable[[str], Any]) -> None:
        self.model, self.line, self._type = ModelFile(), 0, number
        self.stated: dict[str, dict[str, int]] = {}  # lines that state the lower and upper bound of a variable

    def unread(self, why: str, line: int | None = None) -> UnreadError:
        return UnreadError(f"line {line or self.line} of the file: {why}")

    def value(self, word: str) -> Any:
        """Return a finite number."""
        if not _NUMBER.fullmatch(word):
            raise self.unread(f"expected a number with few digits, not {word[:30]!r}")
        return self._type(word)

    def limit(self, word: str) -> Any:
        """Return a bound or a side, which may be infinite."""
        if _INFINITY.fullmatch(word):
            return -math.inf if word[0] == "-" else math.inf
        value = self.value(word)
        return value if abs(value) < INFINITE else math.inf if value > 0 else -math.inf

    def state(self, name: str, **bounds: Any) -> None:
        """Set the lower or upper bound of a variable."""
        for which, value in bounds.items():
            self.model.variables[name][1 if which == "lower" else 2] = value
            self.stated.setdefault(name, {})[which] = self.line

    def check_bounds(self) -> None:
        for name, (_, low, high, _) in self.model.variables.items():
            lines = self.stated.get(name, {})
            if low == math.inf or high == -math.inf:
                raise self.unread(f"a bound of {name!r} excludes all numbers", max(lines.values()))
            if high < 0 and "lower" not in lines:
                raise self.unread(
                    f"{name!r} has a negative upper bound and no lower bound, which readers understand differently",
                    lines["upper"],
                )


# --- MPS -------------------------------------------------------------------------------------------------------------

_SECTIONS = ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA")

_BOUNDS = {"UP": "u", "LO": "l", "FX": "lu", "LI": "l", "UI": "u", "MI": "l", "PL": "u", "FR": "lu", "BV": "lu"}
"""Types of bounds, and which bounds they state."""


class _Mps(_Reader):
    """Fixed and free MPS: words separated by spaces, so that names have none."""

    def __init__(self, number: Callable[[str], Any]) -> None:
        super().__init__(number)
        self.section, self.seen, self.objective, self.free = "", set[str](), "", set[str]()
        self.kinds: dict[str, str] = {}
        self.sides: dict[str, Any] = {}
        self.ranges: dict[str, Any] = {}
        self.sets: dict[str, str] = {}
        self.in_markers, self.by_marker, self.last, self.costs = False, set[str](), "", set[str]()

    def take(self, line: str) -> None:
        words = line.split()
        if not words or line[0] == "*" or self.section == "ENDATA":
            return
        if line[0] in " \t" or (len(words) > 1 and words[0].upper() not in ("NAME", "OBJSENSE")):
            take = getattr(self, f"_take_{self.section.lower()}", None)
            if take is None:
                raise self.unread(f"expected a section, not {words[0][:30]!r}")
            take(words)
            return
        name = words[0].upper()
        if name not in _SECTIONS:
            raise self.unread(f"the section {name[:30]!r} is not read")
        if name in self.seen:
            raise self.unread(f"expected each section once, not {name} again")
        self.section = name
        self.seen.add(name)
        if name == "OBJSENSE" and words[1:]:
            self._take_objsense(words[1:])

    def _take_objsense(self, words: list[str]) -> None:
        sense = _GOALS.get(words[0].lower())
        if sense is None or len(words) > 1:
            raise self.unread(f"expected MIN or MAX, not {' '.join(words)[:30]!r}")
        self.model.sense = "minimize" if sense > 0 else "maximize"

    def _take_rows(self, words: list[str]) -> None:
        kind, name = words if len(words) == 2 else ("", "")
        if kind not in ("N", "L", "G", "E"):
            raise self.unread("expected N, L, G or E and a name without spaces")
        if name in self.kinds:
            raise self.unread(f"two rows have the name {name!r}")
        self.kinds[name] = kind
        if kind != "N":
            self.model.rows[name] = (-math.inf, math.inf, {})
        elif self.objective:
            self.free.add(name)
        else:
            self.objective = name

    def _take_columns(self, words: list[str]) -> None:
        if len(words) == 3 and words[1] == "'MARKER'":
            if words[2] != ("'INTEND'" if self.in_markers else "'INTORG'"):
                raise self.unread(f"the marker {words[2][:30]} is not expected here")
            self.in_markers = not self.in_markers
            return
        name, *pairs = words
        if name != self.last:
            if name in self.model.variables:
                raise self.unread(f"the lines of column {name!r} are not together")
            self.last = name
            self.model.variables[name] = [self._type("0"), self._type("0"), math.inf, self.in_markers]
            if self.in_markers:
                self.by_marker.add(name)
        for row, word in self._pairs(pairs):
            terms = {} if row in self.free else self.model.rows[row][2] if row != self.objective else None
            if name in (self.costs if terms is None else terms):
                raise self.unread(f"column {name!r} has two entries in row {row!r}")
            value = self.value(word)
            if terms is None:
                self.costs.add(name)
                self.model.variables[name][0] = value
            else:
                terms[name] = value

    def _pairs(self, words: list[str]) -> Iterator[tuple[str, str]]:
        if len(words) not in (2, 4):
            raise self.unread("expected one or two rows, each with a number, and names without spaces")
        for row in words[::2]:
            if row not in self.kinds:
                raise self.unread(f"there is no row {row[:30]!r}")
        return zip(words[::2], words[1::2], strict=True)

    def _without_set(self, words: list[str], has_name: bool, names: Mapping[str, Any]) -> list[str]:
        """Return the words of a line without the name of its set, of which a section has one."""
        name = words[0] if has_name else ""
        if name in names or self.sets.setdefault(self.section, name) != name:
            raise self.unread(f"expected one set, with a name of its own, not {name[:30]!r}")
        return words[has_name:]

    def _take_rhs(self, words: list[str]) -> None:
        for row, word in self._pairs(self._without_set(words, len(words) % 2 == 1, self.kinds)):
            if row in self.sides or row in self.free:
                raise self.unread(f"row {row!r} has two right-hand sides, or is a free row")
            self.sides[row] = self.limit(word)
            if row == self.objective:
                self.model.offset = -self.value(word)

    def _take_ranges(self, words: list[str]) -> None:
        for row, word in self._pairs(self._without_set(words, len(words) % 2 == 1, self.kinds)):
            if row in self.ranges or self.kinds[row] == "N":
                raise self.unread(f"row {row!r} has two ranges, or is a free row")
            self.ranges[row] = self.value(word)

    def _take_bounds(self, words: list[str]) -> None:
        kind, *words = words
        if kind not in _BOUNDS:
            raise self.unread(f"bounds of the type {kind[:30]!r} are not read")
        variables, needs = self.model.variables, kind in ("UP", "LO", "FX", "LI", "UI")
        has_set = len(words) == 3 or (len(words) == 2 and not needs and words[1] in variables)
        name, *rest = self._without_set(words, has_set, variables) or [""]
        if name not in variables or len(rest) > 1 or needs > len(rest):
            raise self.unread("expected a type of bound, the name of a set, a column, and a number if the type has one")
        which = [w for w in ("lower", "upper") if w[0] in _BOUNDS[kind]]
        if any(w in self.stated.get(name, {}) for w in which):
            raise self.unread(f"column {name!r} has two {which[0]} bounds")
        zero = self._type("0")
        value = self.limit(rest[0]) if needs else math.inf
        if kind in ("LI", "UI", "BV"):
            variables[name][3] = True
            if kind != "BV" and value != math.inf and value != int(value):
                raise self.unread(f"expected an integer, not {rest[0]}")
        given = {"MI": (-math.inf, 0), "FR": (-math.inf, math.inf), "BV": (zero, self._type("1"))}
        low, high = given.get(kind, (value, value))
        self.state(name, **{w: low if w == "lower" else high for w in which})

    def end(self) -> ModelFile:
        model = self.model
        if self.section != "ENDATA" or not self.objective:
            raise self.unread("expected an objective row and ENDATA" if self.section else "the file is empty")
        for name, (_, _, terms) in model.rows.items():
            kind, side, span = self.kinds[name], self.sides.get(name, self._type("0")), self.ranges.get(name)
            if abs(side) == math.inf and (span is not None or (kind == "E") or (kind == "G") == (side > 0)):
                raise UnreadError(f"row {name!r} of the file has an infinite right-hand side")
            low, high = (-math.inf if kind == "L" else side), (math.inf if kind == "G" else side)
            if span is not None and (kind == "L" or (kind == "E" and span < 0)):
                low = side - abs(span)
            elif span is not None:
                high = side + abs(span)
            model.rows[name] = low, high, {v: value for v, value in terms.items() if value}
        for name in self.by_marker.difference(self.stated):
            model.variables[name][2] = self._type("1")
        self.check_bounds()
        return model


# --- LP --------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"[ \t]*(?:(?P<number>(?!0[xX])(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<compare><=|>=|=<|=>|[<>=])"
    r"|(?P<sign>[+-])|(?P<colon>:)|(?P<name>(?!0[xX])[^ \t:+<>^=/\-*\[\];][^ \t:+<>^=/\-*\[\]]*)|(?P<other>.))"
)

_HEADINGS = {
    **dict.fromkeys(_GOALS, "objective"),
    **dict.fromkeys(("subject to", "such that", "st", "s.t."), "rows"),
    **dict.fromkeys(("bounds", "bound"), "bounds"),
    **dict.fromkeys(("general", "generals", "gen", "integer", "integers"), "integers"),
    **dict.fromkeys(("binary", "binaries", "bin"), "binaries"),
    **dict.fromkeys(("semi", "semis", "sos", "sos1", "sos2"), "unread"),
    "end": "end",
}
"""The headings of sections."""


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _Lp(_Reader):
    """LP: a sequence of tokens, in sections that are read in a fixed order, as the variables are numbered by it."""

    def __init__(self, number: Callable[[str], Any]) -> None:
        super().__init__(number)
        self.sections: dict[str, list[_Token]] = {}
        self.section, self.tokens, self.place = "", list[_Token](), 0

    def take(self, line: str) -> None:
        line = line.partition("\\")[0].rstrip(" \t")
        if "->" in line:
            raise self.unread("indicator constraints are not read")
        matches = _TOKEN.finditer(line)
        tokens = [_Token(kind := match.lastgroup or "", match.group(kind), self.line) for match in matches]
        k = 0
        while k < len(tokens):
            token, width = tokens[k], 1
            heading = token.text.lower() if token.kind == "name" else ""
            if heading in ("subject", "such") and k + 1 < len(tokens):
                heading, width = f"{heading} {tokens[k + 1].text.lower()}", 2
            if heading == "semi" and [each.text.lower() for each in tokens[k + 1 : k + 3]] == ["-", "continuous"]:
                width = 3
            is_named = tokens[k + width : k + width + 1] and tokens[k + width].kind == "colon"
            if heading in _HEADINGS and not is_named:
                self._start(heading)
                k += width
                continue
            if not self.section or self.section == "end":
                raise self.unread(f"expected nothing outside the sections, not {token.text[:30]!r}")
            if self.section == "unread":
                raise self.unread(
                    f"{token.text!r}: semicontinuous variables and special ordered sets (SOS) are not read"
                )
            if token.kind == "other":
                raise self.unread(f"expected a linear expression, not {token.text!r}; quadratic terms are not read")
            if token.kind == "name" and _LIKE_NUMBER.match(token.text):
                if not _INFINITY.fullmatch(token.text):
                    raise self.unread(f"{token.text[:30]!r} begins with inf or nan, which readers take for a number")
                token = token._replace(kind="infinity")
            self.sections[self.section].append(token)
            k += 1

    def _start(self, heading: str) -> None:
        section = _HEADINGS[heading]
        if section in self.sections and section not in ("integers", "binaries", "unread"):
            raise self.unread(f"expected each section once, not {heading!r} again")
        if section == "objective":
            self.model.sense = "minimize" if _GOALS[heading] > 0 else "maximize"
        self.section = section
        self.sections.setdefault(section, [])

    # --- tokens ------------------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """The kind of the next token, empty at the end of a section."""
        return self.tokens[self.place].kind if self.place < len(self.tokens) else ""

    def next(self, *kinds: str) -> str:
        """Return the text of the next token, and move on."""
        token = self.tokens[self.place] if self.kind else _Token("", "the end of a section", self.line)
        self.line, self.place = token.line, self.place + 1
        if token.kind not in kinds:
            raise self.unread(f"expected a {' or a '.join(kinds)}, not {token.text[:30]!r}")
        return token.text

    def sign(self) -> str:
        """Return the product of up to two signs, empty without any."""
        signs = [self.next("sign") for _ in range(2) if self.kind == "sign"]
        return "" if not signs else "-" if signs.count("-") == 1 else "+"

    def signed_limit(self) -> Any:
        return self.limit(self.sign() + self.next("number", "infinity"))

    def variable(self) -> str:
        """Return the next name, and add a variable if it is new."""
        name = self.next("name")
        if name.lower() == "free":
            raise self.unread("a variable has the name 'free'")
        self.model.variables.setdefault(name, [self._type("0"), self._type("0"), math.inf, False])
        return name

    def name(self) -> str:
        """Return the name of a row or of the objective, empty without any."""
        ahead = self.tokens[self.place + 1 : self.place + 2]
        if not ahead or ahead[0].kind != "colon":
            return ""
        name = self.next("name", "number")
        self.next("colon")
        return name

    def expression(self) -> tuple[dict[str, Any], Any]:
        """Return the terms of an expression and its constant."""
        terms, constant, first = dict[str, Any](), self._type("0"), True
        while self.kind not in ("", "compare"):
            sign = self.sign()
            if not sign and not first:
                raise self.unread(f"expected a sign before {self.tokens[self.place].text[:30]!r}")
            first = False
            is_number = self.kind == "number"
            value = self.value(sign + (self.next("number") if is_number else "1"))
            if is_number and self.kind != "name":
                constant += value
                continue
            name = self.variable()
            if name in terms:
                raise self.unread(f"the variable {name!r} has two terms in one expression")
            terms[name] = value
        return terms, constant

    # --- sections ----------------------------------------------------------------------------------------------------

    def end(self) -> ModelFile:
        if self.section != "end" or "objective" not in self.sections:
            raise self.unread("expected an objective and End")
        if not self.sections["objective"]:
            self.model.sense = "minimize"  # as HiGHS reads it; the objective is zero
        for section in ("objective", "rows", "bounds", "integers", "binaries"):
            self.tokens, self.place = self.sections.get(section, []), 0
            while self.kind:
                getattr(self, f"_read_{section}")()
        self.check_bounds()
        return self.model

    def _read_objective(self) -> None:
        self.name()
        terms, self.model.offset = self.expression()
        for name, cost in terms.items():
            self.model.variables[name][0] = cost
        if self.kind:
            self.next("sign", "number", "name")

    def _read_rows(self) -> None:
        name = self.name() or f"HiGHS_R{len(self.model.rows)}"
        if name in self.model.rows:
            raise self.unread(f"two rows have the name {name!r}")
        terms, constant = self.expression()
        compared = self.next("compare")
        if constant:
            raise self.unread(f"row {name!r} has a constant on its left-hand side; write a range as two rows")
        side = self.signed_limit()
        low, high = (-math.inf if "<" in compared else side), (math.inf if ">" in compared else side)
        if low == math.inf or high == -math.inf:
            raise self.unread(f"the side of row {name!r} excludes all numbers")
        self.model.rows[name] = low, high, {v: value for v, value in terms.items() if value}

    def _read_bounds(self) -> None:
        if self.kind == "name":
            name = self.variable()
            if self.kind == "name":
                if self.next("name").lower() != "free":
                    raise self.unread(f"expected a bound of {name!r}, or the word free")
                self.state(name, lower=-math.inf, upper=math.inf)
                return
            compared = self.next("compare")
            self._compare(name, compared, self.signed_limit())
            return
        low, compared, name = self.signed_limit(), self.next("compare"), self.variable()
        self._compare(name, compared.translate(_MIRROR), low)
        if self.kind == "compare":
            again = self.next("compare")
            if "<" not in compared or "<" not in again:
                raise self.unread(f"expected two bounds of {name!r} with <=")
            self._compare(name, again, self.signed_limit())

    def _compare(self, name: str, compared: str, value: Any) -> None:
        if ">" not in compared:
            self.state(name, upper=value)
        if "<" not in compared:
            self.state(name, lower=value)

    def _read_integers(self) -> None:
        self.model.variables[self.variable()][3] = True

    def _read_binaries(self) -> None:
        variable = self.model.variables[name := self.variable()]
        variable[3] = True
        if variable[2] == math.inf:
            variable[2] = self._type("1")
        if variable[1] < 0 or variable[2] > 1:
            raise self.unread(f"the binary variable {name!r} has other bounds, which readers understand differently")


_MIRROR = str.maketrans("<>", "><")


# --- the instance of a certificate -----------------------------------------------------------------------------------


def compared(text: str, instance: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any], str | None]]:
    """Yield readings of a file, each with the parts of the instance that must equal it, and the convention.

    The numbers are those in the file, or their nearest floating-point numbers as Python writes them.
    """
    for number, convention in ((Fraction, None), (float, "its numbers rounded to double precision")):
        model = read_model(text, number)
        found: dict[str, Any] = {
            "sense": model.sense,
            "offset": _exact(model.offset),
            "numbers of variables and rows": (len(model.variables), len(model.rows)),
        }
        places = {name: k for k, name in enumerate(model.variables)}
        for name, (*numbers, is_integer) in model.variables.items():
            found[f"variable {name}"] = [*map(_exact, numbers), is_integer]
        for name, (low, high, terms) in model.rows.items():
            found[f"row {name}"] = [_exact(low), _exact(high), {places[v]: _exact(a) for v, a in terms.items()}]
        yield found, dict(zip(found, _parts(instance, len(model.variables), len(model.rows)), strict=False)), convention


def _exact(value: Any) -> Fraction | None:
    """Return a number as a fraction: 0.1 is 1/10; None if it is infinite."""
    return None if abs(value) == math.inf else Fraction(repr(value) if type(value) is float else value)


def _parts(instance: Mapping[str, Any], width: int, height: int) -> Iterator[Any]:
    """Yield sense, offset, numbers of variables and rows, variables and rows, without copies of variables.

    A copy has no cost and the same bounds as its original, and a row of its own states that both are equal.
    """
    variables = [
        [exact(cost), *sides((low, high)), is_integer] for cost, low, high, is_integer in instance["variables"]
    ]
    rows: list[list[Any]] = [[*sides(row[:2]), {integer(v): exact(a) for v, a in row[2]}] for row in instance["rows"]]
    original = list(range(len(variables)))
    if len(rows) - height == len(variables) - width:  # else the numbers differ
        for copy, row in zip(range(width, len(variables)), rows[height:], strict=True):
            first = min(row[2], default=copy)
            if first >= width or row != [0, 0, {first: 1, copy: -1}] or variables[copy] != [0, *variables[first][1:]]:
                raise WrongError(f"variable {copy} is not in the file and not a copy")
            original[copy] = first
        del variables[width:], rows[height:]
    yield from (instance["sense"], exact(instance["offset"]), (len(variables), len(rows)))
    yield from variables
    for low, high, terms in rows:
        sums = dict[int, Fraction]()
        for v, a in terms.items():
            sums[original[v]] = sums.get(original[v], Fraction(0)) + a
        yield [low, high, {v: a for v, a in sums.items() if a}]
