"""The tree as elements of a page."""

import math
import re

from colgen.core.result import NodeRecord
from colgen.reporting import tree_page

OUTCOMES = ("branched", "pruned", "whole", "infeasible", "<odd>")


def binary(count):
    return [
        NodeRecord(n, (n - 1) // 2 if n else None, (n + 1).bit_length() - 1, float(n), OUTCOMES[n % 5])
        for n in range(count)
    ]


def test_every_node_is_drawn_once_below_its_parent_with_its_bound_and_what_became_of_it():
    drawn = tree_page.tree(binary(31))
    marks = re.findall(r'<g class="(\w+)" tabindex="0" data-n="(\d+)" data-p="(\d*)" .*?<title>(.*?)</title>', drawn)
    assert [int(n) for _, n, _, _ in marks] == list(range(31))
    assert [parent for _, _, parent, _ in marks] == [str((n - 1) // 2) if n else "" for n in range(31)]
    assert marks[4][0] == "other"
    assert marks[4][3] == "node 4, depth 2: &lt;odd&gt;, bound 4"
    assert len(re.findall("<line ", drawn)) == 30
    assert "branched (7)" in drawn


def test_of_a_large_tree_the_first_nodes_are_drawn_and_how_many_are_not_is_said():
    drawn = tree_page.tree(list(reversed(binary(2_500))))
    assert drawn.count("<title>") == 2_000
    assert 'data-n="1999"' in drawn
    assert "500 later nodes are left out" in drawn


def test_a_node_without_a_bound_says_so():
    assert "no bound" in tree_page.tree([NodeRecord(0, None, 0, -math.inf, "infeasible")])
