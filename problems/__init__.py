"""Problem templates on the engine, a folder each."""
