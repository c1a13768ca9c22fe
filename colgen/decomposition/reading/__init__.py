"""Reading of Pyomo models: arrays, blocks and subproblems."""
