"""Findings over time: first and last seen, acknowledged or open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from learning_app.audit.core.records import FindingCode, Severity
from learning_app.audit.models import Acknowledgement, AuditReport
from learning_app.audit.pages.labels import advice_label, finding_label
from learning_app.audit.selectors import findings_of, list_acknowledged
from learning_app.audit.texts import SEVERITY_LABELS
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.web.filters import Text

URGENCY = list(Severity)


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding as it was last seen, in the report that saw it; `is_present` says that the newest report has it.

    `acknowledged_by` names who acknowledged it, at this severity and since it is there.
    """

    found: Mapping[str, Any]
    report_id: int
    first_seen_at: datetime
    last_seen_at: datetime
    is_present: bool
    acknowledgement: Acknowledgement | None
    acknowledged_by: str

    @property
    def code(self) -> str:
        return str(self.found["code"])

    @property
    def dimension(self) -> str:
        return str(self.found["dimension"])

    @property
    def severity(self) -> str:
        return str(self.found["severity"])

    @property
    def severity_label(self) -> Text:
        return SEVERITY_LABELS[Severity(self.severity)]

    @property
    def text(self) -> str:
        return finding_label(self.found)

    @property
    def advice(self) -> str:
        return advice_label(self.found)

    @property
    def count(self) -> int:
        return int(self.found["count"])

    @property
    def is_open(self) -> bool:
        return self.is_present and self.acknowledgement is None

    @property
    def can_be_acknowledged(self) -> bool:
        """Whether it is open, and a finding of this version."""
        return self.is_open and self.code in set(FindingCode)


def shape_findings(reports: Sequence[AuditReport], *, reader: User) -> list[FindingRow]:
    """Return the findings of these reports, newest first, each once: open ones first, then the most urgent.

    Two queries at most.
    """
    acknowledged = list_acknowledged()
    names = name_actors({each.actor for each in acknowledged.values()}, reader=reader)
    rows: dict[str, FindingRow] = {}
    for place, report in enumerate(reports):
        for found in findings_of(report):
            if found["code"] in rows:
                continue
            first_seen_at = datetime.fromisoformat(found["first_seen_at"])
            given = acknowledged.get(found["code"])
            holds = given if given and not place and is_covered(found, given, first_seen_at) else None
            rows[found["code"]] = FindingRow(
                found,
                report.pk,
                first_seen_at,
                report.created_at,
                is_present=not place,
                acknowledgement=holds,
                acknowledged_by=names[holds.actor] if holds else "",
            )
    return sorted(rows.values(), key=urgency_of)


def is_covered(
    found: Mapping[str, Any],
    given: Acknowledgement,
    first_seen_at: datetime,
) -> bool:
    """Say whether an acknowledgement still holds: given since the finding came, and not for a lesser severity."""
    return given.at >= first_seen_at and URGENCY.index(Severity(found["severity"])) >= URGENCY.index(
        Severity(given.severity)
    )


def urgency_of(row: FindingRow) -> tuple[bool, bool, int]:
    """Return what rows are ordered by."""
    return not row.is_open, not row.is_present, URGENCY.index(Severity(row.severity))
