"""Fills as sources say them, and the arithmetic over them. Pure."""
