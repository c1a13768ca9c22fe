"""Projective and non-projective dependency trees."""
