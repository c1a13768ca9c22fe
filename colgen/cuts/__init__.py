"""Separation of violated rows."""
