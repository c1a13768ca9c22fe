"""Kernels used by this problem only."""
