"""Cuts: separation of rank-1, capacity and mixed-integer rounding cuts, and coefficients of rank-1 cuts."""
