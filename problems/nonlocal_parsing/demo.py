"""Sentences parsed twice: by brute force, an integer program in HiGHS, and by branch and bound."""

from __future__ import annotations

import math

import numpy as np

from colgen import solve
from colgen.cli.template import DemoLine
from colgen.problems.nonlocal_parsing.baseline import in_highs
from colgen.problems.nonlocal_parsing.factors import Factors
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance, random
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.solvers.compiling import working_clock
from colgen.solvers.trees.eisner import Parts


def planted() -> list[DemoLine]:
    """A sentence whose best tree changes with one factor: two brackets that hang from one word."""
    return [_compare(bracketed())]


def random_factors() -> list[DemoLine]:
    """Factors of either sign, overlapping, over adjacent siblings and outermost grandchildren."""
    instance = random(14, 3, order=3, num_factors=150)
    return [_compare(instance)]


def bracketed() -> NonlocalInstance:
    """An invented sentence: the arc scores hang the second bracket from the wrong word, a factor puts it right."""
    words = ("we", "saw", "(", "or", "heard", ")", "the", "train")
    heads = (2, 0, 5, 5, 2, 8, 8, 2)
    scores = np.full((9, 9), -2.0)
    scores[np.array(heads), np.arange(1, 9)] = 2.0
    scores[5, 6] = 1.0
    factors = Factors.of(9, [(((5, 3), (5, 6)), 2.5), (((8, 6), (8, 7), (2, 8)), 0.5)])
    return NonlocalInstance(Parts(scores), factors, words=words, name="brackets, an invented sentence of 8 words")


def num_trees(num_words: int) -> int:
    """Projective trees of so many words, one of which hangs from the root: 1, 2, 7, 30, 143, ..."""
    return math.comb(3 * num_words - 2, num_words - 1) // num_words


def _compare(instance: NonlocalInstance) -> DemoLine:
    solve(NonlocalParsing(random(4, 0, order=instance.parts.order)))  # compiles the kernels, which is nobody's speed
    started = working_clock()
    complete = in_highs(instance, time_limit=30.0)
    brute_force_seconds = working_clock() - started
    problem = NonlocalParsing(instance)
    started = working_clock()
    result = solve(problem)
    seconds = working_clock() - started
    instance.check(result.answer)
    return DemoLine(
        instance=instance.name,
        objective=result.objective,
        brute_force_objective=None if complete.heads is None else complete.objective,
        proof=result.termination.value,
        columns_used=problem.effort.total,  # every call of the dynamic program gives one tree
        columns_possible=num_trees(instance.num_words),
        brute_force="integer program in HiGHS",
        brute_force_seconds=brute_force_seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
        brute_force_proved=complete.proved,
    )
