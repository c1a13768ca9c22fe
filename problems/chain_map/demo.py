"""Small models decoded twice: by Viterbi's algorithm over all labels, and by column generation."""

from __future__ import annotations

from colgen import solve
from colgen.cli.template import DemoLine
from colgen.problems.chain_map.baseline import viterbi
from colgen.problems.chain_map.instance import ChainInstance, random
from colgen.problems.chain_map.template import ChainMAP
from colgen.solvers.compiling import working_clock


def tagged_sentences() -> list[DemoLine]:
    """Chains with as many labels as parts of speech."""
    return [_compare(random(0, chains=500, labels=49), "500 chains, 49 labels")]


def many_labels() -> list[DemoLine]:
    """Chains with as many labels as parts of speech times entities."""
    return [_compare(random(1, chains=100, labels=343, evidence=6.0), "100 chains, 343 labels")]


def _compare(instance: ChainInstance, name: str) -> DemoLine:
    small = random(0, labels=4)
    viterbi(small)  # compiles the kernels, which is nobody's speed
    solve(ChainMAP(small))
    _ = instance.pairwise.exchanges  # once for a model
    started = working_clock()
    complete = viterbi(instance)
    brute_force_seconds = working_clock() - started
    started = working_clock()
    result = solve(ChainMAP(instance))
    seconds = working_clock() - started
    instance.check(result.answer.labels)
    edges = instance.forest.num_nodes - instance.num_trees
    return DemoLine(
        instance=name,
        objective=result.objective,
        brute_force_objective=complete.objective,
        proof=result.termination.value,
        columns_used=result.iterations[-1].columns,
        columns_possible=edges * instance.num_labels**2,
        brute_force="Viterbi",
        brute_force_seconds=brute_force_seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
    )
