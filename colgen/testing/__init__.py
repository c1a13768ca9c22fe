"""The conformance kit: ask :func:`check_problem` about a problem that you have written."""

from colgen.testing.conformance import check_problem

__all__ = ["check_problem"]
