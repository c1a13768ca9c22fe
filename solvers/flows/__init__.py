"""Cuts, shortest paths and lot sizing."""
