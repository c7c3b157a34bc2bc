"""The doctor's report: every section, each on its own, so that one that cannot be read hides no other."""

from datetime import datetime

import structlog
from django.db import DatabaseError, InterfaceError
from django.utils.translation import gettext as _

from minara_site.kernel.doctor.core import HealthState, Line, Report, Section
from minara_site.kernel.doctor.scope import ReportScope, ReportSection
from minara_site.kernel.registry import load

log = structlog.get_logger(__name__)


def load_report(*, now: datetime, most: int | None = None) -> Report:
    """Return how everything is; `most` bounds the rows of each table that are read."""
    scope = ReportScope(now, most)
    return Report(
        now,
        tuple(load_section(section, scope) for section in load("sections").values()),
    )


def load_section(section: ReportSection, scope: ReportScope) -> Section:
    """Return one section, or that its tables do not answer."""
    try:
        return section.load(scope)
    except (DatabaseError, InterfaceError) as error:
        log.warning(
            "doctor_section_failed",
            section=section.name,
            error=type(error).__name__,
        )
        hint = _("The database refused (%(error)s). Run: minara migrate") % {"error": type(error).__name__}
        line = Line(
            "readable",
            _("Readable"),
            words=_("no"),
            state=HealthState.BAD,
            hint=hint,
        )
        return Section(section.name, section.name, (line,))
