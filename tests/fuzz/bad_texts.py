"""Invalid text files by format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rng = np.random.Generator
Lines = list[str]

_ENDLESS = "9" * 6000


def rolls(rng: Rng, lines: Lines) -> dict[str, Lines]:
    """Break a cutting stock file: number of items, roll, then width and demand per line."""
    row = int(rng.integers(2, len(lines)))
    return {
        "a word": _replace_line(lines, row, "wide 3"),
        "a fraction": _replace_line(lines, row, "50.5 97"),
        "a negative width": _replace_line(lines, row, "-5 2"),
        "no demand": _replace_line(lines, row, "5 0"),
        "too wide": _replace_line(lines, row, f"{10**9} 1"),
        "one line less": lines[:-1],
        "a roll of zero": _replace_line(lines, 1, "0"),
        "a negative roll": _replace_line(lines, 1, "-100"),
        "a number of items in words": _replace_line(lines, 0, "many"),
        "digits without end": _replace_line(lines, 1, _ENDLESS),
        "three numbers a line": _replace_line(lines, row, "5 5 5"),
        "not a number": _replace_line(lines, row, "nan 1"),
        "infinite": _replace_line(lines, 1, "inf"),
        "control characters": _replace_line(lines, row, "\x1b[31m5\x07 1"),
    }


def tasks(rng: Rng, lines: Lines) -> dict[str, Lines]:
    """Break an assignment file: numbers of machines and tasks, costs and sizes per machine, capacities."""
    machines = (len(lines) - 2) // 2
    cost = int(rng.integers(1, 1 + machines))
    size, capacity = cost + machines, len(lines) - 1
    return {
        "a word": _replace_first(lines, cost, "cheap"),
        "not a number": _replace_first(lines, cost, "nan"),
        "infinite": _replace_first(lines, cost, "-inf"),
        "too large a cost": _replace_first(lines, cost, "1e999"),
        "a fraction": _replace_first(lines, size, "2.5"),
        "a negative size": _replace_first(lines, size, "-3"),
        "a negative capacity": _replace_first(lines, capacity, "-1"),
        "a capacity in fractions": _replace_first(lines, capacity, "10.5"),
        "digits without end": _replace_first(lines, size, _ENDLESS),
        "beyond 64 bits": _replace_first(lines, capacity, str(2**70)),
        "one line less": lines[:-1],
        "one number more": [*lines, "1"],
        "no machines": _replace_line(lines, 0, "0 6"),
        "tasks in words": _replace_line(lines, 0, "2 many"),
        "machines without end": _replace_line(lines, 0, f"{_ENDLESS} 6"),
        "fewer tasks": _replace_line(lines, 0, f"{machines} 1"),
        "underscores": _replace_first(lines, cost, "1_0"),
        "other digits": _replace_first(lines, cost, "²"),
        "control characters": _replace_first(lines, cost, "\x1b[31m5\x07"),
    }


def graph(rng: Rng, lines: Lines) -> dict[str, Lines]:
    """Break a graph: ``p edge VERTICES EDGES``, then one edge per line."""
    row = int(rng.integers(1, len(lines)))
    _, _, vertices, edges = lines[0].split()
    return {
        "a word": _replace_line(lines, row, "e 1 two"),
        "a fraction": _replace_line(lines, row, "e 1 2.5"),
        "a vertex zero": _replace_line(lines, row, "e 0 1"),
        "a vertex too many": _replace_line(lines, row, f"e 1 {int(vertices) + 1}"),
        "a negative vertex": _replace_line(lines, row, "e -1 2"),
        "a loop": _replace_line(lines, row, "e 2 2"),
        "three ends": _replace_line(lines, row, "e 1 2 3"),
        "other digits": _replace_line(lines, row, "e ¹ ²"),
        "no header": lines[1:],
        "an edge before the header": [lines[row], *lines],
        "another kind of line": [*lines, "f 1 2"],
        "another kind of edge": _replace_line(lines, row, "a 1 2 5"),
        "the value of no vertex": [*lines, f"n {int(vertices) + 1} 2"],
        "two headers": [lines[0], *lines],
        "no vertices": [f"p edge 0 {edges}", *lines[1:]],
        "vertices in words": _replace_line(lines, 0, f"p edge many {edges}"),
        "vertices without end": _replace_line(lines, 0, f"p edge {_ENDLESS} {edges}"),
        "zeros before that": _replace_line(lines, 0, f"p edge {'0' * 30}{_ENDLESS} {edges}"),
        "more vertices than fit": _replace_line(lines, 0, f"p edge {10**9} {edges}"),
        "control characters": _replace_line(lines, row, "\x1b[31me 1\x07 2"),
    }


def customers(rng: Rng, lines: Lines) -> dict[str, Lines]:
    """Break a Solomon file: vehicles and capacity, then seven numbers per location."""
    start = next(k for k, line in enumerate(lines) if len(line.split()) == 7 and line.split()[0] == "0")
    fleet = next(k for k, line in enumerate(lines) if line.split() and line.split()[0].isdigit())
    row = int(rng.integers(start + 1, len(lines)))
    number, x, y, demand, ready, due, service = lines[row].split()

    def location(**changes: str) -> Lines:
        fields = {"number": number, "x": x, "y": y, "demand": demand, "ready": ready, "due": due, "service": service}
        return _replace_line(lines, row, " ".join({**fields, **changes}.values()))

    return {
        "a word": location(x="east"),
        "not a number": location(x="nan"),
        "infinite": location(due="inf"),
        "a fraction": location(demand="1.5"),
        "a negative demand": location(demand="-1"),
        "a demand that fits nowhere": location(demand="1e9"),
        "a window that ends before": location(ready="300", due="20"),
        "a window before the beginning": location(ready="-5"),
        "a negative service": location(service="-1"),
        "a place too far": location(x="1e300"),
        "a window that no route reaches": location(x="3000", ready="1", due="2"),
        "another number": location(number="99"),
        "six numbers a line": _replace_line(lines, row, " ".join(lines[row].split()[:6])),
        "digits without end": location(demand=_ENDLESS),
        "a depot that is served": _replace_line(lines, start, lines[start].replace(" 0 ", " 5 ", 1)),
        "no capacity": _replace_line(lines, fleet, "5 0"),
        "no vehicles": _replace_line(lines, fleet, "0 20"),
        "a capacity in fractions": _replace_line(lines, fleet, "5 20.5"),
        "the head alone": lines[:start],
        "control characters": location(x="\x1b[31m5\x07"),
    }


def distances(rng: Rng, lines: Lines) -> dict[str, Lines]:
    """Break a TSPLIB file of capacitated vehicle routing."""
    begin = {line.strip(): k + 1 for k, line in enumerate(lines) if line.strip().endswith("_SECTION")}
    of = {line.split(":")[0].strip(): k for k, line in enumerate(lines) if ":" in line}
    demand = begin["DEMAND_SECTION"] + int(rng.integers(1, 3))
    place, depot = begin["NODE_COORD_SECTION"], begin["DEPOT_SECTION"]
    return {
        "another type": _replace_line(lines, of["TYPE"], "TYPE : TSP"),
        "windows announced and none": _replace_line(lines, of["TYPE"], "TYPE : CVRPTW"),
        "no dimension": lines[: of["DIMENSION"]] + lines[of["DIMENSION"] + 1 :],
        "a dimension in words": _replace_line(lines, of["DIMENSION"], "DIMENSION : many"),
        "a larger dimension": _replace_line(lines, of["DIMENSION"], "DIMENSION : 1000"),
        "a dimension without end": _replace_line(lines, of["DIMENSION"], f"DIMENSION : {_ENDLESS}"),
        "a capacity of zero": _replace_line(lines, of["CAPACITY"], "CAPACITY : 0"),
        "a capacity in fractions": _replace_line(lines, of["CAPACITY"], "CAPACITY : 2.5"),
        "other distances": _replace_line(lines, of["EDGE_WEIGHT_TYPE"], "EDGE_WEIGHT_TYPE : XRAY1"),
        "no matrix": _replace_line(lines, of["EDGE_WEIGHT_TYPE"], "EDGE_WEIGHT_TYPE : EXPLICIT"),
        "a limit of length": [*lines[: of["CAPACITY"]], "DISTANCE : 100", *lines[of["CAPACITY"] :]],
        "a demand in fractions": _replace_line(lines, demand, f"{lines[demand].split()[0]} 1.5"),
        "a negative demand": _replace_line(lines, demand, f"{lines[demand].split()[0]} -1"),
        "a demand that fits nowhere": _replace_line(lines, demand, f"{lines[demand].split()[0]} {10**9}"),
        "a demand in words": _replace_line(lines, demand, f"{lines[demand].split()[0]} some"),
        "not a number": _replace_line(lines, place, "1 nan 5"),
        "a place too far": _replace_line(lines, place, "1 1e300 5"),
        "one place less": lines[:place] + lines[place + 1 :],
        "another depot": _replace_line(lines, depot, "2"),
        "a line of words": [*lines[: of["CAPACITY"]], "some words", *lines[of["CAPACITY"] :]],
        "control characters": _replace_line(lines, place, "1 \x1b[31m5\x07 5"),
        **_other_dialects(rng, lines, begin["DEPOT_SECTION"] - 1, of["CAPACITY"]),
    }


_SECTIONS = (
    *("PRIZE", "BACKHAUL", "LINEHAUL", "RELEASE_TIME", "CAPACITY", "MUTUALLY_EXCLUSIVE_GROUP", "PICKUP_AND_DELIVERY"),
    *("VEHICLES_DEPOT", "VEHICLES_MAX_DURATION", "VEHICLES_ALLOWED_CLIENTS", "FIXED_EDGES", "DRAFT_LIMIT", "PROFIT"),
)
_FIELDS = (
    *("DISTANCE", "SERVICE_TIME", "SALESMEN", "SCALE", "MTSP_MIN_SIZE", "RISK_THRESHOLD", "DEMAND_DIMENSION"),
    *("VEHICLES_MAX_DISTANCE", "VEHICLES_FIXED_COST", "CTSP_SET", "TRUCKS"),
)


def _other_dialects(rng: Rng, lines: Lines, section: int, field: int) -> dict[str, Lines]:
    """Add sections and fields of other dialects, which would change the problem: unknown, repeated, or lower case."""
    words = [*_SECTIONS, "".join(chr(k) for k in rng.integers(ord("A"), ord("Z") + 1, 8))]
    word = f"{rng.choice(words)}_SECTION"
    if rng.random() < 0.3:
        word = word.lower()
    count = int(rng.integers(0, 4))
    unknown = [word, *(f"{k} {rng.integers(0, 99)}" for k in range(1, count + 1))]
    again = str(rng.choice(["DEMAND_SECTION", "NODE_COORD_SECTION", "DEPOT_SECTION"]))
    return {
        f"{word} of {count} lines": lines[:section] + unknown + lines[section:],
        f"{word} after the end": [*lines, *unknown],
        "a field of another dialect": [*lines[:field], f"{rng.choice(_FIELDS)} : {rng.integers(0, 9)}", *lines[field:]],
        "a field twice": [*lines[:field], lines[field], *lines[field:]],
        "a section twice": [*lines[:section], again, "1 0", *lines[section:]],
    }


def treebank(rng: Rng) -> dict[str, Lines]:
    """Break numbers, spans and heads of a CoNLL-U sentence of two words."""
    rows = [["1", "a", "a", "X", "x", "_", "2", "dep", "_", "_"], ["2", "b", "b", "X", "x", "_", "0", "root", "_", "_"]]
    place = int(rng.integers(2))

    def change_cell(column: int, cell: str) -> Lines:
        copies = [list(row) for row in rows]
        copies[place][column] = cell
        return ["\t".join(row) for row in copies] + [""]

    good = ["\t".join(row) for row in rows]
    span = "\tab" + 8 * "\t_"
    return {
        "a head without end": change_cell(6, _ENDLESS),
        "a head too far": change_cell(6, "3"),
        "a head in words": change_cell(6, "root"),
        "other digits": change_cell(6, "²"),
        "a negative head": change_cell(6, "-1"),
        "a cycle": change_cell(6, str(place + 1)),
        "a number without end": change_cell(0, _ENDLESS),
        "no form": change_cell(1, ""),
        "a span beyond the sentence": [f"1-{int(rng.integers(3, 99))}{span}", *good, ""],
        "a span without end": [f"1-{_ENDLESS}{span}", *good, ""],
        "a span of one word": [f"1-1{span}", *good, ""],
        "spans that overlap": [f"1-2{span}", good[0], f"2-3{span}", good[1], ""],
        "comments alone": ["# text = a\tb", ""],
        "columns between blanks": [line.replace("\t", " ") for line in good],
    }


FORMATS: dict[str, Callable[[Rng, Lines], dict[str, Lines]]] = {
    "good_customers": customers,
    "good_distances": distances,
    "good_graph": graph,
    "good_rolls": rolls,
    "good_tasks": tasks,
}
"""Functions by the names of the files."""


def _replace_line(lines: Lines, row: int, line: str) -> Lines:
    """Replace a line."""
    return [*lines[:row], line, *lines[row + 1 :]]


def _replace_first(lines: Lines, row: int, word: str) -> Lines:
    """Replace the first number of a line."""
    return _replace_line(lines, row, " ".join([word, *lines[row].split()[1:]]))
