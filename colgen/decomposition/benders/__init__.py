"""Benders' decomposition of two-stage models."""
