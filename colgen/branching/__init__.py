"""Branching: rules, selection among their candidates, trials of children."""
