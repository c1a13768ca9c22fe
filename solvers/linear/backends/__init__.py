"""Solvers of linear programs behind one protocol: HiGHS, and those that are there if somebody has installed them."""
