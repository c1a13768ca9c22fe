"""Shift scheduling: every employee follows one path through days and shifts (Curtois and Qu, 2014)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyomo.environ as pyo

from colgen import Paths
from colgen.networks import Consecutive, Resource

Sections = dict[str, list[list[str]]]
"""The entries of each section of a file."""


def read(path: Path | str) -> Sections:
    """Return the sections of an instance of schedulingbenchmarks.org."""
    sections: Sections = {}
    for line in Path(path).read_text().splitlines():
        if line.startswith("SECTION_"):
            entries = sections[line.strip()[8:]] = []
        elif line.strip() and not line.startswith("#"):
            entries.append(line.strip().split(","))
    return sections


def rosters(data: Sections) -> pyo.ConcreteModel:
    """Return the model of an instance."""
    days = range(int(data["HORIZON"][0][0]))
    minutes = {shift: int(length) for shift, length, _ in data["SHIFTS"]}
    never = {(shift, later) for shift, _, others in data["SHIFTS"] for later in others.split("|")}
    off = {(who, int(day)) for who, *some in data["DAYS_OFF"] for day in some}
    wished = {(who, int(day), shift): int(w) for who, day, shift, w in data["SHIFT_ON_REQUESTS"]}
    unwanted = {(who, int(day), shift): int(w) for who, day, shift, w in data["SHIFT_OFF_REQUESTS"]}
    cover = {(int(day), shift): list(map(int, numbers)) for day, shift, *numbers in data["COVER"]}
    m = pyo.ConcreteModel()
    m.under = pyo.Var(cover, domain=pyo.NonNegativeIntegers)
    m.over = pyo.Var(cover, domain=pyo.NonNegativeIntegers)
    present: dict[object, list[pyo.Var]] = {place: [] for place in cover}
    costs = [low * m.under[k] + high * m.over[k] for k, (_, low, high) in cover.items()]
    for who, shifts, longest, shortest, most, least, rest, weekends in data["STAFF"]:
        states = [["off", *(s for s in minutes if (who, day) not in off)] for day in days]
        ends: list[tuple[Any, Any]] = [("start", (0, s)) for s in states[0]]
        ends += [((days[-1], s), "end") for s in states[-1]]
        for day in days[1:]:
            ends += [((day - 1, s), (day, t)) for s in states[day - 1] for t in states[day] if (s, t) not in never]
        flow = pyo.Var(range(len(ends)), domain=pyo.Binary)
        m.add_component(f"flow_{who}", flow)
        worked, started = [0.0] * len(ends), [0.0] * len(ends)
        for k, (tail, head) in enumerate(ends):
            if head == "end":
                continue
            day, shift = head
            missed = sum(wished.get((who, day, s), 0) for s in minutes if s != shift)
            costs.append((missed + unwanted.get((who, day, shift), 0)) * flow[k])
            if shift != "off":
                present[head].append(flow[k])
                worked[k] = minutes[shift]
                started[k] = float(day % 7 == 5 or (day % 7 == 6 and tail[1] == "off"))
        resources = [
            Resource(worked, int(longest), {"end": int(shortest)}, waiting=False, name="minutes"),
            Resource(started, int(weekends), name="weekends"),
        ]
        for shift, limit in (part.split("=") for part in shifts.split("|")):
            resources.append(Resource([float(head[1] == shift) for _, head in ends], int(limit), name=shift))
        work = [(day, s) for day in days for s in states[day] if s != "off"]
        rules = [Consecutive(work, int(least), int(most)), Consecutive([(day, "off") for day in days], int(rest))]
        graph = tuple(zip(*ends, strict=True))
        paths = Paths(graph, list(flow.values()), "start", "end", count=1, resources=resources, rules=rules)
        m.add_component(f"roster_{who}", paths)
    m.cover = pyo.Constraint(cover, rule=lambda m, *k: sum(present[k]) + m.under[k] - m.over[k] == cover[k][0])
    m.cost = pyo.Objective(expr=pyo.quicksum(costs))
    return m
