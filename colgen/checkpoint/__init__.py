"""Checkpoints and pools of columns in files."""
