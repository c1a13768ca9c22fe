"""Pricing problems of blocks, by kind."""
