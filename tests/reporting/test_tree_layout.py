"""Places of the nodes of a tree."""

from colgen.core.result import NodeRecord
from colgen.reporting.tree_layout import layout


def test_deep_trees_have_a_place_for_every_node():
    nodes = [NodeRecord(0, None, 0, 1.0, "branched")]
    for k in range(1500):
        parent = 2 * k - 1 if k else 0
        nodes.append(NodeRecord(2 * k + 1, parent, k + 1, 1.0, "branched"))
        nodes.append(NodeRecord(2 * k + 2, parent, k + 1, 1.0, "odd"))
    place = layout(nodes)
    assert len(place) == len(nodes)
    assert len({(place[n.number], n.depth) for n in nodes}) == len(nodes)


def test_a_parent_stands_in_the_middle_above_its_children():
    parents = {0: None, 1: 0, 2: 0, 3: 1, 4: 1}
    nodes = [NodeRecord(n, parent, 0, 1.0, "branched") for n, parent in parents.items()]
    assert layout(nodes) == {3: 0.0, 4: 1.0, 1: 0.5, 2: 2.0, 0: 1.25}
