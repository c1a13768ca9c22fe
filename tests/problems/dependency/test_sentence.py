import itertools

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import InputError
from colgen.problems.dependency import Sentence, check_tree, find_cycle, is_projective

some_heads = st.integers(1, 7).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n))


def is_arborescence(heads):
    graph = nx.DiGraph((head, token) for token, head in enumerate(heads, 1))
    return graph.number_of_nodes() == len(heads) + 1 and nx.is_arborescence(graph) and graph.in_degree(0) == 0


@given(heads=some_heads)
def test_trees_match_networkx(heads):
    if is_arborescence(heads):
        assert find_cycle(heads) == []
        check_tree(heads)
    else:
        cycle = find_cycle(heads)
        assert [heads[token - 1] for token in cycle] == cycle[1:] + cycle[:1]
        with pytest.raises(InputError, match="cycle"):
            check_tree(heads)


@given(heads=some_heads.filter(is_arborescence))
def test_projective_means_that_no_two_arcs_cross(heads):
    arcs = [tuple(sorted((head, token))) for token, head in enumerate(heads, 1)]
    crossing = any(a < c < b < d or c < a < d < b for (a, b), (c, d) in itertools.combinations(arcs, 2))
    assert is_projective(heads) is not crossing


@pytest.mark.parametrize(
    ("heads", "how", "message"),
    [
        ((0, 3), {}, "token 2: expected a head from 0 to 2, not 3"),
        ((0, -1), {}, "from 0 to 2"),
        ((0, 1), {"length": 3}, "3 tokens, got 2"),
        ((0, 0, 1), {"single_root": True}, "got 2: 1, 2"),
        ((2, 3, 2), {}, "tokens 2, 3 form a cycle"),
    ],
)
def test_check_tree_refuses(heads, how, message):
    with pytest.raises(InputError, match=message):
        check_tree(heads, **how)


def test_missing_fields_are_filled_in():
    sentence = Sentence(("a", "b"))
    assert sentence.lemmas == sentence.coarse == sentence.fine == ("_", "_")
    assert sentence.morphology == ({}, {})
    assert (len(sentence), sentence.num_roots, sentence.is_projective) == (2, 0, False)
    parsed = sentence.with_heads([0, 1])
    assert (parsed.heads, parsed.num_roots, parsed.is_projective) == ((0, 1), 1, True)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"forms": ()}, "no tokens"),
        ({"forms": ("a", "")}, "token 2"),
        ({"forms": ("a",), "lemmas": ("a", "b")}, "lemmas for 1 tokens"),
        ({"forms": ("a", "b"), "heads": (2, 1)}, "cycle"),
    ],
)
def test_malformed_sentences(fields, message):
    with pytest.raises(InputError, match=message):
        Sentence(**fields)
