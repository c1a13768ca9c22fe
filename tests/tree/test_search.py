"""Branch and bound over a scripted relaxation: no linear program, no columns, just bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import InputError, Method, Record, Sense, Solution, Termination, Wentges, solve
from colgen.bounding.run import Run
from colgen.core.errors import ChildBoundError
from colgen.core.stop import AnyOf
from colgen.tree.node import Evaluation
from colgen.tree.queues import BestBound, DepthFirst, LevelWise
from colgen.tree.search import branch_and_bound
from tests.tree.scripts import QUEUES, SCRIPT, Go, Script, search
from tests.zoo import Partitioning


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("sense", list(Sense))
def test_optimum_is_found_and_proved(queue, sense):
    result, relaxation, run = search(SCRIPT, sense, queue)
    assert result.termination is Termination.OPTIMAL
    assert run.objective == sense.sign * 13
    assert result.bound == sense.sign * 13
    assert result.nodes[0].bound == sense.sign * 10
    assert relaxation.visited[0] == ""
    assert len(relaxation.visited) == len(set(relaxation.visited))


def test_pruned_nodes_are_not_evaluated():
    script = {"": 10.0, "l": (11.0, 11.0), "r": 12.0, "rl": 12.0}
    result, relaxation, _ = search(script, queue=DepthFirst)
    # r has the bound 10 of the root and must be evaluated; its child has the bound 12 and need not be.
    assert relaxation.visited == ["", "l", "r"]
    assert result.termination is Termination.OPTIMAL
    assert result.bound == 11


def test_rounding_prunes():
    script = {"": 10.0, "l": 10.2, "r": 10.3, "ll": (11.0, 11.0), "lr": 10.5}
    # A bound of 10.2 proves 11 if objectives are integer; r has the bound 10 of the root and must be evaluated.
    assert search(script, queue=DepthFirst, step=1.0)[1].visited == ["", "l", "ll", "r"]
    assert search(script, queue=DepthFirst)[1].visited == ["", "l", "ll", "lr", "r"]


def test_node_limit():
    result, relaxation, run = search(SCRIPT, queue=DepthFirst, node_limit=3)
    assert result.termination is Termination.NODE_LIMIT
    assert relaxation.visited == ["", "l", "ll"]
    assert run.objective == 14
    assert result.bound == 10  # r is open, with the bound of the root


def test_depth_limit():
    result, relaxation, _ = search(SCRIPT, queue=DepthFirst, depth_limit=1)
    assert result.termination is Termination.DEPTH_LIMIT
    assert relaxation.visited == ["", "l", "r"]
    assert result.bound == 11  # the better of the two nodes that were not split


def test_depth_limit_that_does_not_matter():
    result, _, _ = search({"": 10.0, "l": (11.0, 11.0), "r": 12.0, "rl": 13.0}, queue=DepthFirst, depth_limit=1)
    assert result.termination is Termination.OPTIMAL


def test_unresolved_leaf_weakens_the_bound():
    script = dict(SCRIPT, lr=Evaluation(12.5, "stuck", unresolved=Termination.NO_BRANCHING))
    result, _, run = search(script)
    assert result.termination is Termination.NO_BRANCHING
    assert run.objective == 13
    assert result.bound == 12.5


def test_unresolved_leaf_that_cannot_be_better():
    script = dict(SCRIPT, lr=Evaluation(13.5, "stuck", unresolved=Termination.NO_BRANCHING))
    result, _, _ = search(script)
    assert result.termination is Termination.OPTIMAL
    assert result.bound == 13


def test_stop_keeps_the_bound_of_everything_open():
    script = dict(SCRIPT, r=Evaluation(12.0, "stopped", stop=Termination.TIME_LIMIT))
    result, relaxation, run = search(script, queue=DepthFirst)
    assert relaxation.visited[-1] == "r"
    assert result.termination is Termination.TIME_LIMIT
    assert run.objective == 14
    assert result.bound == 12


def test_infeasible_tree():
    nothing = Evaluation(math.inf, "infeasible")
    result, _, _ = search({"": 1.0, "l": nothing, "r": nothing})
    assert result.termination is Termination.INFEASIBLE
    assert result.bound == math.inf


def test_interrupt_keeps_what_the_node_proved():
    """Promise 6."""

    class Interrupted(Script):
        def evaluate(self, node):
            if node.number == 2:
                self.run.node_bound = 11.5  # as its rounds would
                raise KeyboardInterrupt
            return super().evaluate(node)

    run = Run(Sense.MINIMIZE, AnyOf())
    result = branch_and_bound(Interrupted(run, SCRIPT), run, queue=LevelWise(Sense.MINIMIZE))
    assert result.termination is Termination.INTERRUPTED
    assert result.bound == 11  # the children of l
    assert result.nodes[-1].outcome == "interrupted"
    assert result.nodes[-1].bound == 11.5


def test_child_that_is_better_than_its_parent():
    script = {"": 10.0, "l": Evaluation(9.0, "solved", exact=9.0), "r": 12.0}
    with pytest.raises(ChildBoundError, match="parent"):
        search(script)
    # A bound that is weaker than the parent's is no contradiction: the parent's bound still holds.
    result, _, _ = search({"": 10.0, "l": 9.0, "r": 12.0, "ll": (10.0, 10.0)})
    assert result.termination is Termination.OPTIMAL
    assert result.bound == 10


def test_global_bound_never_weakens():
    seen = []

    class Watching(Script):
        def evaluate(self, node):
            seen.append(self.run.global_bound)
            return super().evaluate(node)

    run = Run(Sense.MINIMIZE, AnyOf(), 1.0)
    branch_and_bound(Watching(run, SCRIPT), run, queue=BestBound(Sense.MINIMIZE))
    assert seen == sorted(seen)


def test_records_describe_the_tree():
    result, _, _ = search(SCRIPT, queue=LevelWise)
    assert [(n.number, n.parent, n.depth) for n in result.nodes[:5]] == [
        (0, None, 0),
        (1, 0, 1),
        (2, 0, 1),
        (3, 1, 2),
        (4, 1, 2),
    ]
    assert [d.way for d in result.nodes[3].decisions] == ["l", "l"]


@st.composite
def trees(draw):
    """Random trees whose bounds grow downwards; each leaf has a solution at its bound, or none."""
    script = {}

    def grow(path, bound):
        leaf = len(path) == 4 or draw(st.integers(0, 2)) == 0
        script[path] = (bound, bound) if leaf and draw(st.booleans()) else bound
        if not leaf:
            for way in "lr":
                grow(path + way, bound + draw(st.integers(0, 3)))

    grow("", float(draw(st.integers(-5, 5))))
    return script


@given(trees(), st.sampled_from(QUEUES), st.sampled_from(list(Sense)), st.sampled_from([None, 1.0]))
def test_any_tree_in_any_order(script, queue, sense, step):
    answers = [entry[1] for entry in script.values() if isinstance(entry, tuple)]
    result, _, run = search(script, sense, queue, step)
    if answers:
        assert result.termination is Termination.OPTIMAL
        assert run.objective == result.bound == sense.sign * min(answers)
    else:
        assert result.termination is Termination.INFEASIBLE


@given(trees(), st.sampled_from(QUEUES), st.integers(1, 6), st.sampled_from(list(Sense)))
def test_bounds_of_stopped_trees_are_valid(script, queue, nodes, sense):
    """Promise 1."""
    answers = [entry[1] for entry in script.values() if isinstance(entry, tuple)]
    result, _, run = search(script, sense, queue, node_limit=nodes)
    best = sense.sign * min(answers) if answers else sense.hopeless
    assert not sense.is_better(best, result.bound)
    assert not sense.is_better(run.objective, best)
    if result.termination is Termination.OPTIMAL:
        assert run.objective == best


def test_on_node_receives_the_incumbent_and_the_bounds():
    problem = Partitioning(size=9, seed=4, cuts=False)
    visits = []
    result = solve(problem, method=Method(heuristics=(), stabilization=Wentges()), record=Record(on_node=visits.append))
    assert result.is_optimal
    assert [visit.node for visit in visits] == list(result.nodes)
    assert visits[-1].open_nodes == 0
    assert visits[-1].objective == visits[-1].dual_bound == result.objective
    assert visits[-1].incumbent is result.solution
    assert visits[0].incumbent.objective == visits[0].objective > result.objective
    assert visits[0].open_nodes == 2
    bounds = [visit.dual_bound for visit in visits]
    assert bounds == sorted(bounds)
    assert all(visit.dual_bound <= result.objective <= visit.objective for visit in visits)
    assert [visit.seconds for visit in visits] == sorted(visit.seconds for visit in visits)
    without = solve(problem, method=Method(heuristics=(), stabilization=Wentges()))
    assert [node.bound for node in without.nodes] == [node.bound for node in result.nodes]


def test_an_error_of_on_node_carries_the_result():
    def stop(visit):
        if visit.node.number:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough") as caught:
        solve(Partitioning(size=9, seed=4, cuts=False), method=Method(heuristics=()), record=Record(on_node=stop))
    assert caught.value.result.iterations
    with pytest.raises(InputError, match="on_node: expected a function of a NodeVisit, not 3"):
        solve(Partitioning(), record=Record(on_node=3))


class Rising(Script):
    """A path of nodes whose bounds rise by ``slope`` per node, from the incumbent's objective 100 away."""

    def __init__(self, run, slope, length):
        super().__init__(run, {})
        self.slope, self.length, self.root_bound = slope, length, 0.0
        run.offer(Solution(100.0), None, "the script")

    def evaluate(self, node):
        depth = len(node.decisions)
        return Evaluation(self.slope * depth, "branched", [[Go("l")]] if depth < self.length else [])


@pytest.mark.parametrize(("slope", "asked"), [(0.2, []), (0.05, [64, 128])])
def test_another_solver_is_asked_only_if_the_tree_does_not_progress(slope, asked):
    run, seen = Run(Sense.MINIMIZE, AnyOf()), []
    relaxation = Rising(run, slope, 200)
    branch_and_bound(relaxation, run, complete=lambda nodes: seen.append(nodes // 10))
    assert seen == asked
