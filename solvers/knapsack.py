"""The knapsack of the first programs: it lives in :mod:`colgen.solvers.packing.knapsack`."""

from colgen.solvers.packing.knapsack import bounded_knapsack

__all__ = ["bounded_knapsack"]
