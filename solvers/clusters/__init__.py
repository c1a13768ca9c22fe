"""Clusterings, subsets, partitions."""
