import networkx as nx
import numpy as np
import pytest

from colgen import InputError
from colgen.problems.colouring import ColouringInstance, from_networkx, mycielski, queens, random, read, write

TRIANGLE = ColouringInstance(3, ((0, 1), (1, 2), (2, 0)))


def test_an_answer_is_counted_and_checked():
    assert TRIANGLE.check([0, 1, 2]) == TRIANGLE.objective([0, 1, 2]) == 3
    for answer, message in (([0, 1, 1], "have the same colour"), ([0, 1], "2 vertices"), ([0, 1, 0.5], "integer")):
        with pytest.raises(ValueError, match=message):
            TRIANGLE.check(answer)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((0, ()), "number of vertices"),
        ((2.5, ()), "integer"),
        ((2, ((0, 2),)), "outside the vertices 0 to 1"),
        ((2, ((1, 1),)), "its own neighbour"),
        ((2, ((1,),)), "pair"),
        ((2, (), ("a", "a")), "different labels"),
    ],
)
def test_invalid_data_raises(data, message):
    with pytest.raises(InputError, match=message):
        ColouringInstance(*data)


def test_written_files_are_read_back(tmp_path):
    path = tmp_path / "graph.col"
    for instance in (TRIANGLE, random(12, 0), ColouringInstance(2, ())):
        write(instance, path)
        again = read(path)
        assert (again.num_vertices, again.edges) == (instance.num_vertices, instance.edges)
    path.write_text("c a comment\np col 2 2\ne 1 2\ne 2 1\n")  # both directions
    assert read(path).edges == ((0, 1),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found none"),
        ("f 1 2\n", "line 1: expected 'p edge"),
        ("e 1 2\np edge 3 1\n", "line 1: expected the line 'p edge VERTICES EDGES' before 'e 1 2'"),
        ("p edge 3 1\ne 1 2\nn 4 1\n", "line 3: expected an integer from 1 to 3"),
        ("8\np col 3 1\n", "line 1: expected 'p edge VERTICES EDGES', not '8'"),
        ("p edge 2 1\ne 1 3\n", "line 2: expected an integer from 1 to 2"),
        ("p edge 2 " + 30 * "0" + 6000 * "9" + "\n", "line 1: expected an integer"),
        ("p edge 2 1\ne 1 1\n", "line 2: vertex 1 is its own"),
        ("p edge 2 1\na 1 5\n", "line 2: expected 'e U V'"),
    ],
)
def test_malformed_files_raise(tmp_path, text, message):
    path = tmp_path / "graph.col"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


def test_graphs_of_networkx_and_generators():
    instance = from_networkx(nx.relabel_nodes(nx.path_graph(3), {0: "a", 1: "b", 2: "c"}))
    assert instance.by_label([0, 1, 0]) == {"a": 0, "b": 1, "c": 0}
    with pytest.raises(InputError, match="undirected"):
        from_networkx(nx.DiGraph([(0, 1)]))
    assert queens(4).adjacency.sum(axis=1).tolist() == [9, 9, 9, 9, 9, 11, 11, 9, 9, 11, 11, 9, 9, 9, 9, 9]
    assert mycielski(4).num_vertices == 11
    assert np.array_equal(random(9, 1).adjacency, random(9, 1).adjacency)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("p edge 3 1\ne 1 2\n", ""),
        ("p edge 3 2\ne 1 2\ne 2 1\n", ""),
        ("cFILE t\np edge 3 7\r\ne 1 2\r\n\x1a", "1 different edges, line p announces 7"),
        ("p edge 3 1\nn 1 4\nn 2 5\ne 1 2\n", "without the values of vertices (2 lines n)"),
    ],
)
def test_ignored_lines_of_a_file_are_reported(text, reading, tmp_path):
    (tmp_path / "g.col").write_bytes(text.encode())
    instance = read(tmp_path / "g.col")
    assert instance.edges == ((0, 1),)
    assert instance.reading == reading


@pytest.mark.parametrize(("name", "bits"), [("g.col.b", b"\x80"), ("g.col", b"\x80\xff\x00"), ("g.col", b"\x00\x40")])
def test_the_binary_format_raises(name, bits, tmp_path):
    (tmp_path / name).write_bytes(b"18\nc g\np col 2 1\n" + bits)
    with pytest.raises(InputError, match=r"binary format: convert it with bin2asc"):
        read(tmp_path / name)
