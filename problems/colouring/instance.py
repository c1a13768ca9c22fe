"""Instances of graph colouring: validated data, files, generators."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.core.files import read_bytes, read_text, write_text
from colgen.core.numbers import numbers_of, to_integer

LARGEST = 20_000
"""Maximum number of vertices, because the adjacency matrix of more would exhaust memory."""


@dataclass(frozen=True)
class ColouringInstance:
    """A graph to be coloured.

    Parameters
    ----------
    num_vertices
        Number of vertices, which are numbered from 0.
    edges
        Pairs of vertices in any order; duplicates are merged.
    labels
        A distinct name for each vertex; by default its number.
    reading
        How an ambiguous file was interpreted, in a few words.

    Raises
    ------
    InputError
        If the data is invalid, or an edge is a loop.
    """

    num_vertices: int
    edges: tuple[tuple[int, int], ...]
    labels: tuple[Hashable, ...] = field(default=(), repr=False)
    name: str = ""
    reading: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        count = to_integer(self.num_vertices, "the number of vertices")
        if not 1 <= count <= LARGEST:
            raise InputError(f"the number of vertices must be 1 to {LARGEST:,}, not {count:,}")
        distinct = set()
        for edge in self.edges:
            try:
                u, v = edge
            except (TypeError, ValueError):
                raise InputError(f"an edge must be a pair of vertices, not {str(edge)[:40]!r}") from None
            u, v = to_integer(u, "each end of an edge"), to_integer(v, "each end of an edge")
            if not (0 <= u < count and 0 <= v < count):
                raise InputError(f"the edge ({u}, {v}) has an end outside the vertices 0 to {count - 1}")
            if u == v:
                raise InputError(f"vertex {u} is its own neighbour, which no colouring allows")
            distinct.add((min(u, v), max(u, v)))
        labels = tuple(self.labels) or tuple(range(count))
        if len(labels) != count or len(set(labels)) != count:
            raise InputError(f"expected {count} different labels, one per vertex")
        object.__setattr__(self, "num_vertices", count)
        object.__setattr__(self, "edges", tuple(sorted(distinct)))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "name", str(self.name))

    @cached_property
    def adjacency(self) -> NDArray[np.bool_]:
        """The adjacency matrix, a symmetric mask of shape (vertices, vertices)."""
        mask = np.zeros((self.num_vertices, self.num_vertices), dtype=np.bool_)
        if self.edges:
            ends = np.array(self.edges)
            mask[ends[:, 0], ends[:, 1]] = mask[ends[:, 1], ends[:, 0]] = True
        mask.setflags(write=False)
        return mask

    def objective(self, answer: Sequence[int]) -> int:
        """Return the number of colours."""
        return len(set(answer))

    def check(self, answer: Sequence[int]) -> int:
        """Return the number of colours after validating every edge against the data.

        Parameters
        ----------
        answer
            The colour of each vertex, an integer.

        Raises
        ------
        ValueError
            If the colouring is improper or incomplete; the message gives the reason.
        """
        colours = numbers_of(answer, "a colour for each vertex")
        if len(colours) != self.num_vertices:
            raise ValueError(f"{len(colours)} vertices have a colour, the graph has {self.num_vertices} vertices")
        for u, v in self.edges:
            if colours[u] == colours[v]:
                raise ValueError(f"the neighbours {self.labels[u]!r} and {self.labels[v]!r} have the same colour")
        return len(set(colours))

    def by_label(self, answer: Sequence[int]) -> dict[Hashable, int]:
        """Return a dictionary from the label of each vertex to its colour."""
        return dict(zip(self.labels, answer, strict=True))


def from_networkx(graph: Any, name: str = "") -> ColouringInstance:
    """Return the instance of an undirected networkx graph, with its nodes as labels."""
    if not isinstance(graph, nx.Graph) or graph.is_directed():
        raise InputError(f"expected an undirected networkx graph, not a {type(graph).__name__}")
    labels = tuple(graph.nodes)
    number = {label: k for k, label in enumerate(labels)}
    return ColouringInstance(len(labels), tuple((number[u], number[v]) for u, v in graph.edges()), labels, name)


# --- files -----------------------------------------------------------------------------------------------------------

_GEOMETRY = ("d", "v", "x")
"""Lines with coordinates of geometric graphs."""


def read(path: Path | str) -> ColouringInstance:
    """Read a graph in the DIMACS colouring format.

    The line ``p edge VERTICES EDGES`` comes first, then a line ``e U V`` for each edge, with vertices numbered from 1.
    Lines that begin with c are comments.  Edges may be given in both directions.  Vertex values, ``n V VALUE``, are
    ignored.

    Raises
    ------
    InputError
        If the file is malformed; the message names the file and the line.
    """
    path = Path(path)
    _reject_binary(path)
    count = announced = given = values = 0
    edges: set[tuple[int, int]] = set()
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not words or words[0][0] == "c" or (count and words[0] in _GEOMETRY):
            continue
        if words[0] == "p" and not count and len(words) == 4 and words[1] in ("edge", "edges", "col"):
            count, announced = (_number(path, number, word, 0, 10**9) for word in words[2:])
            if not 1 <= count <= LARGEST:
                raise InputError(f"{path}, line {number}: expected 1 to {LARGEST:,} vertices, not {count:,}")
        elif words[0] == "e" and count and len(words) == 3:
            u, v = (_number(path, number, word, 1, count) for word in words[1:])
            if u == v:
                raise InputError(f"{path}, line {number}: vertex {u} is its own neighbour, which no colouring allows")
            edges.add((min(u, v) - 1, max(u, v) - 1))
            given += 1
        elif words[0] == "n" and count and len(words) == 3:
            _number(path, number, words[1], 1, count)
            values += 1
        elif words[0] in ("e", "n") and not count:
            raise InputError(f"{path}, line {number}: expected the line 'p edge VERTICES EDGES' before {line[:40]!r}")
        else:
            expected = "'e U V', an edge" if count else "'p edge VERTICES EDGES'"
            raise InputError(f"{path}, line {number}: expected {expected}, not {line[:40]!r}")
    if not count:
        raise InputError(f"{path}: expected a line 'p edge VERTICES EDGES', found none")
    reading = []
    if announced not in (given, len(edges), 2 * len(edges)):
        reading.append(f"{len(edges):,} different edges, line p announces {announced:,}")
    if values:
        reading.append(f"without the values of vertices ({values:,} lines n)")
    return ColouringInstance(count, tuple(edges), tuple(range(1, count + 1)), path.stem, "; ".join(reading))


def _reject_binary(path: Path) -> None:
    """Reject DIMACS's binary format: a preamble preceded by its length, and a bit matrix."""
    if path.name.endswith(".b") or (
        re.match(rb"\d+\s*\n[cp]", content := read_bytes(path)) and (b"\0" in content or not _is_text(content))
    ):
        raise InputError(f"{path}: this is DIMACS's binary format: convert it with bin2asc")


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _number(path: Path, line: int, word: str, low: int, high: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 20) or not low <= int(word) <= high:
        raise InputError(f"{path}, line {line}: expected an integer from {low} to {high}, not {word[:20]!r}")
    return int(word)


def write(instance: ColouringInstance, path: Path | str) -> None:
    """Write the DIMACS format that :func:`read` reads."""
    lines = [f"p edge {instance.num_vertices} {len(instance.edges)}"]
    lines += [f"e {u + 1} {v + 1}" for u, v in instance.edges]
    write_text(path, "\n".join(lines) + "\n")


# --- generators ------------------------------------------------------------------------------------------------------


def random(num_vertices: int, seed: int, *, density: float = 0.5) -> ColouringInstance:
    """Return a random graph G(n, p): every pair is an edge with probability ``density``."""
    rng = np.random.default_rng(seed)
    chosen = np.triu(rng.random((num_vertices, num_vertices)) < density, 1)
    edges = tuple((int(u), int(v)) for u, v in np.argwhere(chosen))
    return ColouringInstance(num_vertices, edges, name=f"random-{num_vertices}-{density:g}-{seed}")


def queens(rows: int, columns: int | None = None) -> ColouringInstance:
    """Return the queen graph of a board: squares one queen's move apart are neighbours."""
    columns = rows if columns is None else columns
    squares = [(i, j) for i in range(rows) for j in range(columns)]
    edges = tuple(
        (k, m)
        for k, (i, j) in enumerate(squares)
        for m, (r, c) in enumerate(squares[:k])
        if i == r or j == c or abs(i - r) == abs(j - c)
    )
    return ColouringInstance(len(squares), edges, tuple(squares), f"queen{rows}_{columns}")


def mycielski(colours: int) -> ColouringInstance:
    """Return the triangle-free Mycielski graph with the given chromatic number, at least 2."""
    graph = nx.mycielski_graph(colours)
    return ColouringInstance(graph.number_of_nodes(), tuple(graph.edges()), name=f"myciel{colours - 1}")
