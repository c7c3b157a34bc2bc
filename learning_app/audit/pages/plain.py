"""Reports, trend and findings as a terminal shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from learning_app.audit.core.composite import Band
from learning_app.audit.models import AuditReport
from learning_app.audit.pages.labels import advice_label, finding_label, score_label, score_number
from learning_app.audit.selectors import TrendPoint, dimensions_of, findings_of
from learning_app.audit.texts import BAND_LABELS

SPARKS = "▁▂▃▄▅▆▇█"
GAP = "·"


def describe_report(report: AuditReport) -> str:
    """Return a report line by line."""
    head = _("Pass %(id)d, %(at)s, window %(days)d days: %(score)s %(band)s") % {
        "id": report.pk,
        "at": f"{report.created_at:%Y-%m-%d %H:%M} UTC",
        "days": report.window_days,
        "score": score_number(report.composite),
        "band": BAND_LABELS[Band(report.band)] if report.band else _("not enough data"),
    }
    lines = [
        f"{name:<24}{score_number(dimension['score']):>6}  {score_label(name, dimension)}"
        for name, dimension in dimensions_of(report).items()
    ]
    return "\n".join(
        [
            head.strip(),
            *lines,
            describe_findings(findings_of(report), report),
        ]
    )


def describe_findings(findings: Sequence[Mapping[str, Any]], report: AuditReport | None) -> str:
    """Return findings line by line, each with what to do."""
    if report is None:
        return _("No pass has run. `minara learning audit run` runs one.")
    if not findings:
        return _("No findings.")
    return "\n".join(
        f"{finding['severity']:<8}{finding_label(finding)}\n{'':<8}{advice_label(finding)}".rstrip()
        for finding in findings
    )


def describe_trend(points: Sequence[TrendPoint], *, days: int) -> str:
    """Return the composite of the passes as a sparkline, and each pass as a line."""
    if not points:
        return _("No pass in the last %(days)d days.") % {"days": days}
    lines = [
        f"{each.created_at:%Y-%m-%d %H:%M}  {score_number(each.composite):>6}  {each.band or '-'}" for each in points
    ]
    return "\n".join([sparkline_text([each.composite for each in points]), *lines])


def sparkline_text(scores: Sequence[float | None]) -> str:
    """Return one block a score, from 0 to 100; a dot where there is none."""
    top = len(SPARKS) - 1
    return "".join(GAP if score is None else SPARKS[min(int(score / 100 * len(SPARKS)), top)] for score in scores)
