"""Whether rounds of the engine have proved a result: what benchmarks count."""

from __future__ import annotations

import math

from colgen.core.result import Iteration, NodeRecord, Result, Termination
from colgen.core.tolerances import TOLERANCES, size


def proved_by_engine(result: Result) -> bool:
    """Whether oracle calls in the engine's rounds have computed the bounds that end the search.

    Each node without children has a priced round, its own or an ancestor's, that states its bound or a better one; an
    infeasible node has a priced round of its own, and so has one whose columns were enumerated and hold nothing better:
    a bound that says something, from which it follows which columns these are.  A run that the engine calls optimal has
    held the answer's objective against the problem's own check.
    """
    if result.termination not in (Termination.OPTIMAL, Termination.INFEASIBLE):
        return False
    priced: dict[int, list[Iteration]] = {}
    for record in result.iterations:
        if record.pricing_seconds > 0.0:
            priced.setdefault(record.node, []).append(record)
    if not result.nodes:  # a guess was proved before there was a tree
        return any(_states(result, record, result.root_bound) for record in priced.get(0, ()))
    nodes = {node.number: node for node in result.nodes}
    parents = {node.parent for node in result.nodes}
    return all(_is_proved(result, node, nodes, priced) for node in result.nodes if node.number not in parents)


def _is_proved(
    result: Result, leaf: NodeRecord, nodes: dict[int, NodeRecord], priced: dict[int, list[Iteration]]
) -> bool:
    if leaf.outcome == "infeasible":
        return bool(priced.get(leaf.number))
    hopeless = result.sense.hopeless
    if leaf.bound == hopeless and leaf.outcome != "enumerated":  # an oracle says that there is no answer in the node
        return any(record.phase == 2 and record.dual_bound == hopeless for record in priced.get(leaf.number, ()))
    if leaf.outcome == "enumerated" and math.isinf(leaf.bound):
        mine = priced.get(leaf.number, ())
        return any(_states(result, one, result.root_bound if leaf.depth == 0 else one.dual_bound) for one in mine)
    node: NodeRecord | None = leaf
    while node is not None:
        if any(_states(result, record, leaf.bound) for record in priced.get(node.number, ())):
            return True
        node = None if node.parent is None else nodes.get(node.parent)
    return False


def _states(result: Result, record: Iteration, bound: float) -> bool:
    """Whether a round proves no less than a bound, which has to say something."""
    if record.phase != 2 or (math.isinf(bound) and result.termination is not Termination.INFEASIBLE):
        return False
    tolerance = TOLERANCES.pruning * size(0.0, bound, record.dual_bound)
    return not result.sense.is_better(record.dual_bound, bound, tolerance)
