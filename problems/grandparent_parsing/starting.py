"""Where the published method's linear program begins: at the best tree of the arcs alone, whose basis is known.

One basis of a tree's arcs and parts has, besides what is positive in it, each variable z_pc with p > 0 in the place of
the row ``one_gp`` of its arc.  Its dual values π_pc(one_gp) are then raised already as far as the reduced cost of z_pc
allows, as the source does where an arc is not used (its section 4.3.3).  Of a tree's arc (p, c) the dual value is the
score of its part (g, p, c): parts of other grandparents that score more would improve at once, and each of them would
enter at zero, in the place of its own row ``gp_arc``.  They are among the first columns, and basic.
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
    """A tree, and the parts that are basic in it, shape (parts, 3).

    Attributes
    ----------
    heads
        Of all vertices, -1 of the root.
    own
        Its parts.
    better
        Parts of its arcs and of other grandparents that score more.
    """

    heads: Ints
    own: Ints
    better: Ints


def first_tree(heads: Heads, oracle: GrandparentParts) -> FirstTree:
    """A tree with its parts, and those that score more than they: only what bounds let hope so is scored."""
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
    """Let the first solve of a master start from the basis of a tree, if all that is basic in it is there."""
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
