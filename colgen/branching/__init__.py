"""Branching: rules, choice among candidates, strong branching."""
