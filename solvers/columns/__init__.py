"""Columns in compressed form: reduced costs, bounds, and detection of equal columns."""
