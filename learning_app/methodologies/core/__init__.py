"""What needs no database: bounds, structure, the trust ladder and the text of the prompt."""

METHODOLOGY_KIND = "methodology"
"""The name of the stored kind: holds keep it."""


def subject_of(uid: str) -> str:
    """Return how a methodology is named in `llm_usage` and among the shadow decisions."""
    return f"{METHODOLOGY_KIND}:{uid}"
