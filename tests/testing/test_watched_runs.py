"""Runs of the engine while somebody watches."""

from tests.assignment import Assignment
from tests.testing.kit import (
    assert_found,
    check,
)


def test_answer_that_fails():
    class Broken(Assignment):
        def answer(self, solution):
            return {"first": solution.columns[99]}

    assert_found(check(kind=Broken), "answer", r"answer\(\): raised IndexError")
