"""Quadratic programs."""
