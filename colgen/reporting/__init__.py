"""Logs, tables, pictures, reports, and comparisons of methods."""
