"""Instances of the templates: how the checker reads their files, and the formulations that it makes of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from colgen.proof import checker_blocks
from colgen.proof.checker_pricing import WrongError

_SINGLE = {"chain_map": "labellings", "trees": "trees", "title_path": "paths", "coreference": "clusterings"}
"""Instances of which one column is wanted, the best; and what their pricing problem is called."""


def formulation_of(instance: dict[str, Any]) -> dict[str, Any] | None:
    """The formulation of an instance; None if the checker knows nothing of its kind."""
    kind = instance["kind"]
    if kind in _SINGLE:
        return _program([], [{**instance, "kind": _SINGLE[kind], "uses": [1, 1]}], None, "maximize")
    if kind == "compact":
        return checker_blocks.formulation(instance)
    return _KINDS[kind][0](instance) if kind in _KINDS else None


def _program(rows: list[Any], pricing: list[Any], step: Any, sense: str = "minimize") -> dict[str, Any]:
    return {"sense": sense, "step": step, "rows": rows, "pricing": pricing}


def _cutting_stock(instance: dict[str, Any]) -> dict[str, Any]:
    """Each item exactly as often as demanded, for superfluous pieces can be left out; pieces widest first."""
    widths, demands = instance["widths"], instance["demands"]
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
    """Each task once; a machine has one set of tasks."""
    tasks = range(len(instance["costs"][0]))
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
    """Each vertex in exactly one set, for every part of a stable set is one."""
    sets = {"kind": "stable sets", "uses": [0, None], "cost": 1, "edges": instance["edges"]}
    return _program([[1, 1] for _ in range(instance["vertices"])], [sets], 1)


def _routes(instance: dict[str, Any]) -> dict[str, Any]:
    """Each customer once; as many routes as demands need at the least, and as there are vehicles at the most."""
    count, demands = len(instance["demands"]) - 1, instance["demands"]
    fewest = max(-(-sum(demands) // instance["capacity"]), 1)
    routes = {**instance, "kind": "routes", "uses": [fewest, instance["vehicles"]]}
    return _program([[1, 1] for _ in range(count)], [routes], f"1/{instance['ticks']}")


# --- files -----------------------------------------------------------------------------------------------------------


def instance_in(text: str, instance: dict[str, Any]) -> dict[str, Any]:
    """The instance that a file holds, without its name."""
    kind = instance["kind"]
    if kind not in _KINDS:
        raise WrongError(f"the checker reads no files of {str(kind)[:30]!r}")
    return _KINDS[kind][1](text, instance)


def _packing_in(text: str, instance: dict[str, Any]) -> dict[str, Any]:
    (count,), (roll,), *lines = ([int(word) for word in line.split()] for line in text.splitlines() if line.split())
    demands = Counter[int]()
    for line in lines:
        demands[line[0]] += line[1] if len(line) == 2 else 1
    if len(lines) != count:
        raise WrongError(f"the file announces {count} items and has {len(lines)}")
    widths = sorted(demands, reverse=True)
    return {"kind": "cutting_stock", "roll": roll, "widths": widths, "demands": [demands[width] for width in widths]}


def _assignment_in(text: str, instance: dict[str, Any]) -> dict[str, Any]:
    numbers = [int(word) for word in text.split()]
    m, n = numbers[:2]
    if len(numbers) != 2 + 2 * m * n + m:
        raise WrongError("the file has another number of numbers than it announces")
    rows = [numbers[2 + k * n : 2 + (k + 1) * n] for k in range(2 * m)]
    return {"kind": "assignment", "costs": rows[:m], "sizes": rows[m:], "capacities": numbers[2 + 2 * m * n :]}


def _graph_in(text: str, instance: dict[str, Any]) -> dict[str, Any]:
    vertices, edges = 0, set[tuple[int, int]]()
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["p"]:
            vertices = int(words[2])
        elif words[:1] == ["e"]:
            u, v = sorted(int(word) - 1 for word in words[1:3])
            edges.add((u, v))
    return {"kind": "colouring", "vertices": vertices, "edges": [list(edge) for edge in sorted(edges)]}


def _customers_in(text: str, instance: dict[str, Any]) -> dict[str, Any]:
    """Solomon's text, its first locations: distances have one decimal, downwards."""
    lines, count = [line.split() for line in text.splitlines()], len(instance["demands"])
    tables = [[int(word) for word in line] for line in lines if line and all(word.isdecimal() for word in line)]
    (vehicles, capacity), *rows = tables
    if not [row[0] for row in rows[:count]] == list(range(count)):
        raise WrongError(f"the file has no {count - 1} customers")
    places = [(row[1], row[2]) for row in rows[:count]]
    return {
        "kind": "vehicle_routing",
        "ticks": 10,
        "distances": [[math.isqrt(100 * ((x - a) ** 2 + (y - b) ** 2)) for a, b in places] for x, y in places],
        "demands": [row[3] for row in rows[:count]],
        "capacity": capacity,
        "windows": [[10 * row[4], 10 * row[5]] for row in rows[:count]],
        "service": [10 * row[6] for row in rows[:count]],
        "vehicles": min(vehicles, count - 1),
    }


_KINDS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[..., dict[str, Any]]]] = {
    "cutting_stock": (_cutting_stock, _packing_in),
    "assignment": (_assignment, _assignment_in),
    "colouring": (_colouring, _graph_in),
    "vehicle_routing": (_routes, _customers_in),
}
"""What formulates instances of a kind, and what reads their files."""
