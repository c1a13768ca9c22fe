"""One bounding after the other."""

import pytest

from colgen import ColumnGeneration, Method, solve
from colgen.bounding.bundle import Bundle
from colgen.bounding.chain import Chain
from colgen.bounding.protocol import Bounding
from colgen.bounding.volume import Volume
from colgen.core.errors import InputError
from tests.assignment import assignment
from tests.toys import CuttingStock


class Watched(Bounding):
    def __init__(self, bounding):
        self.bounding = bounding
        self.nodes = []

    def bound(self, node, parts):
        self.nodes.append(node)
        self.columns = parts.master.num_columns
        return self.bounding.bound(node, parts)


def test_dual_values_and_columns_are_handed_on():
    problem = assignment(4, 9, 3)
    second = Watched(ColumnGeneration())
    result = solve(problem, relaxation=True, method=Method(bounding=Chain(Bundle(14), second)))
    (node,) = second.nodes
    assert node.duals is not None
    assert second.columns > 9 + 4  # more than the template's variables
    assert result.dual_bound == pytest.approx(solve(problem, relaxation=True).dual_bound)


def test_it_ends_where_the_first_decides():
    problem = assignment(4, 9, 3)
    second = Watched(ColumnGeneration())
    result = solve(problem, method=Method(bounding=Chain(Bundle(100), second)))
    assert result.is_optimal
    assert not second.nodes


def test_a_bounding_that_does_not_fit_is_passed_over_with_a_note():
    problem = CuttingStock()
    result = solve(problem, relaxation=True, method=Method(bounding=Chain(Volume(5), ColumnGeneration())))
    assert result.dual_bound == pytest.approx(452.25)
    assert [note for note in result.notes if "Volume was skipped" in note and "Knapsack" in note]


@pytest.mark.parametrize("boundings", [(), (Volume,), (ColumnGeneration(), "volume")])
def test_an_invalid_bounding_raises_an_error(boundings):
    with pytest.raises(InputError, match="Chain"):
        Chain(*boundings)
