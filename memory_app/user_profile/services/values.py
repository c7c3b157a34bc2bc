"""What a key of the profile says: set, removed, given back, with audit row and the value before. Source: S1."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision, guarded_text
from memory_app.user_profile.selectors import find_entry, find_hold, get_entry, list_known, no_such_entry
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.core.vocabulary import AGENT_ACTOR
from minara_site.kernel.errors import Conflict, Refused, invalid_field
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Verdict
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.guard.services import lift_holds, place_hold
from minara_site.kernel.plain_text import clean_text

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
MAX_VALUE_CHARS = 1_000
MAX_ENTRIES = 100  # every entry stands in every prompt


@dataclass(frozen=True)
class SetEntry:
    """The entry as it stands now, and whether this call made it; `hold` says why the new value waits."""

    entry: UserProfileEntry
    is_new: bool
    hold: Hold | None = None


def set_entry(
    *,
    owner: User,
    key: str,
    value: str,
    actor: str,
    now: datetime,
    must_be_new: bool = False,
    expected_updated_at: datetime | None = None,
    only_of_keys: bool = False,
    details: Mapping[str, Any] | None = None,
) -> SetEntry:
    """Set the value of a key; the value it has already changes nothing, and one that the guard refuses is held.

    Raises Invalid for a key or value that cannot stand in the prompt, and Conflict when the profile is full, when
    the key has a value and `must_be_new`, or when that value changed after `expected_updated_at`; when it was removed
    since then, NotFound. With `only_of_keys` it raises Refused where a person wrote the value. `details` go
    into the audit row.
    """
    key, value = clean_key(key), clean_value(value)
    with transaction.atomic():
        take_turns(owner)
        stored = find_entry(owner=owner, key=key)
        standing = stored if stored and stored.value else None
        check_expected(
            standing,
            must_be_new=must_be_new,
            updated_at=expected_updated_at,
        )
        counts = stored is not None and bool(stored.value or stored.held_value)
        if not counts:
            refuse_full_profile(owner)
        entry = stored or UserProfileEntry(owner=owner, key=key, updated_at=now)
        if value == (entry.held_value or entry.value):
            return SetEntry(entry, is_new=standing is None, hold=find_hold(entry))
        if counts and only_of_keys:
            check_writer(entry)
        verdict = judge_value(entry, value)
        hold = None
        if verdict.is_held:
            hold = hold_value(entry, value, verdict, actor=actor, now=now)
        else:
            accept_value(entry, value, verdict, actor=actor, now=now)
        held = {"held": 1} if hold else {}
        record_entry(
            entry,
            value,
            "user_profile_set",
            actor=actor,
            now=now,
            details={**(details or {}), **held},
        )
    return SetEntry(entry, is_new=standing is None, hold=hold)


def judge_value(entry: UserProfileEntry, value: str) -> Verdict:
    """Return the verdict on a value for this entry, stored or not."""
    text = guarded_text(entry.key, value)
    return guard.judge(text) if entry.pk is None else judge_stored(PROFILE_KIND, {entry.pk: text})[entry.pk]


def accept_value(
    entry: UserProfileEntry,
    value: str,
    verdict: Verdict,
    *,
    actor: str,
    now: datetime,
) -> None:
    """Let a value stand; one that waited is replaced."""
    was_held = bool(entry.held_value)
    change_value(entry, value, actor=actor, now=now)
    entry.held_value, entry.rules_version = "", verdict.rules_version
    entry.save()
    if was_held:
        lift_holds(
            kind=PROFILE_KIND,
            object_ids=[entry.pk],
            actor=actor,
            now=now,
        )


def hold_value(
    entry: UserProfileEntry,
    value: str,
    verdict: Verdict,
    *,
    actor: str,
    now: datetime,
) -> Hold:
    """Let a value wait beside the one that stands."""
    entry.held_value = value
    if not entry.value:
        entry.rules_version = verdict.rules_version
    entry.save()
    return place_hold(
        kind=PROFILE_KIND,
        object_id=entry.pk,
        owner_id=entry.owner_id,
        text=entry.guarded_text,
        verdict=verdict,
        actor=actor,
        now=now,
    )


def change_value(
    entry: UserProfileEntry,
    value: str,
    *,
    actor: str,
    now: datetime,
) -> None:
    """Put a value in the place of what stood and keep that as history; the caller stores the entry."""
    keep_revision(entry, actor=actor, now=now)
    entry.value, entry.actor, entry.updated_at = value, actor, now


def keep_revision(entry: UserProfileEntry, *, actor: str, now: datetime) -> None:
    """Keep what an entry says until now; nothing stood before a new one."""
    UserProfileRevision.objects.create(
        owner_id=entry.owner_id,
        key=entry.key,
        value=entry.value,
        actor=entry.actor,
        updated_at=entry.updated_at if entry.pk else None,
        replaced_at=now,
        replaced_by=actor,
    )


def remove_entry(
    *,
    owner: User,
    key: str,
    actor: str,
    now: datetime,
    only_of_keys: bool = False,
) -> UserProfileEntry:
    """Remove an entry with what waits beside it, and return it as it was. Raises NotFound and Refused."""
    with transaction.atomic():
        take_turns(owner)
        entry = get_entry(owner=owner, key=key)
        if only_of_keys:
            check_writer(entry)
        keep_revision(entry, actor=actor, now=now)
        drop_entry(entry, actor=actor, now=now)
        record_entry(
            entry,
            entry.value,
            "user_profile_removed",
            actor=actor,
            now=now,
        )
    return entry


def drop_entry(entry: UserProfileEntry, *, actor: str, now: datetime) -> None:
    """Delete the row; a value that waited is discarded, and the row keeps it as long as discarded values are kept."""
    if entry.held_value:
        ids = [entry.pk]
        lift_holds(
            kind=PROFILE_KIND,
            object_ids=ids,
            actor=actor,
            now=now,
            decision=Decision.DISCARDED,
        )
    row = UserProfileEntry.objects.filter(pk=entry.pk)
    if discarded := entry.held_value or entry.discarded_value:
        row.update(
            value="",
            held_value="",
            actor="",
            discarded_value=discarded,
        )
    else:
        row.delete()


def undo_change(
    *,
    owner: User,
    key: str,
    replaced_at: datetime | None,
    actor: str,
    now: datetime,
) -> tuple[UserProfileEntry, Hold | None]:
    """Give a key the value, writer and moment that it had before its last change, or its removal without `replaced_at`.

    Raises NotFound when that is not kept any more, and Conflict when the entry was changed since.
    """
    with transaction.atomic():
        take_turns(owner)
        stored = find_entry(owner=owner, key=key)
        standing = stored if stored and stored.value else None
        check_expected(
            standing,
            must_be_new=replaced_at is None,
            updated_at=replaced_at,
        )
        earlier = UserProfileRevision.objects.for_owner(owner).filter(key=key).order_by("pk").last()
        if earlier is None or not earlier.value:
            raise no_such_entry()
        entry = stored or UserProfileEntry(owner=owner, key=key)
        keep_revision(entry, actor=actor, now=now)
        set_earlier(entry, earlier, now=now)
        hold = find_hold(entry)
        record_entry(
            entry,
            earlier.value,
            "user_profile_set",
            actor=actor,
            now=now,
            details={"held": 1} if hold else {},
        )
    return entry, hold


def set_earlier(
    entry: UserProfileEntry,
    earlier: UserProfileRevision,
    *,
    now: datetime,
) -> None:
    """Give an entry the value, writer and moment of an earlier revision; what today's rules refuse is held instead."""
    verdict = judge_value(entry, earlier.value)
    entry.value, entry.actor = "" if verdict.is_held else earlier.value, earlier.actor
    entry.updated_at, entry.rules_version = earlier.updated_at or now, verdict.rules_version
    if verdict.is_held and not entry.held_value:  # what is held already waits alone
        hold_value(entry, earlier.value, verdict, actor=earlier.actor, now=now)
    else:
        entry.save()


def take_turns(owner: User) -> None:
    """Wait for other writers of this owner's profile; what they wrote is seen from here on. Needs a transaction."""
    User.objects.select_for_update(of=("self",), no_key=True).only("pk").get(pk=owner.pk)


def check_expected(
    entry: UserProfileEntry | None,
    *,
    must_be_new: bool,
    updated_at: datetime | None,
) -> None:
    """Raise Conflict or NotFound unless the entry is what its writer takes it for."""
    if entry is None:
        if updated_at is not None:
            raise no_such_entry()
    elif must_be_new:
        raise Conflict(_("There is an entry of this name already. Edit it instead."), code="exists")
    elif updated_at not in {None, entry.updated_at}:
        raise Conflict(
            _("This changed since you opened it. Reload the page."),
            code="stale",
            current={
                "key": entry.key,
                "value": entry.value,
                "updated_at": entry.updated_at,
            },
        )


def check_writer(entry: UserProfileEntry) -> None:
    """Raise Refused unless a key wrote the value, and the one that is held."""
    hold = find_hold(entry)
    writers = [entry.actor] if entry.value else []
    if not all(actor.startswith(AGENT_ACTOR) for actor in [*writers, *([hold.actor] if hold else [])]):
        detail = _("A person wrote this value. A key changes and removes only what keys wrote.")
        raise Refused(detail, code="not_editable")


def clean_key(key: str) -> str:
    """Return the key as it is stored. Raises Invalid."""
    key = key.strip()
    if not KEY.fullmatch(key):
        problem = _("Use 1 to 64 letters, digits, dots, hyphens or underscores, beginning with a letter or digit.")
        raise invalid_field("key", problem)
    return key


def clean_value(value: str) -> str:
    """Return the value as it is stored. Raises Invalid when it is empty, too long, unstorable or not one line."""
    value = clean_text(value, field="value", max_chars=MAX_VALUE_CHARS)
    if len(value.splitlines()) > 1:
        raise invalid_field("value", _("Write it on one line."))
    return value


def refuse_full_profile(owner: User) -> None:
    """Raise Conflict when the profile has as many entries as a prompt should carry."""
    if list_known(owner=owner).count() >= MAX_ENTRIES:
        detail = _("The profile has %(max)d entries. Remove one first, or write a memory.") % {"max": MAX_ENTRIES}
        raise Conflict(detail, code="profile_full")


def record_entry(
    entry: UserProfileEntry,
    value: str,
    tool_call: str,
    *,
    actor: str,
    now: datetime,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Record the act by key and hash of the value."""
    record_audit(
        now=now,
        actor=actor,
        tool_call=tool_call,
        owner_id=entry.owner_id,
        details={
            **(details or {}),
            "key": entry.key,
            "sha256": content_digest(value),
        },
    )
