"""Labellings of chains and trees: MAP, sums over labellings, messages and domains."""
