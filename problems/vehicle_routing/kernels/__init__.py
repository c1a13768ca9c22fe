"""Kernels of vehicle routing."""
