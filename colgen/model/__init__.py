"""Pyomo models as arrays."""
