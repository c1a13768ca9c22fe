"""The first basis of the published method's linear program: the best first-order tree.

One basis of a tree's arcs and parts contains, besides the positive variables, each z_pc with p > 0 in place of the
``one_gp`` row of its arc.  The dual values π_pc(one_gp) of unused arcs are then raised as far as the reduced cost of
z_pc allows (Riedel et al., 2012, section 4.3.3).  For an arc (p, c) of a tree the dual value is the score of its part
(g, p, c).  Parts of other grandparents with a higher score would improve at once, and each would enter at zero in place
of its own row ``gp_arc``.  They are therefore among the first columns, and basic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colgen import LinearMaster
from colgen.problems.dependency.sentence import Heads
from colgen.problems.grandparent_parsing.instance import Ints
from colgen.problems.grandparent_parsing.model import arc_ends
from colgen.problems.grandparent_parsing.pricing import GrandparentParts


@dataclass(frozen=True, eq=False)
class FirstTree:
    """A tree (heads of all vertices, -1 for the root) and the parts that are basic in it, shape (parts, 3).

    ``own`` are its parts; ``better`` are parts of its arcs with other grandparents and a higher score.
    """

    heads: Ints
    own: Ints
    better: Ints


def first_tree(heads: Heads, oracle: GrandparentParts) -> FirstTree:
    """Return a tree with its parts and the higher-scoring alternatives; bounds limit which parts are scored."""
    vertices = np.array([-1, *heads], dtype=np.int64)
    children = 1 + np.flatnonzero(vertices[1:] > 0)
    parents = vertices[children]
    own = np.stack([vertices[parents], parents, children], axis=1)
    scores = oracle.score(own)
    given = oracle.scores
    most = np.minimum(given.parent_child_bounds[parents, children], given.grandparent_parent_bounds[:, parents])
    hopeful = oracle.present[:, parents] & (most > scores)
    hopeful[children, np.arange(len(children))] = False
    grandparents, arcs = np.nonzero(hopeful)
    others = np.stack([grandparents, parents[arcs], children[arcs]], axis=1)
    return FirstTree(vertices, own, others[oracle.score(others) > scores[arcs]])


def begin_at(master: LinearMaster, tree: FirstTree) -> None:
    """Start the first solve of a master from the basis of a tree, if all basic columns exist."""
    table, names, blocks = master.table, master.rows.names, master.formulation.column_blocks
    heads, modifiers = arc_ends(len(tree.heads) - 1)
    used = tree.heads[modifiers] == heads
    columns, rows = np.zeros(len(table), dtype=np.bool_), np.zeros(master.num_rows, dtype=np.bool_)
    columns[blocks["z"].positions[used | (heads > 0)]] = True
    if "phi" in blocks:
        columns[blocks["phi"].positions[used]] = True
    for part in map(tuple, np.concatenate([tree.own, tree.better]).tolist()):
        position = table.position.get(("grandparent", part))
        if position is None:
            return
        columns[position] = True
    for block in ("one_root", "source", "no_flow", "gp_arc"):
        rows[names.block(block)] = True
    rows[[names.position["gp_arc", part] for part in map(tuple, tree.better.tolist())]] = False
    master.program.lp.begin_at(columns[table.active], rows, feasible=True)
