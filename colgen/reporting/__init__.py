"""What is shown of runs: log, pictures, report, comparison."""
