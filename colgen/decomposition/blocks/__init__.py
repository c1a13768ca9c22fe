"""Pricing problems of blocks, by their kinds."""
