"""A scripted relaxation: no linear program, no columns, just bounds."""

from colgen import Decision, Sense, Solution
from colgen.bounding.run import Run
from colgen.core.stop import AnyOf
from colgen.tree.node import Evaluation
from colgen.tree.queues import BestBound, DepthFirst, LevelWise, Plunging
from colgen.tree.search import Relaxation, branch_and_bound

QUEUES = [BestBound, Plunging, DepthFirst, LevelWise]


class Go(Decision):
    """The decision for the left or right child, "l" or "r"."""

    def __init__(self, way):
        self.way = way

    def __repr__(self):
        return self.way


class Script(Relaxation):
    """``script[path]`` is the bound of a node, or a pair with the objective of a solution; children extend the path."""

    def __init__(self, run, script, sign=1):
        self.run, self.script, self.sign = run, script, sign
        self.visited = []

    def evaluate(self, node):
        path = "".join(d.way for d in node.decisions)
        self.visited.append(path)
        entry = self.script[path]
        if isinstance(entry, Evaluation):
            return entry
        bound, objective = entry if isinstance(entry, tuple) else (entry, None)
        if objective is not None:
            self.run.offer(Solution(self.sign * objective), None, "the script")
        children = [[Go(way)] for way in "lr" if path + way in self.script]
        return Evaluation(self.sign * bound, "branched" if children else "leaf", children)


# The optimum 13 lies below the worse child; the better child has the bound 11 and the solution 14.
SCRIPT = {"": 10.0, "l": 11.0, "r": 12.0, "ll": (14.0, 14.0), "lr": 13.5, "rl": (13.0, 13.0), "rr": 12.5, "rrl": 15.0}


def search(script, sense=Sense.MINIMIZE, queue=BestBound, step=None, **limits):
    run = Run(sense, AnyOf(), step)
    relaxation = Script(run, script, sense.sign)
    return branch_and_bound(relaxation, run, queue=queue(sense), **limits), relaxation, run
