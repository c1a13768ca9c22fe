"""Dual bounds of nodes: column generation and Lagrangian methods, with the checks of their results."""
