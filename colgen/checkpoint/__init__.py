"""Checkpoints: a run's state in a file, and how a run goes on from it."""
