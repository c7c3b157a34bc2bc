"""What reports say, in the reader's language; of a report of another version what was stored."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from learning_app.audit.core.records import Dimension, FindingCode
from learning_app.audit.texts import advice_text, finding_text, score_text

MISSING = "—"
MIN_CHANGE = 0.05


def score_number(score: float | None) -> str:
    """Return a score with one decimal, cut rather than rounded: 79.96 lies below 80."""
    return MISSING if score is None else f"{math.floor(score * 10) / 10:.1f}"


@dataclass(frozen=True, slots=True)
class Change:
    """By how many points a score changed."""

    points: float

    @property
    def is_fall(self) -> bool:
        return self.points < 0

    @property
    def number(self) -> str:
        return f"{abs(self.points):.1f}"


def change_of(before: float | None, after: float | None) -> Change | None:
    """Return the change from one score to another, None without one or where it shows as 0.0."""
    return None if before is None or after is None or abs(after - before) < MIN_CHANGE else Change(after - before)


def finding_label(finding: Mapping[str, Any]) -> str:
    """Return what a finding says."""
    try:
        return finding_text(
            FindingCode(finding["code"]),
            finding["count"],
            finding["facts"],
        )
    except (KeyError, TypeError, ValueError):  # a code or facts of another version
        return str(finding.get("text", ""))


def advice_label(finding: Mapping[str, Any]) -> str:
    """Return what to do about a finding, empty for a code of another version."""
    try:
        return advice_text(FindingCode(finding["code"]))
    except (KeyError, TypeError, ValueError):
        return ""


def score_label(name: str, dimension: Mapping[str, Any]) -> str:
    """Return what a score was computed of, or why there is none."""
    is_scored = dimension["score"] is not None
    try:
        return score_text(
            Dimension(name),
            is_scored=is_scored,
            facts=dimension["facts"],
        )
    except (KeyError, TypeError, ValueError):
        return "" if is_scored else _("Not enough data.")
