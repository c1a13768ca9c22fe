"""Projective and other dependency trees."""
