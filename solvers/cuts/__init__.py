"""Rank-1 cuts: what they count in columns, and which of them a fractional solution violates."""
