"""Instances of the templates: readers of their files, and the formulations that the checker makes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from colgen.certificate import checker_blocks, checker_models
from colgen.certificate.checker_derivations import DERIVED
from colgen.certificate.checker_files import UnreadError, record_of
from colgen.certificate.checker_networks import NetworkPaths
from colgen.certificate.checker_pricing import TABLE_LIMIT, UnreadableError, WrongError, fields, integer, table

_SINGLE = {
    "chain_map": "labellings",
    "trees": "trees",
    "title_path": "paths",
    "coreference": "clusterings",
    **{kind: kind for kind in (*DERIVED, "matchings")},
}
"""Kinds of instances that ask for the best single column, and the kind of their pricing problem."""


def formulates(kind: str) -> bool:
    """Return whether the checker makes the formulation for a kind of instances itself."""
    return kind in _SINGLE or kind in ("compact", "networks") or kind in _KINDS


def formulation_of(instance: dict[str, Any]) -> dict[str, Any] | None:
    """Return the formulation of an instance, or None for an unknown kind."""
    kind = instance["kind"]
    if kind in _SINGLE:
        fields(instance, ("kind",), set(instance).difference(("uses",)))  # uses are not part of the instance
        return _program([], [{**instance, "kind": _SINGLE[kind], "uses": [1, 1]}], None, "maximize")
    if kind == "compact":
        return checker_blocks.formulation(instance)
    if kind == "networks":
        return _networks(instance)
    return _KINDS[kind][0](instance) if kind in _KINDS else None


def _program(rows: list[Any], pricing: list[Any], step: Any, sense: str = "minimize") -> dict[str, Any]:
    return {"sense": sense, "step": step, "rows": rows, "pricing": pricing}


def _cutting_stock(instance: dict[str, Any]) -> dict[str, Any]:
    """Cover each item exactly, because superfluous pieces can be removed. Pieces are ordered by decreasing width."""
    fields(instance, ("kind", "roll", "widths", "demands"), ("name",))
    widths, demands = [integer(width) for width in instance["widths"]], [integer(each) for each in instance["demands"]]
    if len(widths) != len(demands):
        raise WrongError("expected a demand for each width")
    order = sorted(range(len(widths)), key=lambda item: -widths[item])
    roll = {
        "kind": "knapsack",
        "uses": [0, None],
        "capacity": instance["roll"],
        "sizes": [widths[item] for item in order],
        "copies": [demands[item] for item in order],
        "rows": order,
        "cost": 1,
        "costs": [],
    }
    return _program([[demand, demand] for demand in demands], [roll], 1)


def _assignment(instance: dict[str, Any]) -> dict[str, Any]:
    """Cover each task once. Each machine is a knapsack that is used at most once."""
    fields(instance, ("kind", "costs", "sizes", "capacities"), ("name",))
    tasks = range(len(instance["costs"][0]))
    if any(len(costs) != len(tasks) for costs in instance["costs"]):
        raise WrongError("expected as many costs on each machine")
    machines = [
        {
            "kind": "knapsack",
            "uses": [0, 1],
            "capacity": capacity,
            "sizes": sizes,
            "copies": [1 for _ in tasks],
            "rows": list(tasks),
            "cost": 0,
            "costs": costs,
        }
        for costs, sizes, capacity in zip(instance["costs"], instance["sizes"], instance["capacities"], strict=True)
    ]
    step = math.gcd(*(cost for costs in instance["costs"] for cost in costs)) or 1
    return _program([[1, 1] for _ in tasks], machines, step)


def _colouring(instance: dict[str, Any]) -> dict[str, Any]:
    """Cover each vertex exactly once, because subsets of stable sets are stable."""
    fields(instance, ("kind", "vertices", "edges"), ("name",))
    if integer(instance["vertices"]) < 0:
        raise WrongError("expected a nonnegative number of vertices")
    if integer(instance["vertices"]) > TABLE_LIMIT >> 4:
        raise UnreadableError(f"expected at most {TABLE_LIMIT >> 4:,} vertices, not {instance['vertices']}")
    sets = {"kind": "stable sets", "uses": [0, None], "cost": 1, "edges": instance["edges"]}
    return _program([[1, 1] for _ in range(instance["vertices"])], [sets], 1)


def _routes(instance: dict[str, Any]) -> dict[str, Any]:
    """Visit each customer once, with at least as many routes as demands require and at most as many as vehicles.

    Routes are paths through the network of all arcs, sorted by tail and head; the last vertex is the depot at the end.
    """
    own = ("ticks", "distances", "demands", "capacity", "windows", "service", "vehicles")
    fields(instance, ("kind", *own), ("name",))
    demands, capacity = [integer(demand) for demand in instance["demands"]], integer(instance["capacity"])
    ticks, count = integer(instance["ticks"]), len(demands) - 1
    if count < 1 or capacity < 1 or min(demands) < 0 or integer(instance["vehicles"]) < 0:
        raise WrongError("expected a customer, a capacity of at least 1, and demands and vehicles of at least 0")
    away = table(instance["distances"], count + 1, count + 1)
    ends = [(i, j) for i in range(count + 1) for j in range(count + 1) if i != j]
    if ticks < 1 or demands[0] or min(map(min, away)) < 0:
        raise WrongError("expected ticks of at least 1, distances of at least 0, and no demand of the depot")
    used = [demands[j] for _, j in ends]
    resources = [{"start": 0, "lower": [0] * (count + 2), "upper": [capacity] * (count + 2), "consumption": used}]
    if (instance["windows"] is None) != (instance["service"] is None):
        raise WrongError("expected time windows and service times, or neither")
    if instance["windows"] is not None:
        windows = [(integer(first), integer(last)) for first, last in instance["windows"]]
        service = [integer(each) for each in instance["service"]]
        if not len(windows) == len(service) == count + 1 or min(service) < 0:
            raise WrongError("expected a time window and a service time of at least 0 for each location")
        lower, upper = map(list, zip(*windows, windows[0], strict=True))
        used = [service[i] + away[i][j] for i, j in ends]
        resources.append({"start": lower[0], "lower": lower, "upper": upper, "consumption": used})
    routes = {
        "kind": "network",
        "uses": [max(-(-sum(demands) // capacity), 1), instance["vehicles"]],
        "source": 0,
        "sink": count + 1,
        "rows": [None, *range(count), None],
        "arcs": [[i, j or count + 1, f"{away[i][j]}/{ticks}"] for i, j in ends],
        "resources": resources,
    }
    return _program([[1, 1] for _ in range(count)], [routes], f"1/{ticks}")


def _networks(instance: dict[str, Any]) -> dict[str, Any]:
    """Cover each row once by paths of several graphs.  Each path covers a row where their number has no limit."""
    fields(instance, ("kind", "rows", "graphs"), ("name",))
    if not 1 <= integer(instance["rows"]) <= TABLE_LIMIT >> 4:
        raise WrongError(f"expected at least one row, and at most {TABLE_LIMIT >> 4:,}")
    pricing, costs = [], list[Fraction]()
    for graph in instance["graphs"]:
        low, high = graph["uses"]
        if high is None:
            if any(graph["rows"][integer(v)] is None for u, v, _ in graph["arcs"] if u == graph["source"]):
                raise WrongError("expected a limit on the number of paths that may cover no row")
            high = instance["rows"]
        pricing.append({**graph, "kind": "network", "uses": [low, high]})
        costs += NetworkPaths(len(pricing), pricing[-1], instance["rows"]).prices()
    over = math.lcm(*(cost.denominator for cost in costs))
    step = Fraction(math.gcd(*(int(cost * over) for cost in costs)) or 1, over)
    return _program([[1, 1] for _ in range(instance["rows"])], pricing, str(step))


# --- files -----------------------------------------------------------------------------------------------------------


def compare(text: str, instance: dict[str, Any]) -> str | None:
    """Compare an instance with the text of its file; return the convention for reading it, None if there is only one.

    A line that is not in the format, or a different number, is a ``WrongError``. An unknown format is an
    ``UnreadError``.
    """
    kind = instance["kind"]
    if kind not in _KINDS and kind != "compact":
        raise UnreadError(f"the checker cannot read files of {str(kind)[:30]!r}")
    if "\ufffd" in text or "\0" in text:
        raise UnreadError("the file is not UTF-8 text")
    differs = None
    for found, given, convention in _readings(text, kind, instance):
        if found == given:
            return convention
        differs = differs or next(
            name for name in (*found, *given) if name not in found or name not in given or found[name] != given[name]
        )
    raise WrongError(f"the instance differs from the file in {differs!r}")


def _readings(
    text: str, kind: str, instance: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], dict[str, Any], str | None]]:
    if kind == "compact":
        yield from checker_models.compared(text, instance)
        return
    lines = [(number, line.strip()) for number, line in enumerate(text.rstrip("\x1a\r\n\t ").splitlines(), 1)]
    given = {name: value for name, value in instance.items() if name != "name"}
    for found, convention in _KINDS[kind][1]([(number, line) for number, line in lines if line], given):
        yield found, given, convention


Line = tuple[int, str]
"""Number and text of a line."""

Readings = Iterator[tuple[dict[str, Any], str | None]]
"""Interpretations of a file with their conventions. The instance must equal one of them."""

_DECIMAL = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,2})?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")


def _numbers(line: Line, count: int | None = None) -> list[Any]:
    """Return the exact numbers of a line."""
    words = line[1].split()
    if not all(_DECIMAL.fullmatch(word) for word in words) or len(words) != (count or len(words)):
        expected = "numbers" if count is None else f"{count} numbers"
        raise _unexpected(line, expected)
    return [int(word) if _WHOLE.fullmatch(word) else Fraction(word) for word in words]


def _decimal(word: str) -> Fraction:
    if not _DECIMAL.fullmatch(word):
        raise UnreadableError(f"expected numbers with few digits, not {word[:30]}")
    return Fraction(word)


def _unexpected(line: Line, expected: str) -> WrongError:
    return WrongError(f"line {line[0]} of the instance file is unexpected: expected {expected}")


def _packing_in(lines: list[Line], given: dict[str, Any]) -> Readings:
    """Read BPPLIB's text, where pieces of equal width are one item, or JSON with a roll and items."""
    if lines and lines[0][1][0] in "{[":
        yield _order_in("\n".join(line for _, line in lines)), None
        return
    if len(lines) > 1 and not _DECIMAL.fullmatch(lines[1][1].split()[0]) and _WHOLE.fullmatch(lines[0][1]):
        raise UnreadError("the file has several problems")
    if len(lines) < 2:
        raise WrongError("the instance file ends before the width of the roll")
    ((count,), (roll,)), demands = (_numbers(line, 1) for line in lines[:2]), Counter[Any]()
    for line in lines[2:]:
        width, *demand = _numbers(line)
        if len(demand) > 1 or width <= 0 or any(each <= 0 or each.denominator > 1 for each in demand):
            raise _unexpected(line, "a width and optionally a demand")
        demands[width] += sum(demand) if demand else 1
    if len(lines) - 2 != count:
        raise WrongError(f"the instance file has {len(lines) - 2} items: expected {count}")
    widths = sorted(demands, reverse=True)
    found = {"kind": "cutting_stock", "roll": roll, "widths": widths, "demands": [demands[width] for width in widths]}
    yield found, None


def _order_in(text: str) -> dict[str, Any]:
    try:
        order = record_of(text, _decimal)
    except UnreadableError as error:
        raise WrongError(f"the instance file: {error}") from None
    items = order.get("items")
    if not set(order) <= {"name", "roll", "items"} or not isinstance(items, list):
        raise UnreadError("expected only the fields name, roll and items (a list)")
    if any(not isinstance(item, dict) or not {"width"} <= set(item) <= {"width", "demand"} for item in items):
        raise WrongError("an item of the instance file is unexpected: expected a width and optionally a demand")
    return {
        "kind": "cutting_stock",
        "roll": order.get("roll"),
        "widths": [item["width"] for item in items],
        "demands": [item.get("demand", 1) for item in items],
    }


def _assignment_in(lines: list[Line], given: dict[str, Any]) -> Readings:
    numbers = [number for line in lines for number in _numbers(line)]
    m, n = numbers[:2] if len(numbers) > 1 else (0, 0)
    if not (type(m) is type(n) is int and min(m, n) > 0 and len(numbers) == 2 + 2 * m * n + m):
        if _is_collection(numbers):
            raise UnreadError("the file has several problems")
        raise WrongError("the instance file does not have as many numbers as its sizes require")
    rows = [numbers[2 + k * n : 2 + (k + 1) * n] for k in range(2 * m)]
    yield {"kind": "assignment", "costs": rows[:m], "sizes": rows[m:], "capacities": numbers[2 + 2 * m * n :]}, None


def _is_collection(numbers: list[Any]) -> bool:
    """Return whether numbers form as many assignment problems as the first number states."""
    place = 1
    for _ in range(min(numbers[0], len(numbers)) if numbers and type(numbers[0]) is int else 0):
        m, n = numbers[place : place + 2] if place + 2 <= len(numbers) else (0, 0)
        if not (type(m) is type(n) is int and min(m, n) > 0):
            return False
        place += 2 + 2 * m * n + m
    return place == len(numbers) > 1


def _graph_in(lines: list[Line], given: dict[str, Any]) -> Readings:
    """Read DIMACS: comments, one line p, then edges. Values and places of vertices are irrelevant."""
    vertices, announced, count, edges = 0, 0, 0, set[tuple[int, int]]()
    for line in lines:
        words = line[1].split()
        if line[1][0] == "c":
            continue
        if words[0] == "p" and not vertices and len(words) == 4 and words[1] in ("edge", "edges", "col"):
            vertices, announced = _numbers((line[0], " ".join(words[2:])), 2)
            if type(vertices) is not int or vertices < 1:
                raise _unexpected(line, "a number of vertices from 1")
        elif words[0] == "e" and vertices:
            u, v = _numbers((line[0], " ".join(words[1:])), 2)
            if not (type(u) is type(v) is int and 1 <= min(u, v) < max(u, v) <= vertices):
                raise _unexpected(line, f"an edge between two of the vertices 1 to {vertices}")
            edges.add((min(u, v) - 1, max(u, v) - 1))
            count += 1
        elif not (vertices and words[0] in ("n", "d", "v", "x")):
            raise _unexpected(line, "p edge VERTICES EDGES, or e U V")
    if not vertices:
        raise WrongError("the instance file has no line p edge VERTICES EDGES")
    if announced not in (count, len(edges), 2 * len(edges)):
        raise UnreadError(f"the file states {announced} edges and has {count}")
    yield {"kind": "colouring", "vertices": vertices, "edges": [list(edge) for edge in sorted(edges)]}, None


_TITLES = {
    *("VEHICLE", "NUMBER", "CAPACITY", "CUSTOMER", "CUST", "NO", "XCOORD", "YCOORD", "X", "Y", "COORD", "DEMAND"),
    *("READY", "DUE", "DATE", "TIME", "SERVICE"),
}
"""Words above the numbers in Solomon's files."""


def _customers_in(lines: list[Line], given: dict[str, Any]) -> Readings:
    """Read Solomon's text; numbers are compared in the ticks of the instance.

    Distances follow from coordinates, truncated to one decimal or rounded to the nearest integer.
    """
    if any(re.match(r"[A-Z_]+\s*:|[A-Z_]+_SECTION", line) for _, line in lines[:10]):
        raise UnreadError("the checker reads Solomon's format, not TSPLIB's")
    tables, vehicles, capacity = list[list[Any]](), None, None
    for place, line in enumerate(lines):
        words = line[1].split()
        if all(_DECIMAL.fullmatch(word) for word in words) and (place or len(words) == 2):
            if capacity is None:
                vehicles, capacity = _numbers(line, 2)
                continue
            tables.append(_numbers(line, 7))
            if tables[-1][0] != len(tables) - 1:
                raise _unexpected(line, f"location {len(tables) - 1}")
        elif tables or (place and not {word.strip(".").upper() for word in words} <= _TITLES):
            raise _unexpected(line, "the titles and numbers of Solomon's files")
    if vehicles is None or capacity is None or len(tables) < 2:
        raise WrongError("the instance file has no vehicles or customers")
    places, count, ticks = [(row[1], row[2]) for row in tables], len(tables), integer(given["ticks"])
    if any(type(x) is not int and x.denominator > 1 for place in places for x in place):
        raise UnreadError("the coordinates are fractional, so distances depend on rounding")
    if len(given["demands"]) != count:
        raise WrongError(f"the instance has {len(given['demands']) - 1} customers, its file {count - 1}")
    squares = [[int((x - a) ** 2 + (y - b) ** 2) for a, b in places] for x, y in places]
    found = {
        "kind": "vehicle_routing",
        "ticks": ticks,
        "demands": [row[3] for row in tables],
        "capacity": capacity,
        "windows": [[ticks * row[4], ticks * row[5]] for row in tables],
        "service": [ticks * row[6] for row in tables],
        "vehicles": min(vehicles, count - 1),
    }
    truncated = [[Fraction(math.isqrt(100 * square) * ticks, 10) for square in row] for row in squares]
    yield {**found, "distances": truncated}, None
    rounded = [[(math.isqrt(4 * square) + 1) // 2 * ticks for square in row] for row in squares]
    yield {**found, "distances": rounded}, "distances rounded to integers"


_KINDS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[[list[Line], dict[str, Any]], Readings]]] = {
    "cutting_stock": (_cutting_stock, _packing_in),
    "assignment": (_assignment, _assignment_in),
    "colouring": (_colouring, _graph_in),
    "vehicle_routing": (_routes, _customers_in),
}
"""For each kind, the functions that formulate instances and read their files."""
