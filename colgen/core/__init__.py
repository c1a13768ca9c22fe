"""Data of the engine: sense, keys, columns and rows, dual values, solutions, decisions, budget, tolerances, results."""
