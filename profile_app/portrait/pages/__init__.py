"""How tags look."""
