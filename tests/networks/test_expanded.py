"""Runs of consecutive visits against enumeration."""

import itertools

import numpy as np
import pytest

from colgen import InputError
from colgen.networks import Consecutive
from colgen.networks.expanded import expand
from colgen.networks.graph import Graph


def days(count):
    """Return a graph with two vertices per day, 'w' and 'o'."""
    ends = [("s", (0, kind)) for kind in "wo"]
    ends += [((d, a), (d + 1, b)) for d in range(count - 1) for a in "wo" for b in "wo"]
    ends += [((count - 1, kind), "t") for kind in "wo"]
    tails, heads = zip(*ends, strict=True)
    return Graph((list(tails), list(heads)), "s", "t")


def feasible(word, kind, least, most, at_ends):
    runs = [(k, len(list(group))) for k, group in itertools.groupby(word)]
    for place, (k, length) in enumerate(runs):
        inner = 0 < place < len(runs) - 1
        if k == kind and ((most and length > most) or (length < least and (inner or at_ends))):
            return False
    return True


@pytest.mark.parametrize("at_ends", [False, True])
@pytest.mark.parametrize(("least", "most"), [(1, 2), (2, 3), (2, None), (3, 3), (1, None)])
def test_runs_have_the_stated_lengths(least, most, at_ends):
    count = 6
    graph = days(count)
    work = [vertex for vertex in graph.vertices if isinstance(vertex, tuple) and vertex[1] == "w"]
    rest = [vertex for vertex in graph.vertices if isinstance(vertex, tuple) and vertex[1] == "o"]
    rules = [Consecutive(work, least, most, at_ends), Consecutive(rest, 2)]
    found = expand(graph, np.arange(len(graph.tails)), rules)
    words = set()

    def walk(vertex, word):
        if vertex == found.sink:
            words.add(word)
            return
        for arc in np.flatnonzero(found.tails == vertex).tolist():
            name = graph.vertices[found.vertex_of[found.heads[arc]]]
            walk(found.heads[arc], word + (name[1] if isinstance(name, tuple) else ""))

    walk(found.source, "")
    every = {"".join(word) for word in itertools.product("wo", repeat=count)}
    expected = {w for w in every if feasible(w, "w", least, most, at_ends) and feasible(w, "o", 2, None, False)}
    assert words == expected


def test_rules_that_no_path_satisfies_are_refused():
    graph = days(3)
    every = [vertex for vertex in graph.vertices if isinstance(vertex, tuple)]
    with pytest.raises(InputError, match="no path satisfies"):
        expand(graph, np.arange(len(graph.tails)), [Consecutive(every, 4, None, at_ends=True)])
    with pytest.raises(InputError, match="'z' is not a vertex"):
        expand(graph, np.arange(len(graph.tails)), [Consecutive(["z"])])
    with pytest.raises(InputError, match="1 ≤ least ≤ most"):
        expand(graph, np.arange(len(graph.tails)), [Consecutive(every, 3, 2)])
