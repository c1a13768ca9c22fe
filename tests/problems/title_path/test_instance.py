import json
import math

import networkx as nx
import numpy as np
import pytest

from colgen import InputError, Termination, solve
from colgen.problems.title_path import PathInstance, TitlePath, from_graph, random, read, write
from colgen.problems.title_path.instance import as_length

N = float("nan")
SMALL = PathInstance(
    [[-math.inf, 2.0, 1.0], [0.5, -math.inf, 4.0], [1.0, -math.inf, -math.inf]],
    [1.0, 0.0, -math.inf],
    [0.0, 3.0, -1.0],
    2,
    ("x", "y", "y"),
    ("a", "b", "c"),
)


def square(n, value=0.0):
    return np.full((n, n), value)


# --- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ((square(0), [], [], 1), "at least one vertex"),
        ((square(2), [0, 0], [0, 0], 0), "the length k must be at least 1, not 0"),
        ((square(2), [0, 0], [0, 0], -3), "at least 1, not -3"),
        ((square(2), [0, 0], [0, 0], 1.5), "must be an integer, not 1.5"),
        ((square(2), [0, 0], [0, 0], N), "must be an integer"),
        ((square(2), [0, 0], [0, 0], None), "must be an integer, not None"),
        ((square(2), [0, 0], [0], 1), r"sink: expected shape \(2,\), got \(1,\)"),
        ((square(3), [0, 0], [0, 0], 1), r"the weights of the arcs: expected shape \(2, 2\)"),
        ((square(2, N), [0, 0], [0, 0], 1), r"entry \(0, 0\) is nan"),
        ((square(2), [0, N], [0, 0], 1), "arcs from the source: .* entry 1 is nan"),
        ((square(2), [0, 0], [math.inf, 0], 1), "arcs to the sink: .* entry 0 is inf"),
        ((square(2), ["a", 0], [0, 0], 1), "expected numbers"),
        ((square(2), [0, 0], [0, 0], 1, ("x",)), "classes of 2 vertices, got 1"),
        ((square(2), [0, 0], [0, 0], 1, (), ("x",)), "labels of 2 vertices, got 1"),
        ((square(2), [0, 0], [0, 0], 1, (), ("x", "x")), "different labels"),
        ((square(2), [0, 0], [0, 0], 1, (), (), "", square(2)), r"of shape \(3, 2\)"),
    ],
)
def test_invalid_data_raises(data, complaint):
    with pytest.raises(InputError, match=complaint):
        PathInstance(*data)


def test_defaults():
    instance = PathInstance(square(2), [0, 0], [0, 0], np.int64(2))
    assert instance.classes == instance.labels == (0, 1)
    assert type(instance.length) is int
    assert instance.num_vertices == instance.num_classes == 2


def test_data_is_copied_and_read_only():
    weights = square(2)
    instance = PathInstance(weights, [0, 0], [0, 0], 1)
    weights[0, 1] = 7.0
    assert instance.weights[0, 1] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        instance.weights[0, 1] = 7.0


def test_classes_are_numbered_as_they_appear():
    assert SMALL.class_numbers.tolist() == [0, 1, 1]
    assert SMALL.num_classes == 2


def test_other_length():
    assert SMALL.with_length(1).length == 1
    assert SMALL.with_length(1).labels == SMALL.labels
    with pytest.raises(InputError, match="at least 1"):
        SMALL.with_length(0)


# --- answers ---------------------------------------------------------------------------------------------------------


def test_check_weighs_the_path():
    assert SMALL.check((0, 1)) == SMALL.objective((0, 1)) == 6.0
    assert SMALL.check(np.array([1, 0])) == 0.5


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ((0,), "has 1 vertices, expected 2"),
        ((0, 3), "outside 0 to 2"),
        ((0, -1), "outside 0 to 2"),
        ((1, 2), "class 'y' twice: at 'b' and 'c'"),
        ((1, 1), "class 'y' twice"),
        ((2, 0), "arc that does not exist"),
    ],
)
def test_check_raises_for_infeasible_paths(path, complaint):
    with pytest.raises(ValueError, match=complaint):
        SMALL.check(path)


# --- graphs ----------------------------------------------------------------------------------------------------------


def digraph():
    g = nx.DiGraph()
    g.add_node("a", **{"class": 1})
    g.add_node("b", **{"class": 1})
    g.add_weighted_edges_from([("s", "a", 1), ("a", "b", 2), ("b", "t", 3), ("s", "c", -1), ("c", "t", 0)])
    g.add_weighted_edges_from(
        [("a", "t", 1), ("a", "c", 5), ("a", "s", 9), ("t", "a", 9), ("s", "t", 9), ("a", "a", 9)]
    )
    return g


def test_graph_of_networkx():
    instance = from_graph(digraph(), "s", "t", 2)
    assert instance.labels == ("a", "b", "c")
    assert instance.class_numbers.tolist() == [0, 0, 1]
    assert instance.objective((0, 2)) == 6.0
    assert np.isneginf(instance.weights).sum() == 7
    assert from_graph(digraph(), "s", "t", 2, classes={"c": 1, "b": 1}).class_numbers.tolist() == [0, 1, 1]


def test_a_class_may_have_the_name_of_a_vertex():
    g = digraph()
    g.nodes["a"]["class"] = "c"
    assert from_graph(g, "s", "t", 2).num_classes == 3


def test_the_heaviest_of_parallel_arcs_counts():
    g = nx.MultiDiGraph()
    g.add_edge("s", "a", weight=1.0, label="the")
    g.add_edge("s", "a", weight=0.0)
    g.add_edge("a", "b", weight=1.0, label="of")
    g.add_edge("a", "b", weight=2.0)
    g.add_edge("b", "t", weight=1.0)
    g.add_edge("b", "t", weight=5.0)
    instance = from_graph(g, "s", "t", 2)
    assert instance.check((0, 1)) == 8.0
    assert instance.words((0, 1)) == ["the", "a", "b"]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda g: from_graph(g.to_undirected(), "s", "t", 2), "directed graph"),
        (lambda g: from_graph(g, "q", "t", 2), "the source 'q' is not a vertex"),
        (lambda g: from_graph(g, "s", "q", 2), "the sink 'q' is not a vertex"),
        (lambda g: from_graph(g, "s", "s", 2), "must be different"),
        (lambda g: from_graph(g, "s", "t", 2, classes={"q": 1}), "classes has 'q'"),
        (lambda g: from_graph(g, "s", "t", 2, weight="cost"), "the arc from 'a' to 'b' has no attribute 'cost'"),
        (lambda g: from_graph(g, "s", "t", 0), "at least 1"),
    ],
)
def test_invalid_graphs_raise(call, complaint):
    with pytest.raises(InputError, match=complaint):
        call(digraph())


@pytest.mark.parametrize("weight", [N, math.inf, "x", None])
def test_invalid_weights_are_named(weight):
    g = digraph()
    g.edges["a", "c"]["weight"] = weight
    with pytest.raises(InputError, match="the arc from 'a' to 'c' has the weight"):
        from_graph(g, "s", "t", 2)


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "instance",
    [SMALL, random(6, 3, 0, num_classes=4, density=0.6), from_graph(digraph(), "s", "t", 2)],
    ids=["small", "random", "networkx"],
)
def test_written_graphs_are_read_back(tmp_path, instance):
    write(instance, tmp_path / "graph.json")
    again = read(tmp_path / "graph.json")
    usable = instance.graph
    assert np.array_equal(again.graph.weights, usable.weights)
    assert np.array_equal(again.first, instance.first)
    assert np.array_equal(again.last, instance.last)
    assert np.array_equal(again.class_numbers, instance.class_numbers)
    assert (again.length, again.labels) == (instance.length, instance.labels)


def test_labels_of_arcs_are_written(tmp_path):
    via = np.full((4, 3), -1)
    via[3, 0], via[0, 1] = 0, 1
    instance = PathInstance(
        SMALL.weights, SMALL.first, SMALL.last, 2, SMALL.classes, SMALL.labels, "t", via, ("the", "of")
    )
    write(instance, tmp_path / "graph.json")
    assert read(tmp_path / "graph.json").words((0, 1)) == instance.words((0, 1)) == ["the", "a", "of", "b"]


GOOD = {"length": 1, "vertices": [{"name": "a"}, {"name": "b"}], "arcs": [[None, "a", 1], ["a", None, 2]]}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"length": 0}, "at least 1"),
        ({"length": None}, "integer"),
        ({"vertices": [], "arcs": []}, "at least one vertex"),
        ({"vertices": {}}, "a list of vertices"),
        ({"vertices": ["a"]}, "vertex number 0: expected an object with a name"),
        ({"vertices": [{"name": "a"}, {"name": "a"}]}, "different labels"),
        ({"arcs": 3}, "a list of arcs"),
        ({"arcs": [["a", "b"]]}, "arc number 0: expected a list of tail, head, weight"),
        ({"arcs": [["a", "q", 1]]}, "arc number 0: unknown vertex 'q'"),
        ({"arcs": [[["a"], "b", 1]]}, r"arc number 0: unknown vertex \['a'\]"),
        ({"arcs": [[None, None, 1]]}, "leads from the source to the sink"),
        ({"arcs": [["a", "b", "x"]]}, "the arc from 'a' to 'b' has the weight 'x'"),
        ({"arcs": [["a", "b", N]]}, "expected finite numbers, not NaN"),
    ],
)
def test_malformed_graphs_raise(tmp_path, change, complaint):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError, match=complaint) as caught:
        read(path)
    assert "bad.json" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"{", "line 1: expected JSON"), (b"[]", "an object with length"), (b"\xff\xfe", "not a text file")],
)
def test_other_files_raise(tmp_path, content, complaint):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read(tmp_path / "bad.json")


def test_missing_file():
    with pytest.raises(InputError, match="cannot be read"):
        read("nowhere.json")


# --- random instances ------------------------------------------------------------------------------------------------


def test_random_instances_are_deterministic():
    a, b = random(7, 3, 5, num_classes=4, density=0.5), random(7, 3, 5, num_classes=4, density=0.5)
    assert np.array_equal(a.weights, b.weights)
    assert a.classes == b.classes
    assert not np.array_equal(a.weights, random(7, 3, 6, num_classes=4, density=0.5).weights)


def test_density_and_attraction():
    sparse = random(40, 3, 0, density=0.25)
    assert 0.2 < (sparse.weights > -math.inf).mean() < 0.3
    drawn, plain = random(40, 3, 0, attraction=10.0), random(40, 3, 0)
    assert drawn.weights.mean(axis=0).std() > 3 * plain.weights.mean(axis=0).std()


def test_too_many_vertices_raise_before_allocation(tmp_path):
    path = tmp_path / "wide.json"
    vertices = [{"name": k} for k in range(20_000)]
    path.write_text(json.dumps({"length": 2, "vertices": vertices, "arcs": []}))
    with pytest.raises(InputError, match="at most 8192 vertices, got 20000"):
        read(path)


@pytest.mark.parametrize(
    "content",
    [
        '{"length": 1e400, "vertices": [{"name": "a"}], "arcs": []}',
        '{"length": 9223372036854775808, "vertices": [{"name": "a"}], "arcs": [[null, "a", 1]], "length": 1}',
        '{"length": 1, "vertices": [{"name": "a"}], "arcs": [[null, "a", NaN]]}',
        '{"length": 1, "vertices": [{"name": "a"}], "arcs": [[null, "a", 1e999]]}',
        '{"length": 1, "vertices": [{"name": "a"}], "arcs": [[null, ["a"], 1]]}',
        '{"length": 1, "vertices": [{"name": "a", "class": {}}], "arcs": [[null, "a", 1]]}',
        '{"length": 1, "vertices": [{"name": "a"}, {"name": "a"}], "arcs": [[null, "a", 1]]}',
        '{"length": 1, "vertices": [], "arcs": []}',
        "[" * 100_000,
        '{"length": "one", "vertices": [{"name": "a"}], "arcs": []}',
        '{"length": true, "vertices": [{"name": "a"}], "arcs": []}',
        '{"length": 1, "vertices": [{"name": true}], "arcs": [[null, "a", 1]]}',
        "",
        "\x00",
    ],
)
def test_unusual_files_raise_one_line(tmp_path, content):
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300 + len(str(path))


def test_a_huge_length_is_infeasible_without_memory():
    instance = random(4, 2, 0).with_length(2**62)
    assert solve(TitlePath(instance)).termination is Termination.INFEASIBLE


def test_a_length_beyond_64_bits_raises():
    with pytest.raises(InputError, match="less than 2"):
        as_length(2**70)
