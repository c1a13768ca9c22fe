"""Structures that are derivations of a hypergraph: one recursion for best, k best, sums, derivatives and samples."""
