"""The commands of the command line, a module each: from arguments to an exit code."""
