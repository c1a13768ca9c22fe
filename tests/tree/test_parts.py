"""What a tree is searched with, where nothing is said."""

from colgen import MostFractional
from colgen.tree.parts import Search


def test_nothing_is_searched_with_by_default():
    search = Search()
    assert [*search.branching, *search.reductions, *search.heuristics] == []
    assert search.relaxation_only is False
    assert search.enumeration is None
    assert search.rounding is None
    assert isinstance(search.choice, MostFractional)
