"""The rules of the guard: what they look for, what they found, and a box to try a text."""
