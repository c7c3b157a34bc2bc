"""Who looked at a person's data, in words."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from minara_site.access.access_log import list_views
from minara_site.access.models import AccessEntry, User

MOST_LOOKS = 20
SUBJECTS: dict[str, str | Promise] = {
    "memory": _("a memory"),
    "memories": _("memories in a list or a search"),
    "prompt": _("what your agent reads"),
    "user_profile": _("your user profile"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """One look: who, when, at what, and where that stands."""

    at: datetime
    viewer: str
    subject: str | Promise
    url: str


def list_looks(owner: User) -> list[Look]:
    """Return the newest looks at this owner's data."""
    entries = list_views(owner).order_by("-at", "-pk")[:MOST_LOOKS]
    return [
        Look(entry.at, entry.viewer.get_short_name(), SUBJECTS.get(entry.kind, entry.kind), address_of(entry))
        for entry in entries
    ]


def address_of(entry: AccessEntry) -> str:
    """Return where the owner finds what was looked at; empty when it has no page of its own."""
    if entry.kind == "memory" and entry.object_id.isdigit():
        return reverse("memories:one", args=[entry.object_id])
    if entry.kind == "prompt":
        return reverse("prompt:page") + (f"?session={entry.object_id}" if entry.object_id else "")
    return ""
