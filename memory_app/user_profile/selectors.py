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


def get_entry(*, owner: Owner, key: str, lock: bool = False) -> UserProfileEntry:
    """Return one entry. Raises NotFound."""
    entries = list_entries(owner=owner)
    if lock:
        entries = entries.select_for_update(of=("self",))
    entry = entries.filter(key=key).first()
    if entry is None:
        raise NotFound(_("There is no entry of this name."))
    return entry
