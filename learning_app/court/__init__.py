"""The second, stricter judgement of methodologies. Source: court.md."""
