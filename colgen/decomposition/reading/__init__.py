"""From a Pyomo model to arrays, blocks and subproblems."""
