"""The default parts of a search."""

from colgen import MostFractional
from colgen.tree.parts import Search


def test_a_search_has_no_parts_by_default():
    search = Search()
    assert [*search.branching, *search.reductions, *search.heuristics] == []
    assert search.relaxation_only is False
    assert search.enumeration is None
    assert search.rounding is None
    assert isinstance(search.choice, MostFractional)
