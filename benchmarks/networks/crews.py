"""Crew pairing: sequences of duties and rests from a base back to it cover all flights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import networkx as nx
import numpy as np
import pyomo.environ as pyo

from colgen import Paths
from colgen.networks import Resource


class Flight(NamedTuple):
    """A flight; times are minutes since the start of the week."""

    origin: str
    destination: str
    departure: int
    arrival: int


def timetable(seed: int, count: int, bases: int = 3, others: int = 6) -> list[Flight]:
    """Return flights of a week between bases ``B0``, ... and other airports, by aircraft with five legs a day."""
    rng = np.random.default_rng(seed)
    homes, away = [f"B{k}" for k in range(bases)], [f"S{k}" for k in range(others)]
    places = {airport: rng.uniform(0.0, 1000.0, 2) for airport in homes + away}
    planes = max(1, round(count / 35))
    at = [homes[k % bases] for k in range(planes)]
    flights: list[Flight] = []
    for day in range(7):
        for plane in range(planes):
            now = 1440 * day + int(rng.integers(300, 480))
            for _ in range(5):
                here = at[plane]
                there = str(rng.choice([each for each in homes + away * (here in homes) if each != here]))
                minutes = 50 + 10 * round(float(np.linalg.norm(places[here] - places[there])) / 80.0)
                if len(flights) < count:
                    flights.append(Flight(here, there, now, now + minutes))
                    at[plane] = there
                now += minutes + int(rng.integers(40, 90))
    return flights


def crews(flights: Sequence[Flight], bases: Sequence[str], missed: float = 5000.0) -> pyo.ConcreteModel:
    """Return the model: away at most 4 days, duties of 12 hours and 5 flights, rests of 10 to 36 hours.

    A pairing costs 500, and 1 per minute away; a rest costs 100, and a flight without crew ``missed``.
    """
    leaving: dict[str, list[int]] = {}
    for k, flight in enumerate(flights):
        leaving.setdefault(flight.origin, []).append(k)
    length = [flight.arrival - flight.departure for flight in flights]
    m = pyo.ConcreteModel()
    m.missed = pyo.Var(range(len(flights)), domain=pyo.Binary)
    covered = [[m.missed[k]] for k in m.missed]
    costs = [missed * m.missed[k] for k in m.missed]
    for base in bases:
        # Tail, head, cost, minutes away, minutes of duty, flights of the duty: a rest sets the last two back.
        arcs: list[tuple[Hashable, Hashable, float, float, float, float]] = []
        for k in leaving[base]:
            arcs.append(("out", k, 500 + length[k], length[k], length[k], 1))
        for k, flight in enumerate(flights):
            for then in leaving.get(flight.destination, ()):
                gap = flights[then].departure - flight.arrival
                if 30 <= gap <= 240:
                    arcs.append((k, then, gap + length[then], gap + length[then], gap + length[then], 1))
                elif 600 <= gap <= 2160:
                    arcs.append((k, then, gap + length[then] + 100, gap + length[then], -9999, -9999))
            if flight.destination == base:
                arcs.append((k, "home", 0, 0, 0, 0))
        graph = nx.DiGraph(arc[:2] for arc in arcs)
        kept = {"out", "home"} | (nx.descendants(graph, "out") & nx.ancestors(graph, "home"))
        arcs = [arc for arc in arcs if arc[0] in kept and arc[1] in kept]
        tails, heads, prices, away, duty, count = zip(*arcs, strict=True)
        flow = pyo.Var(range(len(arcs)), domain=pyo.Binary)
        m.add_component(f"flow_{base}", flow)
        costs += [price * flow[k] for k, price in enumerate(prices)]
        for k, head in enumerate(heads):
            if head != "home":
                covered[head].append(flow[k])
        used = {head for head in heads if head != "home"}
        resources = [
            Resource(away, 4 * 1440, name="away"),
            Resource(duty, 720, {k: length[k] for k in used}, name="duty"),
            Resource(count, 5, dict.fromkeys(used, 1), name="flights"),
        ]
        m.add_component(f"crews_{base}", Paths((tails, heads), list(flow.values()), "out", "home", resources=resources))
    m.cover = pyo.Constraint(range(len(flights)), rule=lambda m, k: pyo.quicksum(covered[k]) == 1)
    m.cost = pyo.Objective(expr=pyo.quicksum(costs))
    return m
