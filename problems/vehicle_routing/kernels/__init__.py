"""Kernels of this problem alone."""
