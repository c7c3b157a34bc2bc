"""The doctor's report: every section, each on its own, so that one that cannot be read hides no other."""

from collections.abc import Callable
from datetime import datetime

import structlog
from django.db import DatabaseError, InterfaceError
from django.utils.translation import gettext as _

from memory_app.doctor.core import Line, Report, Section, State
from memory_app.doctor.sections.house import house_section
from memory_app.doctor.sections.look import Look
from memory_app.doctor.sections.memory import memory_section
from memory_app.doctor.sections.roles import roles_section

SectionFunction = Callable[[Look], Section]
SECTIONS: tuple[tuple[str, SectionFunction], ...] = (
    ("house", house_section),
    ("memory", memory_section),
    ("role_memory", roles_section),
)

log = structlog.get_logger(__name__)


def load_report(*, now: datetime, most: int | None = None) -> Report:
    """Return how everything is; `most` bounds the rows of each table that are read."""
    look = Look(now, most)
    return Report(now, tuple(load_section(name, section, look) for name, section in SECTIONS))


def load_section(name: str, section: SectionFunction, look: Look) -> Section:
    """Return one section, or that its tables do not answer."""
    try:
        return section(look)
    except (DatabaseError, InterfaceError) as error:
        log.warning("doctor_section_failed", section=name, error=type(error).__name__)
        hint = _("The database refused (%(error)s). Run: minara migrate") % {"error": type(error).__name__}
        return Section(name, name, (Line("readable", _("Readable"), words=_("no"), state=State.BAD, hint=hint),))
