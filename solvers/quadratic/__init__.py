"""Quadratic programs over convex combinations of structures."""
