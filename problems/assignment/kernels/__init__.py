"""Compiled loops over machines and tasks."""
