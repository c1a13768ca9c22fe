"""The knapsack of the first programs: it lives in :mod:`solvers.packing.knapsack`."""

from solvers.packing.knapsack import bounded_knapsack

__all__ = ["bounded_knapsack"]
