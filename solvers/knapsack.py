"""Alias of :mod:`colgen.solvers.packing.knapsack` for short first programs."""

from colgen.solvers.packing.knapsack import bounded_knapsack

__all__ = ["bounded_knapsack"]
