"""Modularity of well-known graphs by the estimator, compared with published optima and with an integer program."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import networkx as nx

from benchmarks.harness import Say
from colgen.cli.template import Figure
from colgen.problems.coreference.baseline import all_link_in_highs
from colgen.problems.coreference.instance import modularity
from colgen.solvers.linear.lp import LPStatus

PUBLISHED = {"karate": 0.41979, "les miserables": 0.56001, "dolphins": 0.52852, "football": 0.60457}
"""Optima of unweighted graphs, rounded to five digits.

Source: D. Aloise and others, *Column generation algorithms for exact modularity maximization in networks*, Physical
Review E 82, 046112 (2010).
"""

_ROUNDED = 5.1e-6
_SECONDS = 300.0

_BUILT_IN: dict[str, tuple[Callable[[], nx.Graph], str | None]] = {
    "karate": (nx.karate_club_graph, None),
    "karate, weighted": (nx.karate_club_graph, "weight"),
    "les miserables": (nx.les_miserables_graph, None),
    "les miserables, weighted": (nx.les_miserables_graph, "weight"),
    "davis": (nx.davis_southern_women_graph, None),
    "florentine families": (nx.florentine_families_graph, None),
}


def modularity_figures(data: Path | None, say: Say) -> list[Figure]:
    """Count the graphs whose proved modularity is the published one, or the optimum of an integer program."""
    if importlib.util.find_spec("sklearn") is None:
        say("modularity by the estimator is skipped: scikit-learn is not installed")
        return []
    from colgen.problems.coreference.estimators import ModularityClustering

    graphs = {name: (build(), weight) for name, (build, weight) in _BUILT_IN.items()}
    for name in ("dolphins", "football"):
        path = None if data is None else data / "graphs" / f"{name}.gml"
        if path is not None and path.is_file():
            graphs[name] = nx.Graph(nx.read_gml(path, label="id")), None
        else:
            say(f"modularity of {name} is skipped: graphs/{name}.gml is not in the folder --data DIR")
    right = 0
    for name, (graph, weight) in graphs.items():
        found = ModularityClustering("precomputed").fit(nx.to_numpy_array(graph, weight=weight))
        if name in PUBLISHED:
            expected, tolerance, source = PUBLISHED[name], _ROUNDED, "published"
        else:
            expected, tolerance, source = _by_integer_program(graph, weight), 1e-6, "integer program"
        right += found.proved_ and abs(found.objective_ - expected) <= tolerance
        proof = "proved" if found.proved_ else "not proved"
        say(f"modularity of {name}: {found.objective_:.6f}, {proof}; {source}: {expected:.6f}")
    note = f"{len(PUBLISHED.keys() & graphs.keys())} published, the rest by an integer program"
    return [Figure("modularity_graphs_optimal", float(right), "graphs", len(graphs), note)]


def _by_integer_program(graph: nx.Graph, weight: str | None) -> float:
    """Return the modularity that HiGHS proves with one variable per pair of nodes; nan if it does not end in time."""
    instance = modularity(graph, weight=weight)
    found = all_link_in_highs(instance, _SECONDS, needed_rows_alone=True)
    return found.objective + instance.constant if found.status is LPStatus.OPTIMAL else float("nan")
