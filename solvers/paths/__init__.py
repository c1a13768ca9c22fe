"""Walks and paths."""
