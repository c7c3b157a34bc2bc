"""Pure functions: no Django, no clock, no randomness, no input or output."""
