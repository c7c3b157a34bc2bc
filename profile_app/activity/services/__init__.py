"""Writes of own accounts and of the mirrors."""
