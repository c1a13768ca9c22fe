"""Solvers of linear programs behind one protocol: HiGHS, and optional ones."""
