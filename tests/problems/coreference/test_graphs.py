"""Graphs as files: what they contain, and what bad ones get."""

import json

import networkx as nx
import numpy as np
import pytest

from colgen import InputError, solve
from colgen.cli.main import main
from colgen.problems.coreference import Coreference
from colgen.problems.coreference.graphs import read, read_edges, read_gml
from colgen.problems.coreference.instance import from_graph, modularity


def test_gml_has_the_modularity_of_networkx(tmp_path):
    graph = nx.karate_club_graph()
    for _, _, data in graph.edges(data=True):
        data.clear()
    nx.write_gml(graph, tmp_path / "karate.gml")
    instance = read(tmp_path / "karate.gml")
    assert np.allclose(instance.scores, modularity(graph).scores)
    result = solve(Coreference(instance))
    groups = [{instance.labels[i] for i in cluster} for cluster in result.answer]
    named = nx.relabel_nodes(graph, str)
    assert result.objective + instance.constant == pytest.approx(nx.community.modularity(named, groups))
    assert result.objective + instance.constant == pytest.approx(0.4197896)


def test_labels_name_nodes_if_they_differ(tmp_path):
    path = tmp_path / "g.gml"
    text = 'graph [ node [ id 3 label "{}" ] node [ id 5 label "b" ] edge [ source 3 target 5 ] ]'
    path.write_text(text.format("a"))
    assert set(read_gml(path)) == {"a", "b"}
    path.write_text(text.format("b"))
    assert set(read_gml(path)) == {3, 5}


def test_edges_are_scores_or_weights(tmp_path):
    path = tmp_path / "g.edges"
    path.write_text("# a comment\na b 2.5\n\nb c -1\nc d\n")
    graph = read_edges(path)
    assert dict(graph["b"]) == {"a": {"weight": 2.5}, "c": {"weight": -1.0}}
    assert np.array_equal(read(path, graph="edges").scores, from_graph(graph).scores)
    assert solve(Coreference(read(path, graph="edges"))).objective == pytest.approx(3.5)
    path.write_text("a b 2\nb c 1\n")
    assert np.allclose(read(path, resolution=0.5).scores, modularity(read_edges(path), resolution=0.5).scores)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.edges", "a b\na\n", "line 2: expected two nodes and perhaps a number, not 'a'"),
        ("g.edges", "a b much\n", "line 1: expected two nodes and perhaps a number, not 'a b much'"),
        ("g.edges", "a b nan\n", "line 1: expected two nodes"),
        ("g.edges", "# nothing\n", "expected at least one edge, found none"),
        ("g.edges", "a b -1\n", "modularity needs an undirected graph of positive total weight"),
        ("g.gml", "graph [ node [", "expected a graph in GML"),
    ],
)
def test_other_contents_raise(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / name)


def test_graphs_are_solved_from_the_command_line(tmp_path, capsys):
    (tmp_path / "g.edges").write_text("a b\nb c\na c\nc d\nd e\ne f\nd f\n")
    out = tmp_path / "out.json"
    assert main(["solve", "coreference", str(tmp_path / "g.edges"), "--json", str(out)]) == 0
    clusters = json.loads(out.read_text())["answer"]
    assert sorted(sorted(member["label"] for member in cluster) for cluster in clusters) == [
        ["a", "b", "c"],
        ["d", "e", "f"],
    ]
    assert "modularity 0.357143" in capsys.readouterr().out
    main(["solve", "coreference", str(tmp_path / "g.edges"), "--option", "graph=edges"])
    assert "modularity" not in capsys.readouterr().out
