"""Knapsacks and set covering."""
