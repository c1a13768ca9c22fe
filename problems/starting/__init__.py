"""What somebody waits for who solves a first instance: imports, and kernels that are compiled or loaded."""
