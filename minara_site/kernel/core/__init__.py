"""Pure functions: no Django, no clock, no randomness, no input or output but data files of its own, read at import."""
