"""Reads of the user profile."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, guarded_text
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard import selectors as guard
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import Owner
from minara_site.kernel.prepared import OWNER_ID, Prepared


def list_entries(*, owner: Owner) -> "QuerySet[UserProfileEntry]":
    """Return the entries that stand, unordered: the reader's list or block orders them."""
    return UserProfileEntry.objects.for_owner(owner).exclude(value="")


def list_known(*, owner: Owner) -> "QuerySet[UserProfileEntry]":
    """Return the entries that stand and those whose first value waits, unordered."""
    return UserProfileEntry.objects.for_owner(owner).exclude(value="", held_value="")


def find_entry(*, owner: Owner, key: str) -> UserProfileEntry | None:
    """Return the entry of a key, also one whose first value waits."""
    return UserProfileEntry.objects.for_owner(owner).filter(key=key).first()


def get_entry(*, owner: Owner, key: str) -> UserProfileEntry:
    """Return one entry that stands. Raises NotFound."""
    entry = list_entries(owner=owner).filter(key=key).first()
    if entry is None:
        raise no_such_entry()
    return entry


def find_hold(entry: UserProfileEntry) -> Hold | None:
    """Return the hold of the value that waits."""
    return guard.find_open_holds(PROFILE_KIND, [entry.pk]).get(entry.pk) if entry.held_value else None


def read_entries(*, owner: Owner) -> "list[UserProfileEntry]":
    """Return the entries that a prompt may carry: one with an outdated verdict is judged first."""
    entries = list(list_entries(owner=owner))
    refused = find_refused(entries)
    return [entry for entry in entries if entry.pk not in refused]


class ProfileRow(NamedTuple):
    """An entry as a prompt needs it."""

    pk: int
    key: str
    value: str
    rules_version: str


def load_profile_entries(owner_id: int) -> list[ProfileRow]:
    """Return what a prompt carries of the entries that `read_entries` names. One query."""
    rows = STANDING.ask(owner_id=owner_id)
    refused = find_refused(rows)
    return [row for row in rows if row.pk not in refused]


STANDING = Prepared(
    ProfileRow,
    lambda: [UserProfileEntry.objects.filter(owner_id=OWNER_ID).exclude(value="").values_list(*ProfileRow._fields)],
)


def find_refused(entries: "Iterable[UserProfileEntry | ProfileRow]") -> set[int]:
    """Return the ids of entries whose value in force today's rules refuse."""
    return guard.find_refused(
        PROFILE_KIND,
        entries,
        text=lambda entry: guarded_text(entry.key, entry.value),
    )


def no_such_entry() -> NotFound:
    """Return the answer for a name that has no entry."""
    return NotFound(_("There is no entry of this name."))
