"""Reads of the portrait: the profile, and its tags."""
