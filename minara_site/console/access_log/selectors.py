"""The access log as rows: who, when, what, and the page of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from minara_site.access.models import AccessEntry, User

SUBJECTS: dict[str, str | Promise] = {
    "memory": _("a memory"),
    "memories": _("memories in a list or a search"),
    "facts": _("facts"),
    "role_memory": _("decisions of roles"),
    "shadows": _("what was decided in shadow"),
    "hold": _("a held text"),
    "holds": _("held texts in a list"),
    "prompt": _("what the agent reads"),
    "user_profile": _("the user profile"),
    "compiled": _("the page of an asset"),
    "transfer": _("an export or import"),
    "transfers": _("the list of exports or imports"),
    "account": _("the account: sessions and keys"),
    "tables": _("rows of the tables"),
}


@dataclass(frozen=True, slots=True)
class AccessLogRow:
    """One access: who opened what of whose data, when and why, and where its owner finds that."""

    id: int
    at: datetime
    viewer: User
    owner: User
    subject: str | Promise
    url: str
    reason: str = ""


def describe_access(entries: Iterable[AccessEntry]) -> list[AccessLogRow]:
    """Return entries as rows; a kind that this version does not know keeps its own word."""
    return [
        AccessLogRow(e.pk, e.at, e.viewer, e.owner, SUBJECTS.get(e.kind, e.kind), address_of(e), e.reason)
        for e in entries
    ]


def address_of(entry: AccessEntry) -> str:
    """Return where what was looked at stands; empty when it has no page of its own."""
    if entry.kind == "memory" and entry.object_id.isdigit():
        return reverse("memories:one", args=[entry.object_id])
    if entry.kind == "hold" and entry.object_id.isdigit():
        return reverse("held:one", args=[entry.object_id])
    if entry.kind == "role_memory" and entry.object_id.isdigit():
        return reverse("role_memory:one", args=[entry.object_id])
    if entry.kind == "compiled" and entry.object_id:
        return reverse("pages:one", args=[entry.object_id])
    if entry.kind == "prompt":
        return reverse("prompt:page") + (f"?session={entry.object_id}" if entry.object_id else "")
    return ""
