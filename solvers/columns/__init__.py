"""Columns in compressed form: what they are worth at dual values, what they prove, and which of them are the same."""
