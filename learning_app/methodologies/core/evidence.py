"""The e-value of a methodology, out of the logarithm that is stored. Source: court.md."""

import math

MAX_LOG = 700.0
"""`exp` of it is still a finite float."""


def e_value(log_e: float) -> float:
    """Return the evidence whose natural logarithm this is, kept finite."""
    return math.exp(min(log_e, MAX_LOG))
