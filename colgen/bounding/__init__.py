"""What a node is bounded by, and what a run believes of it."""
