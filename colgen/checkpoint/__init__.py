"""Files between runs: checkpoints, from which a run continues, and pools of columns, from which another one starts."""
