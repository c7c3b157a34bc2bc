"""Writes of the user profile: set and remove one entry, each with its audit row."""

import re
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.selectors import get_entry, list_entries, no_such_entry
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.errors import Conflict, FieldError, Invalid
from minara_site.kernel.plain_text import clean_text

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
MAX_VALUE_CHARS = 1_000
MAX_ENTRIES = 100  # every entry stands in every prompt


@dataclass(frozen=True)
class SetEntry:
    """The entry as it stands now, and whether this call made it."""

    entry: UserProfileEntry
    is_new: bool


def set_entry(
    *,
    owner: User,
    key: str,
    value: str,
    actor: str,
    now: datetime,
    must_be_new: bool = False,
    expected_updated_at: datetime | None = None,
) -> SetEntry:
    """Set the value of a key; the value it has already changes nothing.

    Raises Invalid for a key or value that cannot stand in the prompt, and Conflict when the profile is full, when
    the key has a value and `must_be_new`, or when that value changed after `expected_updated_at`; when it was removed
    since then, NotFound.
    """
    key, value = clean_key(key), clean_value(value)
    with transaction.atomic():
        take_turns(owner)
        stored = list_entries(owner=owner).filter(key=key).first()
        check_expected(stored, must_be_new=must_be_new, updated_at=expected_updated_at)
        if stored is None:
            refuse_full_profile(owner)
        entry = stored or UserProfileEntry(owner=owner, key=key)
        if entry.value != value:
            entry.value, entry.updated_at = value, now
            entry.save()
            record_entry(entry, "user_profile_set", actor=actor, now=now)
    return SetEntry(entry, is_new=stored is None)


def remove_entry(*, owner: User, key: str, actor: str, now: datetime) -> UserProfileEntry:
    """Remove an entry for good and return it as it was. Raises NotFound."""
    with transaction.atomic():
        take_turns(owner)
        entry = get_entry(owner=owner, key=key)
        entry.delete()
        record_entry(entry, "user_profile_removed", actor=actor, now=now)
    return entry


def take_turns(owner: User) -> None:
    """Wait for other writers of this owner's profile; what they wrote is seen from here on. Needs a transaction."""
    User.objects.select_for_update(of=("self",), no_key=True).only("pk").get(pk=owner.pk)


def check_expected(entry: UserProfileEntry | None, *, must_be_new: bool, updated_at: datetime | None) -> None:
    """Raise Conflict or NotFound unless the entry is what its writer takes it for."""
    if entry is None:
        if updated_at is not None:
            raise no_such_entry()
    elif must_be_new:
        raise Conflict(_("There is an entry of this name already. Edit it instead."), code="exists")
    elif updated_at not in {None, entry.updated_at}:
        raise Conflict(
            _("It changed meanwhile; look at the current value."),
            code="stale",
            current={"key": entry.key, "value": entry.value, "updated_at": entry.updated_at},
        )


def clean_key(key: str) -> str:
    """Return the key as it is stored. Raises Invalid."""
    key = key.strip()
    if not KEY.fullmatch(key):
        problem = _("Use 1 to 64 letters, digits, dots, hyphens or underscores, beginning with a letter or digit.")
        raise Invalid(problem, errors=(FieldError("key", problem),))
    return key


def clean_value(value: str) -> str:
    """Return the value as it is stored. Raises Invalid when it is empty, too long, unstorable or not one line."""
    value = clean_text(value, field="value", max_chars=MAX_VALUE_CHARS)
    if len(value.splitlines()) > 1:
        problem = _("Write it on one line.")
        raise Invalid(problem, errors=(FieldError("value", problem),))
    return value


def refuse_full_profile(owner: User) -> None:
    """Raise Conflict when the profile has as many entries as a prompt should carry."""
    if list_entries(owner=owner).count() >= MAX_ENTRIES:
        detail = _("The profile has %(max)d entries. Remove one first, or write a memory.") % {"max": MAX_ENTRIES}
        raise Conflict(detail, code="profile_full")


def record_entry(entry: UserProfileEntry, tool_call: str, *, actor: str, now: datetime) -> None:
    """Record the act by key and hash."""
    record_audit(
        now=now,
        actor=actor,
        tool_call=tool_call,
        owner_id=entry.owner_id,
        details={"key": entry.key, "sha256": content_digest(entry.value)},
    )
