"""Runs that are cut short and go on, and runs that begin with the columns of another: measured."""
