"""What reports say, in the reader's language; of a report of another version what was stored."""

import math
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from learning_app.audit.core.records import Dimension, FindingCode
from learning_app.audit.texts import advice_text, finding_text, score_text

MISSING = "—"


def score_number(score: float | None) -> str:
    """Return a score with one decimal, cut rather than rounded: 79.96 lies below 80."""
    return MISSING if score is None else f"{math.floor(score * 10) / 10:.1f}"


def finding_label(finding: Mapping[str, Any]) -> str:
    """Return what a finding says."""
    try:
        return finding_text(FindingCode(finding["code"]), finding["count"], finding["facts"])
    except (KeyError, ValueError):  # a code or facts of another version
        return str(finding.get("text", ""))


def advice_label(finding: Mapping[str, Any]) -> str:
    """Return what to do about a finding, empty for a code of another version."""
    try:
        return advice_text(FindingCode(finding["code"]))
    except (KeyError, ValueError):
        return ""


def score_label(name: str, dimension: Mapping[str, Any]) -> str:
    """Return what a score was computed of, or why there is none."""
    is_scored = dimension["score"] is not None
    try:
        return score_text(Dimension(name), is_scored=is_scored, facts=dimension["facts"])
    except (KeyError, ValueError):
        return "" if is_scored else _("Not enough data.")
