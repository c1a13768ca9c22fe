"""Mathematical problems on arrays, one a file."""
