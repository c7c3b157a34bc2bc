"""The vocabulary of role memory. Source: S0 (the role reflector), contract (shapes)."""

from enum import StrEnum

DECISION_KIND, LESSON_KIND = "role_decision", "role_lesson"
"""The names of their stored kinds: holds keep them."""


class Status(StrEnum):
    """Where an entry stands."""

    PENDING = "pending"
    REFLECTED = "reflected"
    SKIPPED = "skipped"


class Classification(StrEnum):
    """Why a decision was not right: Stage 1's four classes."""

    LOGIC_ERROR = "logic_error"
    MISSING_DATA = "missing_data"
    EXOGENOUS = "exogenous"
    VARIANCE = "variance"

    @property
    def is_trainable(self) -> bool:
        """Whether Stage 2 may make a lesson of it (S0: only these two)."""
        return self in {Classification.LOGIC_ERROR, Classification.MISSING_DATA}


class Trigger(StrEnum):
    """What makes a role reflect. A manual one is always allowed; the others a role declares."""

    CRON = "cron"
    ON_NEW_WRITE = "on_new_write"
    ON_PRICE_FETCH = "on_price_fetch"
    MANUAL = "manual"


class SkipReason(StrEnum):
    """Why an entry will never be reflected."""

    TOO_OLD = "too_old"
    NO_PRICE = "no_price"
