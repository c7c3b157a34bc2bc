"""How profile, rebuilds and what is new look."""
