"""The proximal bundle method: pieces, and what happens to those that are too many."""

import pytest

from colgen.bounding.bundle import Bundle, BundleAscent
from colgen.core.errors import InputError
from tests.bounding.test_ascent import Roof, optimum, run


@pytest.mark.parametrize("most", [2, 3, 6])
def test_few_pieces_will_do_with_more_rounds(most):
    roof = Roof(4)
    ascent = run(lambda *args, **named: BundleAscent(*args, most=most, **named), roof, 500)
    first = roof.evaluate(0.0 * ascent.point).value
    assert optimum(roof) - ascent.best.value <= 0.1 * (optimum(roof) - first)
    assert sum(weight for weight, _ in ascent.average) == pytest.approx(1.0)


def test_fewer_than_two_pieces_are_refused():
    with pytest.raises(InputError, match="pieces"):
        Bundle(10, pieces=1)
