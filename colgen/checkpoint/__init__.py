"""Checkpoints and pools of columns in files. A checkpoint continues the same run (promise 7)."""
