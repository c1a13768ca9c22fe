"""Read and write Solomon's text format, TSPLIB's ``.vrp`` files, and ``.sol`` files of routes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from colgen import InputError
from colgen.core.files import read_text, write_text
from colgen.core.text import plural
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance, euclidean

Line = tuple[int, str]
"""Line number and text."""


def read(
    path: Path | str, *, distances: str | None = None, customers: int | None = None, vehicles: str | int = "file"
) -> RoutingInstance:
    """Read an instance in Solomon's text format or in TSPLIB format, with or without time windows and service times.

    TSPLIB sections and fields that are not supported are rejected.

    Parameters
    ----------
    distances
        Rounding of Solomon's distances or of EUC_2D (:data:`~colgen.problems.vehicle_routing.instance.CONVENTIONS`).
        None: as in the literature, Solomon's are truncated to one decimal, and TSPLIB's are rounded to integers.
    customers
        Number of customers to keep, from the first; Solomon's instances with 25 and 50 customers are built this way.
    vehicles
        Maximum number of routes.  ``"file"``: the limit in the file, if any.  ``"name"``: the number k in a name like
        A-n32-k5.  In the sets A, B, E, F, M and P this number is a limit.  In set X it is the smallest number of routes
        that the demands allow, so that there is no limit.  Or a number.

    Raises
    ------
    InputError
        If the file is malformed; the message names the file and the line.
    """
    path = Path(path)
    lines = [(number, line.strip()) for number, line in enumerate(read_text(path).splitlines(), 1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty: expected Solomon's text or TSPLIB's")
    is_tsplib = any(re.match(_KEY + r"\s*:|" + _SECTION, line, re.IGNORECASE) for _, line in lines[:10])
    try:
        found = _tsplib(path, lines, distances) if is_tsplib else _solomon(path, lines, distances)
        count = found.num_customers
        if customers is not None:
            found = found.first(customers)
            found = replace(found, reading=f"{found.reading}; the first {customers} of {count} customers")
        return _limit_vehicles(found, vehicles)
    except InputError as error:
        raise error if str(error).startswith(str(path)) else InputError(f"{path}: {error}") from None


def _limit_vehicles(instance: RoutingInstance, vehicles: str | int) -> RoutingInstance:
    """Return the instance with the requested vehicle limit and a note on where the limit comes from."""
    stated, name = instance.vehicles, re.sub(r"\.\d+$", "", instance.name)
    named = re.search(r"-k([1-9][0-9]*)$", name)
    if vehicles == "file":
        most, source = stated, "as the file states"
        if most is None:
            source = "the file states no number"
            if named:
                source += f", the {named.group(1)} in its name is not taken as a limit"
    elif vehicles == "name":
        if not named or not re.match("[ABEFMPX]-n", name):
            raise InputError(
                "vehicles=name: expected a name as of the sets A, B, E, F, M, P and X, like A-n32-k5, not "
                f"{name[:40]!r}"
            )
        most, source = int(named.group(1)), f"the number in the name {name}"
        if name.startswith("X"):
            most, source = None, f"the {most} in the name {name} is the least number of routes that the demands allow"
    elif isinstance(vehicles, int):
        most, source = vehicles, f"vehicles={vehicles}" + ("" if stated is None else f", the file states {stated}")
    else:
        raise InputError(f"vehicles: expected 'file', 'name' or a number, not {vehicles[:20]!r}")
    limit = "any number of vehicles" if most is None else f"at most {plural(most, 'vehicle')}"
    return replace(instance, vehicles=most, reading=f"{limit} ({source}); {instance.reading}")


# --- Solomon ---------------------------------------------------------------------------------------------------------


def _solomon(path: Path, lines: Sequence[Line], convention: str | None) -> RoutingInstance:
    numbers = [(number, _numbers(line)) for number, line in lines]
    records = [(number, record) for number, record in numbers if record]
    if not records or len(records[0][1]) != 2:
        raise InputError(
            f"{path}: expected Solomon's text (a line with vehicles and capacity, then one of 7 numbers a location) "
            "or TSPLIB's (NAME, TYPE, DIMENSION, ...)"
        )
    vehicles, capacity = records[0][1]
    first = records[1][0] if len(records) > 1 else math.inf
    rows = [(number, row) for number, row in numbers if number >= first]  # lines above are column headings
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
    return RoutingInstance(
        euclidean(places, convention or "truncated"),
        tuple(row[3] for _, row in rows),  # type: ignore[misc]  # the instance checks that they are integers
        capacity,  # type: ignore[arg-type]
        tuple((row[4], row[5]) for _, row in rows),
        tuple(row[6] for _, row in rows),
        vehicles,  # type: ignore[arg-type]
        places,
        lines[0][1] if not numbers[0][1] else path.stem,
        reading=f"{_ROUNDING_WORDS[convention or 'truncated']} distances",
    )


def _numbers(line: str) -> list[float]:
    """Return the numbers of a line; empty if the line holds anything else."""
    try:
        return [float(word) for word in line.split()]
    except ValueError:
        return []


# --- TSPLIB ----------------------------------------------------------------------------------------------------------

_KEY, _SECTION = r"[A-Z][A-Z0-9_]*", r"[A-Z][A-Z0-9_]*_SECTION\b"

_TYPES = ("CVRP", "ACVRP", "CVRPTW", "VRPTW")

_FIELDS = (
    *("NAME", "COMMENT", "TYPE", "DIMENSION", "CAPACITY", "VEHICLES", "SERVICE_TIME"),
    *("EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE"),
)
_SECTIONS = (
    *("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DEMAND_SECTION", "DEPOT_SECTION"),
    *("TIME_WINDOW_SECTION", "SERVICE_TIME_SECTION", "DISPLAY_DATA_SECTION"),
)
"""Supported sections; any other would change the problem."""


class _File:
    """A TSPLIB file: fields ``KEY : VALUE`` with their line numbers, and the lines of each section."""

    def __init__(self, path: Path, lines: Sequence[Line]) -> None:
        self.path = path
        self.fields: dict[str, tuple[str, int]] = {}
        self.sections: dict[str, list[Line]] = {}
        self.count, self.base = 0, 1
        current: list[Line] | None = None
        ended = False
        for number, line in lines:
            if ended:
                raise self.fault(number, f"expected nothing after EOF, not {line[:40]!r}")
            word = line.split(":")[0].strip().upper()
            if word == "EOF":
                ended = True
            elif re.fullmatch(_SECTION, word) and line.rstrip(": ").upper() == word:
                if word not in _SECTIONS:
                    raise self.fault(number, f"{word} is not supported; ignoring it would change the problem")
                if word in self.sections:
                    raise self.fault(number, f"expected {word} once, it appears twice")
                current = self.sections[word] = []
            elif current is not None and not line[0].isalpha():
                current.append((number, line))
            elif ":" in line:
                if word not in _FIELDS:
                    raise self.fault(number, f"{word[:40]} is not supported; ignoring it would change the problem")
                if word in self.fields:
                    raise self.fault(number, f"expected {word} once, it appears twice")
                self.fields[word] = line.partition(":")[2].strip(), number
                current = None
            else:
                raise self.fault(number, f"expected KEY : VALUE or a section, not {line[:40]!r}")

    def fault(self, line: int, what: str) -> InputError:
        return InputError(f"{self.path}, line {line}: {what}")

    def word(self, key: str, default: str) -> str:
        """Return a field's value in upper case."""
        return self.fields[key][0].upper() if key in self.fields else default

    def whole(self, key: str) -> int:
        """Return a field's value, a positive integer."""
        if key not in self.fields:
            raise InputError(f"{self.path}: expected a line {key} : a positive integer")
        value, number = self.fields[key]
        if not re.fullmatch(r"0*[1-9][0-9]{0,12}(\.0*)?", value):
            raise self.fault(number, f"expected {key} : a positive integer, not {value[:40]!r}")
        return int(float(value))

    def rows(self, section: str, length: int) -> list[list[float]]:
        """Return a section's lines, one per location, without the location numbers (from 1, or from 0)."""
        lines = self.sections.get(section, [])
        if len(lines) != self.count:
            raise InputError(f"{self.path}: expected {self.count} lines (DIMENSION) in {section}, not {len(lines)}")
        found = []
        for expected, (number, line) in enumerate(lines, self.base):
            row = _numbers(line)
            if len(row) != length + 1 or row[0] != expected:
                raise self.fault(number, f"expected {length + 1} numbers, the first {expected}, not {line[:40]!r}")
            found.append(row[1:])
        return found


def _tsplib(path: Path, lines: Sequence[Line], convention: str | None) -> RoutingInstance:
    file = _File(path, lines)
    kind = file.word("TYPE", "CVRP")
    if kind not in _TYPES:
        raise file.fault(file.fields["TYPE"][1], f"expected TYPE : CVRP (or {', '.join(_TYPES[1:])}), not {kind[:40]}")
    file.count = file.whole("DIMENSION")
    demands = file.sections.get("DEMAND_SECTION", [])
    if demands and _numbers(demands[0][1])[:1] == [0.0]:
        file.base = 0
    distances, places, rounded = _distances(file, convention)
    loads = [row[0] for row in file.rows("DEMAND_SECTION", 1)]
    windows, service = _times(file, kind)
    depot = _depot(file)
    order = [depot, *(i for i in range(file.count) if i != depot)]
    reading = f"{rounded} distances"
    if depot:
        reading += (
            f"; location {depot + file.base} of the file is the depot, the others in their order are customers 1 to "
            f"{file.count - 1}"
        )
    elif file.base == 0:
        reading += "; locations are numbered from 0"
    return RoutingInstance(
        tuple(tuple(distances[i][j] for j in order) for i in order),
        tuple(loads[i] for i in order),  # type: ignore[misc]  # the instance checks that they are integers
        file.whole("CAPACITY"),
        None if windows is None else tuple(windows[i] for i in order),
        None if service is None else tuple(service[i] for i in order),
        vehicles=file.whole("VEHICLES") if "VEHICLES" in file.fields else None,
        places=None if places is None else tuple(places[i] for i in order),
        name=file.fields["NAME"][0] if "NAME" in file.fields else path.stem,
        reading=reading,
    )


def _depot(file: _File) -> int:
    """Return the depot's position among the locations."""
    section = file.sections.get("DEPOT_SECTION", [])
    depots = [value for _, line in section for value in _numbers(line) or [math.nan]]
    if len(depots) > 1 and depots[-1] == -1.0:
        depots.pop()
    first, last = file.base, file.base + file.count - 1
    if len(depots) != 1 or not depots[0].is_integer() or not first <= depots[0] <= last:
        found = " ".join(line for _, line in section)
        raise InputError(
            f"{file.path}: expected one depot, a location from {first} to {last}, and the end -1 in DEPOT_SECTION, not "
            f"{found[:40]!r}"
        )
    return int(depots[0]) - file.base


def _times(file: _File, kind: str) -> tuple[list[tuple[float, float]] | None, list[float] | None]:
    """Return time windows and service times; None for both if there are no windows."""
    stated = [word for word in ("SERVICE_TIME", "SERVICE_TIME_SECTION") if word in (*file.fields, *file.sections)]
    if "TIME_WINDOW_SECTION" not in file.sections:
        if kind in ("CVRPTW", "VRPTW"):
            raise InputError(f"{file.path}: expected a TIME_WINDOW_SECTION in a file of TYPE : {kind}")
        if stated:
            raise InputError(
                f"{file.path}: {stated[0]} has no effect without a TIME_WINDOW_SECTION: remove it or add the section"
            )
        return None, None
    windows = [(row[0], row[1]) for row in file.rows("TIME_WINDOW_SECTION", 2)]
    if len(stated) == 2:
        raise InputError(f"{file.path}: expected SERVICE_TIME or SERVICE_TIME_SECTION, not both")
    if stated == ["SERVICE_TIME_SECTION"]:
        service = [row[0] for row in file.rows("SERVICE_TIME_SECTION", 1)]
        depot = _depot(file)
        if service[depot]:
            raise InputError(f"{file.path}: expected the service time 0 at the depot, not {service[depot]:g}")
        return windows, service
    each = _numbers(file.fields["SERVICE_TIME"][0]) if stated else [0.0]
    if len(each) != 1:
        value, number = file.fields["SERVICE_TIME"]
        raise file.fault(number, f"expected SERVICE_TIME : a number, not {value[:40]!r}")
    depot = _depot(file)
    return windows, [0.0 if i == depot else each[0] for i in range(file.count)]


# --- distances of TSPLIB ---------------------------------------------------------------------------------------------

_ROUNDING_WORDS = {"truncated": "truncated", "whole": "rounded", "exact": "unrounded"}
"""How distances of each convention are described."""

Point = Sequence[float]


def _round(value: float) -> float:
    return math.floor(value + 0.5)


def _pseudo_euclidean(one: Point, other: Point) -> float:
    """Return TSPLIB's ATT distance."""
    exact = math.sqrt(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) / 10.0)
    return _round(exact) + (_round(exact) < exact)


def _geographical(one: Point, other: Point) -> float:
    """Return TSPLIB's GEO distance in kilometres on a sphere, from degrees and minutes; TSPLIB prescribes its π."""

    def radians(value: float) -> float:
        degrees = math.trunc(value)
        return 3.141592 * (degrees + 5.0 * (value - degrees) / 3.0) / 180.0

    (latitude, longitude), (other_latitude, other_longitude) = map(radians, one), map(radians, other)
    q1, q2 = math.cos(longitude - other_longitude), math.cos(latitude - other_latitude)
    q3 = math.cos(latitude + other_latitude)
    angle = math.acos(max(-1.0, min(1.0, 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3))))
    return float(math.trunc(6378.388 * angle + 1.0))


_WEIGHTS: dict[str, tuple[int, Callable[[Point, Point], float]]] = {
    "CEIL_2D": (2, lambda one, other: math.ceil(math.dist(one, other))),
    "FLOOR_2D": (2, lambda one, other: math.floor(math.dist(one, other))),
    "EUC_3D": (3, lambda one, other: _round(math.dist(one, other))),
    **{
        f"MAN_{k}D": (k, lambda one, other: _round(sum(abs(a - b) for a, b in zip(one, other, strict=True))))
        for k in (2, 3)
    },
    **{
        f"MAX_{k}D": (k, lambda one, other: max(_round(abs(a - b)) for a, b in zip(one, other, strict=True)))
        for k in (2, 3)
    },
    "ATT": (2, _pseudo_euclidean),
    "GEO": (2, _geographical),
}
"""By EDGE_WEIGHT_TYPE: number of coordinates, and the distance of two points, as TSPLIB defines them."""

Matrix = tuple[tuple[float, ...], ...]
Places = tuple[tuple[float, float], ...]


def _distances(file: _File, convention: str | None) -> tuple[Matrix, Places | None, str]:
    """Return the distances, the planar coordinates if any, and a word for the rounding."""
    kind = file.word("EDGE_WEIGHT_TYPE", "EXPLICIT" if "EDGE_WEIGHT_SECTION" in file.sections else "EUC_2D")
    if convention is not None and kind != "EUC_2D":
        raise InputError(f"distances={convention} needs EDGE_WEIGHT_TYPE EUC_2D, the file has {kind[:40]}")
    if kind != "EXPLICIT" and kind != "EUC_2D" and kind not in _WEIGHTS:
        raise InputError(
            f"{file.path}: expected EDGE_WEIGHT_TYPE EUC_2D, EXPLICIT, {', '.join(_WEIGHTS)}, not {kind[:40]}"
        )
    length = _WEIGHTS[kind][0] if kind in _WEIGHTS else 2
    points: list[list[float]] | None = None
    if "NODE_COORD_SECTION" in file.sections:
        if kind == "EXPLICIT" and file.word("NODE_COORD_TYPE", "TWOD_COORDS") != "TWOD_COORDS":
            points = None
        else:
            points = file.rows("NODE_COORD_SECTION", length)
    places = None if points is None or length > 2 else tuple((x, y) for x, y in points)
    if kind == "EXPLICIT":
        return _explicit(file), places, "explicit"
    if "EDGE_WEIGHT_SECTION" in file.sections:
        raise InputError(f"{file.path}: expected EDGE_WEIGHT_TYPE EXPLICIT with EDGE_WEIGHT_SECTION, not {kind}")
    if points is None:
        raise InputError(f"{file.path}: expected a NODE_COORD_SECTION, as EDGE_WEIGHT_TYPE is {kind}")
    if kind == "EUC_2D":
        assert places is not None
        convention = convention or "whole"
        return euclidean(places, convention), places, f"{_ROUNDING_WORDS[convention]} EUC_2D"
    euclidean([(point[0], point[-1]) for point in points])  # checks the range of the coordinates
    weight = _WEIGHTS[kind][1]
    return tuple(tuple(float(weight(a, b)) for b in points) for a in points), places, kind


def _explicit(file: _File) -> Matrix:
    """Return the distance matrix of an EDGE_WEIGHT_SECTION."""
    count, shape = file.count, file.word("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
    upper = [(i, j) for i in range(count) for j in range(i, count)]
    lower = [(i, j) for i in range(count) for j in range(i + 1)]
    places = {
        "FULL_MATRIX": [(i, j) for i in range(count) for j in range(count)],
        "LOWER_ROW": [(i, j) for i, j in lower if i != j],
        "LOWER_DIAG_ROW": lower,
        "UPPER_ROW": [(i, j) for i, j in upper if i != j],
        "UPPER_DIAG_ROW": upper,
        # The column order of a triangle is the row order of the other triangle.
        "LOWER_COL": [(i, j) for i, j in upper if i != j],
        "LOWER_DIAG_COL": upper,
        "UPPER_COL": [(i, j) for i, j in lower if i != j],
        "UPPER_DIAG_COL": lower,
    }
    if shape not in places:
        raise InputError(
            f"{file.path}: EDGE_WEIGHT_FORMAT {shape[:40]} is not supported: expected one of {', '.join(places)}"
        )
    numbers: list[float] = []
    for number, line in file.sections.get("EDGE_WEIGHT_SECTION", []):
        row = _numbers(line)
        if not row:
            raise file.fault(number, f"expected distances, not {line[:40]!r}")
        numbers += row
    if len(numbers) != len(places[shape]):
        raise InputError(f"{file.path}: expected {len(places[shape])} distances ({shape}), not {len(numbers)}")
    matrix = [[0.0] * count for _ in range(count)]
    for (i, j), value in zip(places[shape], numbers, strict=True):
        matrix[i][j] = value
        if shape != "FULL_MATRIX":
            matrix[j][i] = value
    return tuple(map(tuple, matrix))


def write(instance: RoutingInstance, path: Path | str) -> None:
    """Write Solomon's text format if there are time windows and coordinates, else TSPLIB format.

    The distances are omitted if the format's convention reproduces them from the coordinates.  TSPLIB files otherwise
    contain the full distance matrix.

    Raises
    ------
    InputError
        If there are time windows and the coordinates do not reproduce the distances.
    """
    write_text(path, "\n".join(_as_tsplib(instance) if instance.windows is None else _as_solomon(instance)) + "\n")


def _as_solomon(instance: RoutingInstance) -> Iterator[str]:
    assert instance.windows is not None
    assert instance.service is not None
    if instance.places is None or euclidean(instance.places, "truncated") != instance.distances:
        raise InputError(
            "Solomon's text needs distances that are coordinates' distances truncated to one decimal; these are not"
        )
    yield from (instance.name or "unnamed", "", "VEHICLE", "NUMBER     CAPACITY")
    yield f"{instance.most:4} {instance.capacity:11}"
    yield from ("", "CUSTOMER", "CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME", "")
    for i, (x, y) in enumerate(instance.places):
        numbers = (x, y, instance.demands[i], *instance.windows[i], instance.service[i])
        yield f"{i:5} " + " ".join(f"{_number(value):>10}" for value in numbers)


def _as_tsplib(instance: RoutingInstance) -> Iterator[str]:
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


def solution_lines(instance: RoutingInstance, routes: Iterable[Sequence[int]]) -> list[str]:
    """Return the lines of a ``.sol`` file: ``Route #1: 5 2 7`` and the cost."""
    routes = list(routes)
    lines = [f"Route #{k}: {' '.join(map(str, route))}" for k, route in enumerate(routes, 1)]
    return [*lines, f"Cost {_number(instance.total(routes))}"]


def write_solution(instance: RoutingInstance, routes: Iterable[Sequence[int]], path: Path | str) -> None:
    """Write routes as a ``.sol`` file."""
    write_text(path, "\n".join(solution_lines(instance, routes)) + "\n")


def read_solution(path: Path | str) -> list[Route]:
    """Return the routes of a ``.sol`` file.  They are not validated: see :meth:`RoutingInstance.check`.

    Raises
    ------
    InputError
        If the file is malformed; the message names the file and the line.
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
