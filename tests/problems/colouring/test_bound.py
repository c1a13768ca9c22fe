from fractions import Fraction

import networkx as nx
import pytest

from colgen import solve
from colgen.core.result import Certificate
from colgen.problems.colouring import Colouring, from_networkx, mycielski, queens, random
from colgen.problems.colouring.bound import exact_bound, fractional_chromatic_number, verify


@pytest.mark.parametrize(
    ("instance", "value"),
    [
        (from_networkx(nx.cycle_graph(7)), Fraction(7, 3)),
        (from_networkx(nx.petersen_graph()), Fraction(5, 2)),
        (mycielski(4), Fraction(29, 10)),
        (mycielski(5), Fraction(29, 10) + Fraction(10, 29)),
        (from_networkx(nx.complete_graph(4)), Fraction(4)),
    ],
)
def test_fractional_chromatic_numbers(instance, value):
    assert fractional_chromatic_number(instance) == value


def test_certificates_are_checked_in_integers():
    instance = random(40, 3)
    result = solve(Colouring(instance))
    assert verify(instance, result.certificate) <= result.objective
    assert verify(queens(5), solve(Colouring(queens(5))).certificate) == 5
    assert verify(instance, None) == 1
    forged = Certificate(99.0, {("vertex", v): 99.0 for v in range(40)})
    assert verify(instance, forged) <= result.objective
    assert exact_bound(instance, {0: 1.0}) == 1
