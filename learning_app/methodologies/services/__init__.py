"""Writes of methodologies: create, count outcomes, decide."""
