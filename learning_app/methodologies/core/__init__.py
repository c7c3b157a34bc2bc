"""What needs no database: bounds, structure, the trust ladder and the text of the prompt."""

METHODOLOGY_KIND = "methodology"
"""The name of the stored kind: holds keep it."""
