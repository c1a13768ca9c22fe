"""The conformance kit: :func:`check_problem` checks a problem that you have written."""

from colgen.testing.conformance import check_problem

__all__ = ["check_problem"]
