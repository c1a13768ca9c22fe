"""What is measured on graphs, on small ones."""

import networkx as nx

from benchmarks.coreference import graphs
from benchmarks.coreference.bench import bench_coreference
from benchmarks.harness import BenchOptions
from colgen.problems.coreference import modularity


def test_a_folder_of_graphs_is_measured_instead_of_texts(tmp_path, monkeypatch):
    nx.write_gml(nx.Graph(nx.karate_club_graph().edges()), tmp_path / graphs.FOOTBALL)
    monkeypatch.setattr(graphs, "planted", lambda nodes, seed: modularity(nx.cycle_graph(nodes // 10)))
    lines = []
    figures = {f.name: f.value for f in bench_coreference(BenchOptions(tmp_path, True, lines.append))}
    assert figures.keys() == {"seconds_football", "gap_football_5", "gap_planted_80", "gap_planted_90"}
    assert max(figures[name] for name in figures if name.startswith("gap")) < 1e-6
    assert lines[0].startswith("football: column generation 0.41978961")
    assert "proved" in lines[0]
