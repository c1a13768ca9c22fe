"""Networks whose vertices also state how long the current runs of consecutive visits are."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from colgen.core.errors import InputError
from colgen.networks.graph import Graph, Ints, reached
from colgen.networks.rules import Consecutive

_State = tuple[int, bool]
"""Length of a run, and whether the run may be shorter than the least length; before the first vertex it is -1."""

_START: _State = (-1, False)


@dataclass(frozen=True, eq=False)
class Expanded:
    """A graph whose arcs and vertices are copies of those of another graph.

    ``arc_of`` and ``vertex_of`` are the originals of arcs and vertices.
    """

    tails: Ints
    heads: Ints
    source: int
    sink: int
    arc_of: Ints
    vertex_of: Ints


def expand(graph: Graph, open_arcs: Ints, rules: list[Consecutive]) -> Expanded:
    """Return the graph over its open arcs, with a copy of a vertex for each state of the rules.

    Raises
    ------
    InputError
        If no path satisfies the rules, or a rule has an unknown vertex or contradictory limits.
    """
    count = len(graph.vertices)
    if not rules:
        return Expanded(
            graph.tails[open_arcs], graph.heads[open_arcs], graph.source, graph.sink, open_arcs, np.arange(count)
        )
    inside = [_members(graph, rule) for rule in rules]
    leaving: list[list[int]] = [[] for _ in range(count)]
    for arc in open_arcs.tolist():
        leaving[graph.tails[arc]].append(arc)
    heads = graph.heads.tolist()
    start = (graph.source, (_START,) * len(rules))
    number = {start: 0}
    waiting = deque([start])
    tails_, heads_, arcs_ = [], [], []
    while waiting:
        vertex, states = node = waiting.popleft()
        for arc in leaving[vertex]:
            head = heads[arc]
            after = []
            for rule, member, state in zip(rules, inside, states, strict=True):
                then = _ended(rule, state) if head == graph.sink else _next(rule, state, bool(member[head]))
                if then is None:
                    break
                after.append(then)
            else:
                target = (head, tuple(after))
                if target not in number:
                    number[target] = len(number)
                    waiting.append(target)
                tails_.append(number[node])
                heads_.append(number[target])
                arcs_.append(arc)
    sink = number.get((graph.sink, ((0, False),) * len(rules)))
    if sink is None:
        raise InputError(f"rules: no path satisfies {' and '.join(map(repr, rules))}")
    vertex_of = np.array([vertex for vertex, _ in number], dtype=np.int64)
    tails, heads_array, arcs = (np.array(each, dtype=np.int64) for each in (tails_, heads_, arcs_))
    return _trimmed(tails, heads_array, arcs, vertex_of, sink)


def _members(graph: Graph, rule: Consecutive) -> np.ndarray:
    known = {vertex: k for k, vertex in enumerate(graph.vertices)}
    members = np.zeros(len(known) + 1, dtype=np.bool_)
    for vertex in rule.vertices:
        if vertex not in known:
            raise InputError(f"Consecutive: {vertex!r} is not a vertex of the graph")
        members[known[vertex]] = True
    if not rule.least >= 1 or (rule.most is not None and rule.most < rule.least):
        raise InputError(f"Consecutive: expected 1 ≤ least ≤ most, got {rule.least} and {rule.most}")
    return members


def _next(rule: Consecutive, state: _State, member: bool) -> _State | None:
    """Return the state after a vertex, or None if the rule forbids it."""
    length, free = state
    if not member:
        return (0, False) if length <= 0 or free or length >= rule.least else None
    if length <= 0:
        free = length < 0 and not rule.at_ends
        length = 0
    length += 1
    if rule.most is None:
        length = min(length, rule.least)
    elif length > rule.most:
        return None
    return length, free and length < rule.least


def _ended(rule: Consecutive, state: _State) -> _State | None:
    """Return the state at the sink, or None if a run is too short."""
    length, free = state
    complete = length <= 0 or length >= rule.least or free or not rule.at_ends
    return (0, False) if complete else None


def _trimmed(tails: Ints, heads: Ints, arcs: Ints, vertex_of: Ints, sink: int) -> Expanded:
    """Return the graph without vertices that do not reach the sink."""
    kept = reached(len(vertex_of), heads, tails, sink)
    new = np.cumsum(kept) - 1
    usable = kept[tails] & kept[heads]
    return Expanded(new[tails[usable]], new[heads[usable]], int(new[0]), int(new[sink]), arcs[usable], vertex_of[kept])
