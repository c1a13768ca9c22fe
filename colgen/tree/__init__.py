"""Branch and bound: nodes, queues, branching rules, heuristics, enumeration."""
