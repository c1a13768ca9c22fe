"""Files of vehicle routing: Solomon's text, TSPLIB's ``.vrp``, and answers as ``.sol``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from colgen import InputError
from colgen.core.files import read_text, write_text
from problems.vehicle_routing.instance import Instance, Route, euclidean

Line = tuple[int, str]
"""Its number in the file, and its text."""


def read(path: Path | str, *, convention: str | None = None, customers: int | None = None) -> Instance:
    """Read Solomon's text format, or TSPLIB's for capacitated vehicle routing.

    Parameters
    ----------
    convention
        How Euclidean distances are rounded (:data:`~problems.vehicle_routing.instance.CONVENTIONS`); None: as the
        literature does, truncated to one decimal where there are time windows, else whole.
    customers
        Only the first so many: Solomon's instances of 25 and 50 customers are made so.

    Raises
    ------
    InputError
        With file and line, where the file is something else.
    """
    path = Path(path)
    lines = [(number, line.strip()) for number, line in enumerate(read_text(path).splitlines(), 1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: expected Solomon's text or TSPLIB's, the file is empty")
    is_tsplib = any(re.match(r"(NAME|TYPE|DIMENSION|COMMENT)\s*:", line) for _, line in lines[:10])
    try:
        found = _tsplib(path, lines, convention) if is_tsplib else _solomon(path, lines, convention)
        return found if customers is None else found.first(customers)
    except InputError as error:
        raise error if str(error).startswith(str(path)) else InputError(f"{path}: {error}") from None


# --- Solomon ---------------------------------------------------------------------------------------------------------


def _solomon(path: Path, lines: Sequence[Line], convention: str | None) -> Instance:
    numbers = [(number, _numbers(line)) for number, line in lines]
    records = [(number, record) for number, record in numbers if record]
    if not records or len(records[0][1]) != 2:
        raise InputError(
            f"{path}: expected Solomon's text (a line with vehicles and capacity, then one of 7 numbers a location) "
            "or TSPLIB's (NAME, TYPE, DIMENSION, ...)"
        )
    vehicles, capacity = records[0][1]
    first = records[1][0] if len(records) > 1 else math.inf
    rows = [(number, row) for number, row in numbers if number >= first]  # what is above are names of columns
    for number, row in rows:
        if not row:
            raise InputError(f"{path}, line {number}: expected the 7 numbers of a location, not words")
        if len(row) != 7:
            raise InputError(
                f"{path}, line {number}: expected a location's number, coordinates, demand, ready time, due date and "
                f"service time, not {len(row)} numbers"
            )
    for expected, (number, row) in enumerate(rows):
        if row[0] != expected:
            raise InputError(f"{path}, line {number}: expected location {expected}, not {row[0]:g}")
    places = tuple((row[1], row[2]) for _, row in rows)
    return Instance(
        euclidean(places, convention or "truncated"),
        tuple(row[3] for _, row in rows),  # type: ignore[misc]  # whole numbers, which the instance looks at
        capacity,  # type: ignore[arg-type]
        tuple((row[4], row[5]) for _, row in rows),
        tuple(row[6] for _, row in rows),
        vehicles,  # type: ignore[arg-type]
        places,
        lines[0][1] if not numbers[0][1] else path.stem,
    )


def _numbers(line: str) -> list[float]:
    """The numbers of a line; none if there is anything else in it."""
    try:
        return [float(word) for word in line.split()]
    except ValueError:
        return []


# --- TSPLIB ----------------------------------------------------------------------------------------------------------

_UNKNOWN = ("DISTANCE", "SERVICE_TIME")


def _tsplib(path: Path, lines: Sequence[Line], convention: str | None) -> Instance:
    header, sections = _parts(path, lines)
    for word, value, number in header.values():
        if word == "TYPE" and value != "CVRP":
            raise InputError(f"{path}, line {number}: expected TYPE : CVRP, not {value}")
        if word in _UNKNOWN:
            raise InputError(f"{path}, line {number}: routes limited by {word} are not read")
    count = _header(path, header, "DIMENSION")
    kind = header["EDGE_WEIGHT_TYPE"][1] if "EDGE_WEIGHT_TYPE" in header else "EUC_2D"
    places = None
    if "NODE_COORD_SECTION" in sections:
        rows = _rows(path, sections["NODE_COORD_SECTION"], 3, count, "NODE_COORD_SECTION")
        places = tuple((row[1], row[2]) for row in rows)
    if kind == "EXPLICIT":
        shape = header["EDGE_WEIGHT_FORMAT"][1] if "EDGE_WEIGHT_FORMAT" in header else "FULL_MATRIX"
        distances = _explicit(path, sections.get("EDGE_WEIGHT_SECTION", []), count, shape)
    elif kind == "EUC_2D" and places is not None:
        distances = euclidean(places, convention or "whole")
    else:
        raise InputError(
            f"{path}: expected EDGE_WEIGHT_TYPE EUC_2D with NODE_COORD_SECTION, or EXPLICIT, not {kind}"
            + ("" if places is not None else " without coordinates")
        )
    demands = [row[1] for row in _rows(path, sections.get("DEMAND_SECTION", []), 2, count, "DEMAND_SECTION")]
    depots = [number for _, line in sections.get("DEPOT_SECTION", []) for number in _numbers(line)]
    if depots not in ([1.0], [1.0, -1.0]):
        raise InputError(f"{path}: expected the depot 1 and the end -1 in DEPOT_SECTION, not {depots}")
    name = header["NAME"][1] if "NAME" in header else path.stem
    return Instance(
        distances,
        tuple(demands),  # type: ignore[arg-type]
        _header(path, header, "CAPACITY"),
        vehicles=_trucks(header, name),
        places=places,
        name=name,
    )


_Header = dict[str, tuple[str, str, int]]


def _parts(path: Path, lines: Sequence[Line]) -> tuple[_Header, dict[str, list[Line]]]:
    """Header entries ``KEY : VALUE`` with their lines, and the lines of each section."""
    header: _Header = {}
    sections: dict[str, list[Line]] = {}
    current: list[Line] | None = None
    for number, line in lines:
        if line == "EOF":
            break
        if re.fullmatch(r"[A-Z_]+_SECTION\s*:?", line):
            current = sections.setdefault(line.rstrip(": "), [])
        elif current is not None and not line[0].isalpha():
            current.append((number, line))
        elif ":" in line:
            word, _, value = line.partition(":")
            header[word.strip()] = (word.strip(), value.strip(), number)
            current = None
        else:
            raise InputError(f"{path}, line {number}: expected KEY : VALUE or a section, not {line[:40]!r}")
    return header, sections


def _header(path: Path, header: _Header, word: str) -> int:
    if word not in header:
        raise InputError(f"{path}: expected a line {word} : a whole number")
    _, value, number = header[word]
    if not re.fullmatch(r"[1-9][0-9]{0,12}", value):
        raise InputError(f"{path}, line {number}: expected {word} : a whole number from 1, not {value[:40]!r}")
    return int(value)


def _rows(path: Path, lines: Sequence[Line], length: int, count: int, section: str) -> list[list[float]]:
    """Lines of numbers that begin with 1, 2, 3, ..."""
    if len(lines) != count:
        raise InputError(f"{path}: expected {count} lines (DIMENSION) in {section}, not {len(lines)}")
    found = []
    for expected, (number, line) in enumerate(lines, 1):
        row = _numbers(line)
        if len(row) != length or row[0] != expected:
            raise InputError(
                f"{path}, line {number}: expected {length} numbers, the first {expected}, not {line[:40]!r}"
            )
        found.append(row)
    return found


def _explicit(path: Path, lines: Iterable[Line], count: int, shape: str) -> tuple[tuple[float, ...], ...]:
    """A matrix of distances in one of TSPLIB's formats."""
    places = {
        "FULL_MATRIX": [(i, j) for i in range(count) for j in range(count)],
        "LOWER_ROW": [(i, j) for i in range(count) for j in range(i)],
        "LOWER_DIAG_ROW": [(i, j) for i in range(count) for j in range(i + 1)],
        "UPPER_ROW": [(i, j) for i in range(count) for j in range(i + 1, count)],
        "UPPER_DIAG_ROW": [(i, j) for i in range(count) for j in range(i, count)],
    }.get(shape)
    if places is None:
        raise InputError(f"{path}: EDGE_WEIGHT_FORMAT {shape} is not read: expected FULL_MATRIX, LOWER_ROW, UPPER_ROW")
    numbers = [value for _, line in lines for value in _numbers(line)]
    if len(numbers) != len(places):
        raise InputError(f"{path}: expected {len(places)} distances ({shape}), not {len(numbers)}")
    matrix = [[0.0] * count for _ in range(count)]
    for (i, j), value in zip(places, numbers, strict=True):
        matrix[i][j] = value
        if shape != "FULL_MATRIX":
            matrix[j][i] = value
    return tuple(map(tuple, matrix))


def _trucks(header: _Header, name: str) -> int | None:
    """The number of vehicles: of its own line, of the comment (``No of trucks: 5``), or of the name (``A-n32-k5``)."""
    if "VEHICLES" in header and header["VEHICLES"][1].isdigit():
        return int(header["VEHICLES"][1])
    comment = header["COMMENT"][1] if "COMMENT" in header else ""
    found = re.search(r"trucks\s*:\s*([1-9][0-9]*)", comment) or re.search(r"-k([1-9][0-9]*)$", name)
    return None if found is None else int(found.group(1))


def write(instance: Instance, path: Path | str) -> None:
    """Write Solomon's text where there are time windows and coordinates, else TSPLIB's.

    Coordinates are read again as distances are rounded by convention: an instance of other distances is written with
    all of them.

    Raises
    ------
    InputError
        If there are time windows, and distances that the coordinates do not give.
    """
    write_text(path, "\n".join(_as_tsplib(instance) if instance.windows is None else _as_solomon(instance)) + "\n")


def _as_solomon(instance: Instance) -> Iterator[str]:
    assert instance.windows is not None
    assert instance.service is not None
    if instance.places is None or euclidean(instance.places, "truncated") != instance.distances:
        raise InputError("Solomon's text holds coordinates whose distances are truncated to one decimal, no others")
    yield from (instance.name or "unnamed", "", "VEHICLE", "NUMBER     CAPACITY")
    yield f"{instance.most:4} {instance.capacity:11}"
    yield from ("", "CUSTOMER", "CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME", "")
    for i, (x, y) in enumerate(instance.places):
        numbers = (x, y, instance.demands[i], *instance.windows[i], instance.service[i])
        yield f"{i:5} " + " ".join(f"{_number(value):>10}" for value in numbers)


def _as_tsplib(instance: Instance) -> Iterator[str]:
    count, places = len(instance.demands), instance.places
    planar = places is not None and euclidean(places, "whole") == instance.distances
    yield f"NAME : {instance.name or 'unnamed'}"
    yield from ("TYPE : CVRP", f"DIMENSION : {count}", f"CAPACITY : {instance.capacity}")
    if instance.vehicles is not None:
        yield f"VEHICLES : {instance.vehicles}"
    yield f"EDGE_WEIGHT_TYPE : {'EUC_2D' if planar else 'EXPLICIT'}"
    if not planar:
        yield from ("EDGE_WEIGHT_FORMAT : FULL_MATRIX", "EDGE_WEIGHT_SECTION")
        yield from (" ".join(map(_number, row)) for row in instance.distances)
    if places is not None:
        yield "NODE_COORD_SECTION"
        yield from (f"{i} {_number(x)} {_number(y)}" for i, (x, y) in enumerate(places, 1))
    yield "DEMAND_SECTION"
    yield from (f"{i} {q}" for i, q in enumerate(instance.demands, 1))
    yield from ("DEPOT_SECTION", "1", "-1", "EOF")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


# --- answers ---------------------------------------------------------------------------------------------------------


def solution_lines(instance: Instance, routes: Iterable[Sequence[int]]) -> list[str]:
    """An answer as ``.sol`` files hold it: ``Route #1: 5 2 7`` and the cost."""
    routes = list(routes)
    lines = [f"Route #{k}: {' '.join(map(str, route))}" for k, route in enumerate(routes, 1)]
    return [*lines, f"Cost {_number(instance.total(routes))}"]


def write_solution(instance: Instance, routes: Iterable[Sequence[int]], path: Path | str) -> None:
    """Write an answer as a ``.sol`` file."""
    write_text(path, "\n".join(solution_lines(instance, routes)) + "\n")


def read_solution(path: Path | str) -> list[Route]:
    """The routes of a ``.sol`` file; :meth:`Instance.check` says what they are worth.

    Raises
    ------
    InputError
        With file and line, where the file is something else.
    """
    routes: list[Route] = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not words or words[0].lower() == "cost":
            continue
        found = re.fullmatch(r"\s*[Rr]oute\s*#?\d+\s*:((?:\s+\d+)*)\s*", line)
        if found is None:
            raise InputError(f"{path}, line {number}: expected 'Route #1: 5 2 7' or 'Cost 784', not {line[:40]!r}")
        if found.group(1).strip():
            routes.append(tuple(map(int, found.group(1).split())))
    return routes
