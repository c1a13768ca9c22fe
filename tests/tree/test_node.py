"""Nodes and their decisions."""

from colgen import AnyOf, Sense
from colgen.bounds.run import Run
from colgen.core.path import DecisionPath
from colgen.tree.queues import DepthFirst
from colgen.tree.search import branch_and_bound
from problems.cutting_stock.trees import Free


def test_a_deep_dive_puts_decisions_together_only_where_they_are_asked_for(monkeypatch):
    """A copy of all of them at each node would be quadratic in the depth."""
    asked = []
    whole = DecisionPath.decisions
    monkeypatch.setattr(DecisionPath, "decisions", property(lambda path: asked.append(path) or whole.fget(path)))
    run = Run(Sense.MINIMIZE, AnyOf())
    result = branch_and_bound(Free(10**6), run, queue=DepthFirst(Sense.MINIMIZE), node_limit=100)
    assert result.nodes[-1].depth > 90
    assert asked == []
    assert len(result.nodes[-1].decisions) == result.nodes[-1].depth
