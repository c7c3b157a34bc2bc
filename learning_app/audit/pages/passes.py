"""The list of passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from learning_app.audit.core.composite import Band
from learning_app.audit.models import AuditReport
from learning_app.audit.pages.labels import score_number
from learning_app.audit.pages.report import BandBadge, badge_of
from learning_app.audit.selectors import findings_of
from learning_app.audit.texts import BAND_LABELS
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.web.filters import choice, dates
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column

PASSES = ListSpec(
    name="passes",
    caption=gettext_lazy("Audit passes"),
    row="learning_app/audit/_pass_row.html",
    columns=(
        Column(gettext_lazy("Pass")),
        Column(gettext_lazy("Band")),
        Column(gettext_lazy("Composite"), numeric=True),
        Column(gettext_lazy("Findings"), numeric=True),
        Column(gettext_lazy("Requested by")),
        time_column(gettext_lazy("When")),
    ),
    sorts=by_time("created_at"),
    filters=(
        choice(
            "band",
            gettext_lazy("Band"),
            [(each, BAND_LABELS[each]) for each in Band],
        ),
        *dates("created_at", gettext_lazy("After"), gettext_lazy("Before")),
    ),
    has_actions=False,
    empty=Empty(
        "audit",
        gettext_lazy("No pass yet"),
        gettext_lazy("Each pass leaves one report: a composite, six scores, and what was found."),
        gettext_lazy("To the audit"),
        "audit:page",
    ),
)


@dataclass(frozen=True, slots=True)
class PassRow:
    """A pass as the list shows it."""

    report: AuditReport
    requested_by: str

    @property
    def pk(self) -> int:
        return self.report.pk

    @property
    def number(self) -> str:
        return score_number(self.report.composite)

    @property
    def badge(self) -> BandBadge | None:
        return badge_of(self.report.band)

    @property
    def findings(self) -> int:
        return len(findings_of(self.report))


def shape_passes(reports: Sequence[AuditReport], *, reader: User) -> list[PassRow]:
    """Return passes as the list shows them. One query at most."""
    names: Mapping[str, str] = name_actors({report.requested_by for report in reports}, reader=reader)
    return [PassRow(report, names[report.requested_by]) for report in reports]
