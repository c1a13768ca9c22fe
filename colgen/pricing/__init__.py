"""Pricing problems and their oracles."""
