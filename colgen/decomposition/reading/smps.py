"""Two-stage stochastic programs in SMPS: a core model, its stages, and scenarios (Birge et al., 1987).

The extensive form is a compact model with one block per scenario: the first stage's variables are in the master, and
the second stage's rows and variables are repeated for each scenario, with costs times its probability.

Source: J. R. Birge, M. A. H. Dempster, H. I. Gassmann, E. A. Gunn, A. J. King, S. W. Wallace, *A standard input format
for multiperiod stochastic linear programs*, COAL Newsletter 17 (1987).
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import InputError
from colgen.core.files import read_text
from colgen.core.sense import Sense
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Floats, Names, Partition
from colgen.model.rows import Rows
from colgen.solvers.linear.named import ModelError, NamedProgram, read_program

_MOST_SCENARIOS = 100_000
"""Maximum number of scenarios."""

_TOTAL = 1e-4
"""Maximum distance of the sum of probabilities from 1; files round them."""

Change = tuple[str, int, int, float]
"""``("cost", 0, column)``, ``("side", row, 0)`` or ``("entry", row, column)``, and a value."""


@dataclass(frozen=True)
class Scenario:
    """A scenario: its probability, and the values that replace those of the core model."""

    name: str
    probability: float
    changes: tuple[Change, ...]


def read_smps(path: Path) -> CompactModel:
    """Return the extensive form of a two-stage program, with one block per scenario.

    ``path`` is the core file; the files of stages (``.tim``) and scenarios (``.sto``) have the same name.

    Raises
    ------
    InputError
        If a file is missing or malformed, the program has other than two stages, a first-stage row has second-stage
        variables, or there are too many combinations of independent values.
    """
    core = _core(path)
    first_columns, first_rows = _stages(path.with_suffix(".tim"), core)
    scenarios = _Stochastic(path.with_suffix(".sto"), core, _objective_name(path), (first_columns, first_rows)).read()
    return _extensive_form(path.stem, core, (first_columns, first_rows), scenarios)


def _core(path: Path) -> NamedProgram:
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, f"{path.stem}.mps")
        plain.write_text("\n".join(map(_without_infinite_bound, read_text(path).splitlines())) + "\n")
        try:
            return read_program(plain)
        except ModelError as error:
            raise InputError(f"{path}: {error}") from None


def _without_infinite_bound(line: str) -> str:
    """Return a line in which an infinite upper bound of an integer variable, that HiGHS refuses is a lower bound 0."""
    words = line.split()
    if len(words) == 4 and words[0] == "UI" and words[3].lower() in ("1e30", "1e+30", "1.0e30", "1e+300", "inf"):
        return f" LI {words[1]} {words[2]} 0"
    return line


def _fail(path: Path, line: int, message: str) -> NoReturn:
    raise InputError(f"{path}, line {line}: {message}")


def _lines(path: Path) -> Iterator[tuple[int, bool, list[str]]]:
    """Yield the number of each line, whether it begins a section, and its words, without comments and blank lines."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip() and not line.startswith("*"):
            yield number, not line[0].isspace(), line.split()


def _objective_name(path: Path) -> str:
    """Return the name of the first free row of a core file."""
    section = ""
    for _, begins, words in _lines(path):
        if begins:
            section = words[0].upper()
        elif section == "ROWS" and words[0].upper() == "N":
            return words[1]
    raise InputError(f"{path}: expected an objective, a row of type N")


def _stages(path: Path, core: NamedProgram) -> tuple[int, int]:
    """Return the numbers of first-stage variables and rows."""
    starts: list[tuple[int, list[str]]] = []
    for line, begins, words in _lines(path):
        if begins:
            if words[0].upper() == "PERIODS" and [word.upper() for word in words[1:2]] == ["EXPLICIT"]:
                _fail(path, line, "expected implicit periods, named by their first variable and row, not EXPLICIT")
            continue
        if len(words) != 3:
            _fail(path, line, f"expected a variable, a row and a period, not {' '.join(words)!r}")
        starts.append((line, words))
    if len(starts) != 2:
        raise InputError(f"{path}: expected two periods, not {len(starts)}")
    line, (column, row, _) = starts[1]
    if column not in core.columns:
        _fail(path, line, f"the core model has no variable {column!r}")
    if row not in core.rows:
        _fail(path, line, f"the core model has no row {row!r}")
    return core.columns.index(column), core.rows.index(row)


# --- scenarios -------------------------------------------------------------------------------------------------------


class _Stochastic:
    """Reads a ``.sto`` file: sections INDEP, BLOCKS and SCENARIOS, whose values REPLACE, ADD or MULTIPLY."""

    def __init__(self, path: Path, core: NamedProgram, objective: str, first: tuple[int, int]) -> None:
        self._path, self._core, self._objective, self._first = path, core, objective, first
        self._columns = {name: k for k, name in enumerate(core.columns)}
        self._rows = {name: k for k, name in enumerate(core.rows)}
        self._matrix = sparse.csr_array(core.program.matrix)
        self._independent: dict[object, list[tuple[float, list[Change]]]] = {}
        self._scenarios: dict[str, tuple[float, list[Change]]] = {}

    def read(self) -> list[Scenario]:
        """Return the scenarios in order."""
        section, mode = "", "REPLACE"
        changes: list[Change] = []
        for line, begins, words in _lines(self._path):
            upper = [word.upper() for word in words]
            if begins:
                section, mode = upper[0], next((each for each in upper[1:] if each in _MODES), "REPLACE")
                if section == "ENDATA":
                    break
                if section not in ("STOCH", "INDEP", "BLOCKS", "SCENARIOS"):
                    _fail(self._path, line, f"expected INDEP, BLOCKS or SCENARIOS, not {words[0]!r}")
                if section != "STOCH" and {"NORMAL", "UNIFORM", "GAMMA", "BETA", "LOGNORM", "SUB", "LINTR"} & {*upper}:
                    _fail(self._path, line, f"expected discrete values, not {' '.join(words[1:])}")
            elif section == "INDEP":
                self._add_independent(line, words, mode)
            elif section in ("BLOCKS", "SCENARIOS") and upper[0] in ("BL", "SC"):
                changes = self._begin(line, words, section)
            elif section in ("BLOCKS", "SCENARIOS"):
                if not (self._independent or self._scenarios):
                    _fail(self._path, line, f"expected a line that begins a member of {section}")
                for row, value in self._pairs(line, words):
                    changes.append(self._change(line, words[0], row, value, mode))
            else:
                _fail(self._path, line, "expected a section before the first value")
        return self._product() if self._independent else self._listed()

    def _begin(self, line: int, words: Sequence[str], section: str) -> list[Change]:
        """Begin a scenario or the value of a block; return its list of changes."""
        if section == "BLOCKS":
            if len(words) != 4:
                _fail(self._path, line, "expected BL, a block, a period and a probability")
            values = self._independent.setdefault(("block", words[1]), [])
            inherited = list(values[0][1]) if values else []  # only entries unlike the first value's are listed again
            values.append((self._number(line, words[3]), inherited))
            return values[-1][1]
        if len(words) not in (4, 5):
            _fail(self._path, line, "expected SC, a scenario, its parent, a probability and a period")
        name, parent = words[1], words[2].strip("'")
        if name in self._scenarios:
            _fail(self._path, line, f"scenario {name!r} is stated twice")
        if parent.upper() != "ROOT" and parent not in self._scenarios:
            _fail(self._path, line, f"scenario {name!r} has the unknown parent {parent!r}")
        of_parent = [] if parent.upper() == "ROOT" else list(self._scenarios[parent][1])
        self._scenarios[name] = (self._number(line, words[3]), of_parent)
        return of_parent

    def _add_independent(self, line: int, words: Sequence[str], mode: str) -> None:
        if len(words) not in (4, 5):
            _fail(self._path, line, "expected a variable, a row, a value and a probability")
        change = self._change(line, words[0], words[1], self._number(line, words[2]), mode)
        values = self._independent.setdefault(change[:3], [])
        values.append((self._number(line, words[-1]), [change]))

    def _pairs(self, line: int, words: Sequence[str]) -> Iterator[tuple[str, float]]:
        if len(words) not in (3, 5):
            _fail(self._path, line, "expected a variable, and one or two pairs of a row and a value")
        for k in range(1, len(words), 2):
            yield words[k], self._number(line, words[k + 1])

    def _number(self, line: int, word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            _fail(self._path, line, f"expected a number, not {word!r}")
        if not math.isfinite(value):
            _fail(self._path, line, f"expected a finite number, not {word!r}")
        return value

    def _change(self, line: int, column: str, row: str, value: float, mode: str) -> Change:
        """Return the value that replaces one of the core model; any name that is no variable means the sides."""
        program, k = self._core.program, self._columns.get(column)
        if row == self._objective:
            if k is None:
                _fail(self._path, line, "expected a cost of a variable, not a constant of the objective")
            return "cost", 0, k, _MODES[mode](float(program.costs[k]), value)
        r = self._rows.get(row)
        if r is None:
            _fail(self._path, line, f"the core model has no row {row!r}")
        if r < self._first[1]:
            _fail(self._path, line, f"row {row!r} belongs to the first stage, expected values of the second")
        if k is not None:
            return "entry", r, k, _MODES[mode](float(self._matrix[r, k]), value)
        low, high = float(program.row_lower[r]), float(program.row_upper[r])
        if low != high and math.isfinite(low) and math.isfinite(high):
            _fail(self._path, line, f"row {row!r} is a range, expected values of rows with one side")
        return "side", r, 0, _MODES[mode](low if math.isfinite(low) else high, value)

    def _listed(self) -> list[Scenario]:
        found = [Scenario(name, share, tuple(changes)) for name, (share, changes) in self._scenarios.items()]
        if not found:
            raise InputError(f"{self._path}: expected at least one scenario")
        self._check_total([each.probability for each in found], "the scenarios")
        return found

    def _product(self) -> list[Scenario]:
        """Return all combinations of independent values."""
        if self._scenarios:
            raise InputError(f"{self._path}: expected either scenarios or independent values, not both")
        for key, values in self._independent.items():
            self._check_total([probability for probability, _ in values], str(key))
        count = math.prod(len(values) for values in self._independent.values())
        if count > _MOST_SCENARIOS:
            raise InputError(
                f"{self._path}: the independent values have {count:,} combinations, expected at most "
                f"{_MOST_SCENARIOS:,}; draw a sample of scenarios"
            )
        found = []
        for number, chosen in enumerate(itertools.product(*self._independent.values()), 1):
            probability = math.prod(each for each, _ in chosen)
            changes = tuple(change for _, changes in chosen for change in changes)
            found.append(Scenario(f"SCEN{number}", probability, changes))
        return found

    def _check_total(self, probabilities: Sequence[float], what: str) -> None:
        total = math.fsum(probabilities)
        if min(probabilities) < 0.0 or abs(total - 1.0) > _TOTAL:
            raise InputError(f"{self._path}: the probabilities of {what} sum to {total:.6g}, expected 1")


_MODES = {
    "REPLACE": lambda old, new: new,
    "ADD": lambda old, new: old + new,
    "MULTIPLY": lambda old, new: old * new,
}


# --- the extensive form ----------------------------------------------------------------------------------------------


def _extensive_form(
    name: str, core: NamedProgram, first: tuple[int, int], scenarios: Sequence[Scenario]
) -> CompactModel:
    """Return the program with the second stage repeated for each scenario."""
    program, (columns, rows) = core.program, first
    matrix = sparse.csr_array(program.matrix)
    own_rows, own_columns = matrix.shape[0] - rows, matrix.shape[1] - columns
    if matrix[:rows, columns:].nnz:
        row = int(sparse.coo_array(matrix[:rows, columns:]).row[0])
        raise InputError(f"row {core.rows[row]!r} of the first stage has variables of the second, expected none")
    count = len(scenarios)
    second = sparse.coo_array(matrix[rows:, :])
    places = {(int(r), int(k)): p for p, (r, k) in enumerate(zip(second.row, second.col, strict=True))}
    for scenario in scenarios:
        for kind, r, k, _ in scenario.changes:
            if kind == "entry":
                places.setdefault((r - rows, k), len(places))
    r_of, k_of = (np.array(list(each), dtype=np.int64) for each in zip(*places, strict=True))
    data = np.tile(np.append(second.data, np.zeros(len(places) - second.nnz)), (count, 1))
    costs = np.tile(program.costs[columns:], (count, 1))
    lower, upper = (np.tile(sides[rows:], (count, 1)) for sides in (program.row_lower, program.row_upper))
    for s, scenario in enumerate(scenarios):
        for kind, r, k, value in scenario.changes:
            if kind == "entry":
                data[s, places[r - rows, k]] = value
            elif kind == "cost":
                if k < columns:
                    raise InputError(f"scenario {scenario.name!r}: variable {core.columns[k]!r} is of the first stage")
                costs[s, k - columns] = value
            else:
                _set_side(lower[s], upper[s], r - rows, value)
    shift_rows = rows + own_rows * np.arange(count)[:, None]
    shift_columns = np.where(k_of < columns, 0, own_columns * np.arange(count)[:, None])
    top = sparse.coo_array(matrix[:rows, :])
    entries = (
        np.concatenate([top.data, data.ravel()]),
        (
            np.concatenate([top.row, (r_of + shift_rows).ravel()]),
            np.concatenate([top.col, (k_of + shift_columns).ravel()]),
        ),
    )
    whole = sparse.csc_array(entries, shape=(rows + count * own_rows, columns + count * own_columns))
    whole.eliminate_zeros()
    probabilities = np.array([scenario.probability for scenario in scenarios])
    labels = [scenario.name for scenario in scenarios]
    variables = _names(core.columns, columns, labels)
    constraints = _names(core.rows, rows, labels)
    integer = _stacked(core.integer, columns, count)
    formulation = Rows.of_arrays(
        Sense.MAXIMIZE if program.maximize else Sense.MINIMIZE,
        whole,
        columns=(
            [("variable", each) for each in variables],
            np.append(program.costs[:columns], costs * probabilities[:, None]),
            _stacked(program.lower, columns, count),
            _stacked(program.upper, columns, count),
        ),
        rows=(
            [("constraint", each) for each in constraints],
            np.append(program.row_lower[:rows], lower),
            np.append(program.row_upper[:rows], upper),
        ),
        integer=integer,
        artificial=np.zeros(len(integer), dtype=np.bool_),
        offset=program.offset,
    )
    numbers = np.arange(count)
    blocks = Partition(
        tuple(scenario.name for scenario in scenarios),
        np.append(np.full(columns, MASTER), np.repeat(numbers, own_columns)),
        np.append(np.full(rows, MASTER), np.repeat(numbers, own_rows)),
    )
    return CompactModel(formulation, Names(name, variables, constraints), blocks)


def _names(names: tuple[str, ...], first: int, scenarios: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the first stage, and those of the second with each scenario."""
    return (*names[:first], *(f"{name}[{scenario}]" for scenario in scenarios for name in names[first:]))


def _stacked(array: NDArray[Any], first: int, count: int) -> NDArray[Any]:
    """Return an array of the core model with its second stage repeated."""
    return np.append(array[:first], np.tile(array[first:], count))


def _set_side(lower: Floats, upper: Floats, row: int, value: float) -> None:
    """Set the finite sides of a row; both are equal in an equation."""
    if math.isfinite(lower[row]):
        lower[row] = value
    if math.isfinite(upper[row]):
        upper[row] = value
