"""Splitting of work."""

import pytest

from colgen.core.workers import shares


@pytest.mark.parametrize(("number", "count"), [(0, 2), (1, 4), (5, 2), (7, 7), (20, 3)])
def test_shares_cover_all_items_in_order_and_are_nearly_equal(number, count):
    found = [list(range(number))[share] for share in shares(number, count)]
    assert [thing for share in found for thing in share] == list(range(number))
    assert all(found)
    assert not found or max(map(len, found)) - min(map(len, found)) <= 1
