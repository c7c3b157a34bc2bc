"""The list of reflection notes. Whoever reads it changes nothing: no page writes lessons."""

from django.utils.translation import gettext_lazy as _

from learning_app.lessons.core import NoteStatus
from learning_app.lessons.selectors import list_rows
from minara_site.access.policy import Act
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Filter, FilterKind, choice, dates
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column

STATES = {NoteStatus.ACTIVE: _("Active"), NoteStatus.SUPERSEDED: _("Superseded")}

NOTES = OwnedList(
    spec=ListSpec(
        name="lessons",
        caption=_("Lessons"),
        row="learning_app/lessons/_row.html",
        filters=(
            Filter("deployment", _("Deployment"), FilterKind.TEXT, lookup="deployment__name"),
            choice("state", _("State"), STATES, lookup="status"),
            *dates("generated_at", _("Written from"), _("Written before")),
        ),
        columns=(
            Column(_("Lessons")),
            Column(_("Deployment")),
            Column(_("State")),
            Column(_("Trades considered"), numeric=True),
            Column(_("Cost"), numeric=True),
            time_column(_("Written")),
        ),
        sorts=by_time("generated_at"),
        has_actions=False,
        empty=Empty(
            "lesson",
            _("No closed trades yet"),
            _("A model writes lessons out of the closed trades of a deployment whose memory asks for reflection."),
            no_match=_("No lessons match these filters."),
        ),
    ),
    act=Act.LESSONS_READ,
    kind="lessons",
    rows=list_rows,
    own=_("Lessons"),
    of=_("Lessons of %(owner)s"),
    begins_with_all=True,
    owner_column=Column(_("Owner")),
    template="learning_app/lessons/list.html",
)
