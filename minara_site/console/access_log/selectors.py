"""The access log as rows: who, when, what, and the page of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.http import urlencode

from minara_site.access.access_log import AccessSubject, load_access_subjects
from minara_site.access.models import AccessEntry, User


@dataclass(frozen=True, slots=True)
class AccessLogRow:
    """One access: who opened what of whose data, when, why and until when, and where its owner finds that."""

    id: int
    at: datetime
    viewer: User
    owner: User
    subject: str | Promise
    url: str
    reason: str = ""
    ends_at: datetime | None = None
    object_id: str = ""


def describe_access(entries: Iterable[AccessEntry]) -> list[AccessLogRow]:
    """Return entries as rows; a kind that no app declares keeps its own word."""
    subjects = load_access_subjects()
    found = [
        (
            entry,
            subjects.get(entry.kind, AccessSubject(entry.kind, entry.kind)),
        )
        for entry in entries
    ]
    return [
        AccessLogRow(
            e.pk,
            e.at,
            e.viewer,
            e.owner,
            subject.label,
            address_of(subject, e.object_id),
            e.reason,
            e.ends_at,
            e.object_id,
        )
        for e, subject in found
    ]


def address_of(subject: AccessSubject, object_id: str) -> str:
    """Return the page of what was opened; empty when it has none of its own."""
    if subject.parameter:
        return reverse(subject.page) + (f"?{urlencode({subject.parameter: object_id})}" if object_id else "")
    try:
        return reverse(subject.page, args=[object_id]) if subject.page else ""
    except NoReverseMatch:  # a list was read, which has no id
        return ""
