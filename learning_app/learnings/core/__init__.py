"""What learnings are made of, without a database: limits, the steps of a sequence, ranks, questions. Source: S2."""

LEARNING_KIND = "learning"
"""The name of its stored kind: holds keep it."""
MAX_NAME_CHARS = 120
MAX_TRIGGER_CHARS = 500
MAX_GUIDANCE_CHARS = 4_000
TURN_ORIGIN = "turn:"
"""How a learning names the turn that it came out of, followed by its session and sequence."""


def turn_origin(session_id: str, sequence: int) -> str:
    """Return the origin of what a turn taught."""
    return f"{TURN_ORIGIN}{session_id}:{sequence}"
