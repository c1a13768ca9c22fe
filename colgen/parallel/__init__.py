"""Parallel execution: threads, processes, clusters."""
