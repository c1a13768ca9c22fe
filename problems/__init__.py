"""Problem templates: each knows a domain and states it for the engine."""
