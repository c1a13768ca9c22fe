"""Linear programs."""
