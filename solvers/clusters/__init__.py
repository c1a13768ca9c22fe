"""Clustering of items by pair scores: heuristics, bounds, reductions and the pricing search over subsets."""
