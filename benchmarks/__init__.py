"""Benchmarks: what ``colgen bench`` measures.  They are part of a checkout, not of the installed package."""
