"""What workers are worth: measured over several templates."""
