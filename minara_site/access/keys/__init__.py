"""API keys: how agents and scripts sign in. One user each, shown once, kept only as a hash (trust W-12)."""
