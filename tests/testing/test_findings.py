"""The report of a check."""

from collections.abc import Sequence

import pytest

from colgen.testing.conformance import ConformanceError
from tests.assignment import Assignment
from tests.testing.kit import (
    check,
)


def test_raise_if_any_raises_the_report():
    class Broken(Assignment):
        def answer(self, solution: object) -> Sequence[object]:
            raise ValueError("no words for it")

    report = check(kind=Broken)
    with pytest.raises(ConformanceError, match="no words for it"):
        report.raise_if_any()
