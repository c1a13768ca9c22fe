"""The restricted master: its interface, and the linear master that most problems use."""
