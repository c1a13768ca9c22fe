"""Problem templates on the engine, one folder each."""
