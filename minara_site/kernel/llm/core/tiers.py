"""Which of the two models a question goes to. Source: decisions (model calls)."""

from enum import StrEnum


class Tier(StrEnum):
    """How hard a question is: the setting of its model is `MINARA_MODEL_<TIER>`."""

    FAST = "fast"
    MAIN = "main"
