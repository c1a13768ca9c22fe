"""Loops over machines and tasks, compiled by numba."""
