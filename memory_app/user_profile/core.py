"""What needs no database in the user profile."""

PROFILE_KIND = "user_profile"
"""The name of its stored kind: holds keep it."""
