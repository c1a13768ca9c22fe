"""Titles of docstrings for ``colgen demo``: the best path, by brute force and by row generation.

It needs neither a corpus nor the extra ``learning``: words are selected by tf-idf.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import perm

import numpy as np

from colgen import solve
from colgen.cli.template import DemoLine
from colgen.problems.title_path.baseline import exhaustive
from colgen.problems.title_path.instance import PathInstance, random
from colgen.problems.title_path.language import estimate
from colgen.problems.title_path.learning import NUM_AUXILIARY, title_graph
from colgen.problems.title_path.sections import Section, docstrings
from colgen.problems.title_path.selection import background_of, features, stems_of
from colgen.problems.title_path.template import TitlePath
from colgen.problems.title_path.text import ARTICLES, PREPOSITIONS, sentences
from colgen.solvers.compiling import working_clock

_SECTIONS = 40
"""Docstrings that the scores are estimated from."""

_TF_IDF = 7
"""The column of the features that holds it."""


# The project's own docstrings: those of other packages are what happens to be installed.


def of_the_engine() -> list[DemoLine]:
    """A long docstring of the engine."""
    return [_compare(docstring_graph("colgen", 100, 3))]


def of_the_templates() -> list[DemoLine]:
    """A docstring of a template."""
    return [_compare(docstring_graph("colgen.problems", 50, 3))]


def of_the_kernels() -> list[DemoLine]:
    """A short docstring of a kernel."""
    return [_compare(docstring_graph("colgen.solvers", 26, 4))]


def docstring_graph(package: str, num_words: int, length: int) -> PathInstance:
    """The graph of the docstring of a package whose number of different content words is nearest to ``num_words``."""
    sections = _sections(package)
    chosen = min(sections, key=lambda one: abs(len(stems_of(one.text).words) - num_words))
    return tf_idf_graph(chosen, sections, length)


def tf_idf_graph(section: Section, sections: Sequence[Section], length: int) -> PathInstance:
    """The graph of a text with words selected by the logarithm of their tf-idf, as a share of the largest.

    Parameters
    ----------
    sections
        What document frequencies and bigrams are estimated from.
    """
    stems, x = features(section.text, background_of(sections))
    share = np.log(np.maximum(x[:, _TF_IDF], 1e-3))[list(stems.stem_of_word)]
    parts = [[word.lower() for word in part] for one in sections for part in sentences(one.text)]
    present = {word for part in parts for word in part}
    auxiliary = sorted((ARTICLES | PREPOSITIONS) & present)[:NUM_AUXILIARY]
    classes = tuple(stems.stems[k] for k in stems.stem_of_word)
    return title_graph(stems.words, share, classes, estimate(parts), auxiliary, length, section.name)


@cache
def _sections(package: str) -> list[Section]:
    return docstrings((package,), most=_SECTIONS)


def _compare(instance: PathInstance) -> DemoLine:
    solve(TitlePath(random(5, 2, 0)))  # compiles the kernels, which is nobody's speed
    everything = exhaustive(instance)
    started = working_clock()
    result = solve(TitlePath(instance))
    seconds = working_clock() - started
    instance.check(result.answer)
    title = " ".join(map(str, instance.words(result.answer)))
    return DemoLine(
        instance=f"{instance.name}: {title}",
        objective=result.objective,
        brute_force_objective=everything.objective,
        proof=result.termination.value,
        columns_used=len(result.iterations),  # the master chooses one walk a round
        columns_possible=perm(instance.num_vertices, instance.length),
        brute_force="all paths",
        brute_force_seconds=everything.seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
    )
