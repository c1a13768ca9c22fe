"""Graphs as files: communities by modularity, or clusterings by the scores of edges."""

from __future__ import annotations

from pathlib import Path

import networkx as nx

from colgen import InputError
from colgen.core.files import read_text
from colgen.problems.coreference.instance import CoreferenceInstance, from_graph, modularity, read_matrix

MATRICES, GRAPHS = (".npz", ".npy"), (".gml", ".edges")
SCORES = ("modularity", "edges")


def read(path: Path | str, *, graph: str = SCORES[0], resolution: float = 1.0) -> CoreferenceInstance:
    """Read a score matrix (.npy, .npz) or a graph (.gml, or .edges: two nodes and perhaps a number a line).

    Parameters
    ----------
    graph
        ``"modularity"``: clusters are communities, and the weights of edges count as often as there are edges.
        ``"edges"``: the weight of an edge is the score of its nodes, and others score 0.
    resolution
        The resolution of the modularity; larger values give smaller communities.

    Raises
    ------
    InputError
        If the file has other contents; the message names the line or the edge.
    """
    path = Path(path)
    if path.suffix not in GRAPHS:
        return read_matrix(path)
    found = read_gml(path) if path.suffix == ".gml" else read_edges(path)
    try:
        if graph == "edges":
            return from_graph(found, name=path.stem)
        return modularity(found, resolution=resolution, name=path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_gml(path: Path | str) -> nx.Graph:
    """Return the graph of a GML file; its nodes are named by their labels if these differ, else by their numbers."""
    try:
        graph = nx.Graph(nx.parse_gml(read_text(path), label="id"))
    except nx.NetworkXError as error:
        raise InputError(f"{path}: expected a graph in GML: {error}") from None
    labels = nx.get_node_attributes(graph, "label")
    if len(labels) == len(graph) and len(set(labels.values())) == len(graph):
        return nx.relabel_nodes(graph, labels)
    return graph


def read_edges(path: Path | str) -> nx.Graph:
    """Return the graph of a list of edges; empty lines and those that begin with # are skipped."""
    graph = nx.Graph()
    for number, line in enumerate(read_text(path).splitlines(), 1):
        parts = line.split()
        if not parts or line.startswith("#"):
            continue
        try:
            weight = float(parts[2]) if len(parts) == 3 else 1.0
        except ValueError:
            weight = float("nan")
        if len(parts) not in (2, 3) or weight != weight:
            raise InputError(f"{path}: line {number}: expected two nodes and perhaps a number, not {line.strip()!r}")
        graph.add_edge(parts[0], parts[1], weight=weight)
    if not graph:
        raise InputError(f"{path}: expected at least one edge, found none")
    return graph
