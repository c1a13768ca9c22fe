"""Labellings of chains and trees."""
