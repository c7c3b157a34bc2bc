"""Reads of the user profile."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memory_app.user_profile.models import UserProfileEntry
from minara_site.kernel.errors import NotFound
from minara_site.kernel.ownership import Owner


def list_entries(*, owner: Owner) -> "QuerySet[UserProfileEntry]":
    """Return the entries, unordered: the reader's list or block orders them."""
    entries: QuerySet[UserProfileEntry] = UserProfileEntry.objects.for_owner(owner)
    return entries


def get_entry(*, owner: Owner, key: str) -> UserProfileEntry:
    """Return one entry. Raises NotFound."""
    entry = list_entries(owner=owner).filter(key=key).first()
    if entry is None:
        raise no_such_entry()
    return entry


def no_such_entry() -> NotFound:
    """Return the answer for a name that has no entry."""
    return NotFound(_("There is no entry of this name."))
