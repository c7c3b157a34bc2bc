"""The list of notes."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Filter, FilterKind
from minara_site.web.lists import Column, Empty, ListSpec, by_time
from tests.toy.models import Note

NOTES = OwnedList(
    spec=ListSpec(
        name="notes",
        caption=_("Notes"),
        row="toy/_row.html",
        columns=(Column(_("Note")), Column(_("Changed"), sorts=("newest", "oldest"), numeric=True)),
        sorts=by_time("updated_at"),
        filters=(
            Filter(
                "state",
                _("State"),
                FilterKind.TABS,
                choices=(("all", _("All")), ("held", _("Held"))),
                default="all",
                apply=lambda rows, state: rows.filter(held_at__isnull=False) if state == "held" else rows,
            ),
            Filter("q", _("Search notes"), FilterKind.SEARCH, lookup="text__icontains"),
        ),
        empty=Empty("memory", _("No notes"), _("What an agent notes with note_write is listed here.")),
        has_actions=False,
    ),
    act=Act.MEMORY_READ,  # a real app adds an act of its own to `minara_site/access/policy.py`: two lines
    kind="notes",
    rows=Note.objects.for_owner,
    own=_("Notes"),
    of=_("Notes of %(owner)s"),
    shape=lambda rows, request: [masked_for(request.user, row) for row in rows],
    tabs=lambda owner: {
        "all": Note.objects.for_owner(owner),
        "held": Note.objects.for_owner(owner).filter(held_at__isnull=False),
    },
)
