"""How the profile and its tags look on pages."""
