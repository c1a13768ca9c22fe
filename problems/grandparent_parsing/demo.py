"""Random sentences solved twice: by the complete linear program, and by price and cut with a proof of the best tree."""

from __future__ import annotations

from colgen import solve
from colgen.cli.template import DemoLine
from colgen.problems.grandparent_parsing.baseline import solve_complete
from colgen.problems.grandparent_parsing.instance import random
from colgen.problems.grandparent_parsing.model import grandparent_triples
from colgen.problems.grandparent_parsing.template import GrandparentParsing
from colgen.solvers.compiling import working_clock


def short_sentence() -> list[DemoLine]:
    """Eight tokens."""
    return [_compare(8, 0)]


def sentence() -> list[DemoLine]:
    """Fifteen tokens."""
    return [_compare(15, 1)]


def _compare(tokens: int, seed: int) -> DemoLine:
    instance = random(tokens, seed)
    GrandparentParsing(instance, start="tree").formulation()  # compiled once a length, like the complete model
    solve(GrandparentParsing(random(2, 0)))
    complete = solve_complete(instance)
    started = working_clock()
    problem = GrandparentParsing(instance)
    result = solve(problem)
    seconds = working_clock() - started
    instance.check(result.answer)
    return DemoLine(
        instance=instance.name,
        objective=result.objective,
        brute_force_objective=complete.objective if complete.is_whole else None,
        proof=result.termination.value,
        columns_used=problem.added["grandparent"],
        columns_possible=len(grandparent_triples(tokens)),
        brute_force="complete linear program in HiGHS",
        brute_force_seconds=complete.seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
    )
