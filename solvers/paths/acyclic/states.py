"""State graphs: acyclic graphs whose paths are the paths of a network together with an integer resource."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_booleans, as_floats, as_indices, as_integer, as_integers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.topological import topological_ranks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]
Mask = NDArray[np.bool_]


class States:
    """An acyclic graph of states over a network.

    Every state belongs to a vertex of the network.  Every arc between states belongs to an arc of the network, or stays
    at a vertex.  A path through the states is a path of the network without the steps that stay.  A state is entered
    either by arcs that stay or by arcs of the network.

    Parameters
    ----------
    network : the network
    vertices : the vertex of each state
    tails, heads : the states that each arc joins
    arcs : arc of the network, -1 for an arc that stays at its vertex
    costs : cost of each arc, in addition to the cost of the network's arc; a number or one per arc
    source, sink : first and last state of all paths

    Attributes
    ----------
    tails, heads, arcs, costs : the arcs on paths from source to sink, sorted by head; states are sorted too
    kept : numbers of these arcs among the given ones
    states : numbers of the remaining states among the given ones

    Raises
    ------
    ArrayError
        If the states have a cycle, or an arc does not belong to its network arc.
    """

    def __init__(
        self, network: Network, vertices: ArrayLike, tails: ArrayLike, heads: ArrayLike, arcs: ArrayLike,
        costs: ArrayLike = 0.0, *, source: int, sink: int,
    ) -> None:  # fmt: skip
        vertex = as_indices(vertices, "vertices", upper=network.num_vertices, shape=(None,))
        tail = as_indices(tails, "tails", upper=len(vertex), shape=(None,))
        head = as_indices(heads, "heads", upper=len(vertex), shape=tail.shape)
        arc = as_integers(arcs, "arcs", shape=tail.shape, low=-1, high=network.num_arcs - 1)
        source, sink = (as_integer(end, "source, sink", low=0, high=len(vertex) - 1) for end in (source, sink))
        stays = arc < 0
        wrong = np.where(
            stays, vertex[tail] != vertex[head],
            (network.tails[arc] != vertex[tail]) | (network.heads[arc] != vertex[head]),
        )  # fmt: skip
        if wrong.any() or vertex[source] != network.source or vertex[sink] != network.sink:
            raise ArrayError("arcs: expected arcs of the network between the vertices of the states")
        visits = np.ones(len(vertex), dtype=bool)
        visits[head[stays]] = False
        if visits[head[stays]].any() or not visits[head[~stays]].all():
            raise ArrayError("arcs: expected states entered only by arcs that stay, or only by others")
        extra = np.broadcast_to(as_floats(costs, "costs"), tail.shape)
        rank = topological_ranks(len(vertex), tail, head)
        if rank is None:
            raise ArrayError("tails, heads: expected no cycle of states")
        order = np.lexsort((rank[tail], rank[head]))
        place = np.argsort(rank, kind="stable")
        first = np.searchsorted(rank[head][order], np.arange(len(vertex) + 1)).astype(np.int64)
        every = np.ones(len(order), dtype=bool)
        number, kept = connect(first, rank[tail][order].astype(np.int32), every, rank[source], rank[sink])
        if not len(kept) and source != sink:
            raise ArrayError("tails, heads: expected a path from the source to the sink")
        kept = order[kept]
        self.network = network
        self.states = place[number]
        self.kept = kept
        renumbered = np.full(len(vertex), -1, dtype=np.int32)
        renumbered[self.states] = np.arange(len(self.states), dtype=np.int32)
        self.vertices: Ints = vertex[self.states]
        self.visits: Mask = visits[self.states]
        self.tails: Shorts = renumbered[tail[kept]]
        self.heads: Shorts = renumbered[head[kept]]
        self.arcs: Shorts = arc[kept].astype(np.int32)
        self.costs: Floats = np.ascontiguousarray(extra[kept])

    def path(self, vertices: ArrayLike) -> Ints:
        """Return the states of a path given by its vertices, without waiting.

        Raises
        ------
        ArrayError
            If there is no such path.
        """
        wanted, state = as_indices(vertices, "vertices", upper=self.network.num_vertices, shape=(None,)), 0
        found = [state]
        for vertex in wanted[1:].tolist():
            onwards = self.heads[self.tails == state]
            onwards = onwards[self.vertices[onwards] == vertex]
            if not len(onwards):
                raise ArrayError(f"vertices: no arc goes on to {vertex} after {wanted[: len(found)].tolist()}")
            state = int(onwards[0])
            found.append(state)
        return np.array(found, dtype=np.int64)

    @property
    def num_states(self) -> int:
        return len(self.states)

    @property
    def num_arcs(self) -> int:
        return len(self.tails)

    def __repr__(self) -> str:
        return f"States({self.num_states} states, {self.num_arcs} arcs)"

    @classmethod
    def of_network(cls, network: Network) -> States:
        """Return one state per vertex of an acyclic network."""
        every = np.arange(network.num_vertices)
        return cls(
            network, every, network.tails, network.heads, np.arange(network.num_arcs), source=network.source,
            sink=network.sink,
        )  # fmt: skip

    @classmethod
    def timed(
        cls, network: Network, durations: ArrayLike, upper: ArrayLike, lower: ArrayLike = 0, *,
        costs: ArrayLike | None = None, allowed: ArrayLike | None = None, waiting: bool = False,
    ) -> States:  # fmt: skip
        """Return one state per vertex and integer time.

        A path is at the source at time 0.  It is at the head of an arc its duration later.

        Parameters
        ----------
        durations : an integer of at least 0 per arc; at least 1 on every cycle
        upper, lower : latest and earliest time at each vertex, numbers or one per vertex
        costs : cost of arriving at each vertex at each time, shape (vertices, latest time + 1)
        allowed : whether an arc may be used at each time at its tail, shape (arcs, latest time + 1)
        waiting : whether paths may wait, at no cost, at any vertex
            They also wait for the earliest time of a vertex.  Without waiting they may not arrive before it.
        """
        n = network.num_vertices
        duration = as_integers(durations, "durations", shape=(network.num_arcs,), low=0)
        latest, earliest = (
            np.broadcast_to(as_integers(side, name, low=0), (n,)) for side, name in ((upper, "upper"), (lower, "lower"))
        )
        most = int(latest.max())
        usable = np.ones((network.num_arcs, most + 1), dtype=bool)
        if allowed is not None:
            usable = as_booleans(allowed, "allowed", shape=usable.shape)
        table = np.zeros((n, most + 1)) if costs is None else as_floats(costs, "costs", shape=(n, most + 1))
        arc, time = np.nonzero(usable & (np.arange(most + 1) <= latest[network.tails][:, None]))
        head = network.heads[arc]
        arrival = time + duration[arc]
        if waiting:
            arrival = np.maximum(arrival, earliest[head])
        kept = (arrival <= latest[head]) & (arrival >= earliest[head])
        kept &= (network.tails[arc] != network.source) | (time == 0) | waiting
        arc, time, head, arrival = arc[kept], time[kept], head[kept], arrival[kept]
        # A path ends at the sink at any time: one state.
        sink = n * (most + 1)
        tails, heads = time * n + network.tails[arc], np.where(head == network.sink, sink, arrival * n + head)
        extra = table[head, arrival]
        vertices = np.append(np.arange(sink) % n, network.sink)
        if waiting:
            # After its arrival a path waits in states of its own, and leaves from them.
            here, when = np.nonzero(np.arange(most + 1) <= latest[:, None])
            there, later = here[when < latest[here]], when[when < latest[here]]
            behind = sink + 1
            tails = np.concatenate([tails + behind, when * n + here, later * n + there + behind])
            heads = np.concatenate([heads, when * n + here + behind, (later + 1) * n + there + behind])
            stays = len(here) + len(there)
            arc, extra = np.append(arc, np.full(stays, -1)), np.append(extra, np.zeros(stays))
            vertices = np.append(vertices, vertices[:-1])
        return cls(network, vertices, tails, heads, arc, extra, source=network.source, sink=sink)


@njit(cache=True, nogil=True)
def connect(first: Ints, tails: Shorts, usable: Mask, source: int, sink: int) -> tuple[Ints, Ints]:
    """Return the states and the usable arcs on paths from source to sink, in order."""
    count = len(first) - 1
    reached, ends = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    reached[source] = True
    for head in range(source + 1, sink + 1):
        for arc in range(first[head], first[head + 1]):
            if usable[arc] and reached[tails[arc]]:
                reached[head] = True
                break
    ends[sink] = reached[sink]
    arcs = 0
    for head in range(sink, source, -1):
        if ends[head]:
            for arc in range(first[head], first[head + 1]):
                if usable[arc] and reached[tails[arc]]:
                    ends[tails[arc]] = True
                    arcs += 1
    states, found = np.empty(count, dtype=np.int64), np.empty(arcs, dtype=np.int64)
    size, arcs = 0, 0
    for head in range(source, sink + 1):
        if not ends[head]:
            continue
        states[size] = head
        size += 1
        for arc in range(first[head], first[head + 1]):
            if usable[arc] and reached[tails[arc]]:
                found[arcs] = arc
                arcs += 1
    return states[:size].copy(), found


class Graph(NamedTuple):
    """Usable states and arcs as arrays for the kernels; the source comes first, the sink last.

    * ``first``, ``tails``, ``heads``: the arcs into state v are ``first[v]:first[v + 1]``.
    * ``first_out``, ``out``: the arcs out of state v are ``out[first_out[v]:first_out[v + 1]]``.
    * ``vertices``, ``visits``: the network's vertex of each state, and whether entering the state visits it.
    * ``numbers``, ``arcs``, ``extra``: for each arc its number in :class:`States`, its network arc and its own cost.
    """

    first: Ints
    tails: Shorts
    heads: Shorts
    first_out: Ints
    out: Shorts
    vertices: Ints
    visits: Mask
    numbers: Ints
    arcs: Shorts
    extra: Floats


def graph(states: States, usable: Mask) -> Graph:
    """Return the states and arcs on paths of usable arcs."""
    first = np.searchsorted(states.heads, np.arange(states.num_states + 1)).astype(np.int64)
    number, kept = connect(first, states.tails, usable, 0, states.num_states - 1)
    renumbered = np.zeros(states.num_states, dtype=np.int32)
    renumbered[number] = np.arange(len(number), dtype=np.int32)
    tails, heads = renumbered[states.tails[kept]], renumbered[states.heads[kept]]
    first_out, out = by_tail(len(number), tails)
    return Graph(
        np.searchsorted(heads, np.arange(len(number) + 1)).astype(np.int64), tails, heads, first_out, out,
        states.vertices[number], states.visits[number], kept, states.arcs[kept], states.costs[kept],
    )  # fmt: skip


@njit(cache=True, nogil=True)
def by_tail(count: int, tails: Shorts) -> tuple[Ints, Shorts]:
    """Return the arcs sorted by tail, and where the arcs of each state begin."""
    first = np.zeros(count + 1, dtype=np.int64)
    for arc in range(len(tails)):
        first[tails[arc] + 1] += 1
    for state in range(count):
        first[state + 1] += first[state]
    place, out = first.copy(), np.empty(len(tails), dtype=np.int32)
    for arc in range(len(tails)):
        out[place[tails[arc]]] = arc
        place[tails[arc]] += 1
    return first, out
