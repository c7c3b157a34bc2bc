"""Profile values under guard: decisions on those held, today's rules on those that stand. Source: decisions (holds)."""

from collections.abc import Collection, Iterable
from datetime import datetime

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.services.values import change_value, hold_value, judge_value, keep_revision, take_turns
from minara_site.access.models import User
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Verdict
from minara_site.kernel.guard.models import Decision, Hold


def lock_entries(ids: Collection[int]) -> dict[int, UserProfileEntry]:
    """Wait for other writers of these profiles and return the entries by id. Needs a transaction."""
    if not ids:
        return {}
    entries = UserProfileEntry.objects.filter(pk__in=ids)
    for owner in User.objects.filter(pk__in=entries.values("owner_id")).order_by("pk"):
        take_turns(owner)
    return {entry.pk: entry for entry in entries.all()}


def release_value(entry: UserProfileEntry, *, actor: str, now: datetime) -> None:
    """Let the value that waits stand, as written by `actor`. Needs the locked row and its hold decided."""
    change_value(entry, entry.held_value, actor=actor, now=now)
    entry.held_value = ""
    entry.save()


def discard_value(entry: UserProfileEntry) -> None:
    """Put the value that waits aside; what stands keeps standing. Needs the locked row and its hold decided."""
    entry.discarded_value, entry.held_value = entry.held_value, ""
    entry.save()


def hold_discarded(entry: UserProfileEntry) -> None:
    """Let the value that was discarded wait again. Needs the locked row."""
    entry.held_value, entry.discarded_value = entry.discarded_value, ""
    entry.save()


def hold_released(entry: UserProfileEntry, *, actor: str, now: datetime) -> None:
    """Let the value that stands wait again; what stood until its release stands again. Needs the locked row."""
    earlier = UserProfileRevision.objects.filter(
        owner=entry.owner_id,
        key=entry.key,
        replaced_at=entry.updated_at,
    )
    before = earlier.order_by("pk").last() or UserProfileRevision()  # purged by now
    keep_revision(entry, actor=actor, now=now)
    entry.held_value = entry.value
    entry.value, entry.actor, entry.updated_at = before.value, before.actor, before.updated_at or now
    if entry.value and judge_value(entry, entry.value).is_held:  # refused by today's rules; its history keeps it
        entry.value = ""
    entry.save()


def purge_discarded_values(ids: Collection[int]) -> int:
    """Remove the discarded values of these entries, and entries that say nothing else. Needs the locked rows."""
    entries = UserProfileEntry.objects.filter(pk__in=ids).exclude(discarded_value="")
    deleted, _models = entries.filter(value="", held_value="").delete()
    return int(deleted + entries.update(discarded_value=""))


def rescan_entries(
    entries: Iterable[UserProfileEntry],
    *,
    now: datetime,
    actor: str,
) -> list[UserProfileEntry]:
    """Judge standing values by today's rules and return those that are held by it. Needs the locked rows."""
    refused = []
    for entry in entries:
        verdict = judge_value(entry, entry.value) if entry.value else None
        entry.rules_version = guard.RULES.version
        if verdict and verdict.is_held:
            hold_texts(entry, verdict, now=now, actor=actor)
            refused.append(entry)
        else:
            entry.save(update_fields=["rules_version"])
    return refused


def hold_texts(
    entry: UserProfileEntry,
    verdict: Verdict,
    *,
    now: datetime,
    actor: str,
) -> None:
    """Let a value that stood wait for a person; where another waits already, that one goes on waiting alone."""
    keep_revision(entry, actor=actor, now=now)
    value, writer, entry.value = entry.value, entry.actor or actor, ""
    if entry.held_value:
        entry.save()
    else:
        hold_value(entry, value, verdict, actor=writer, now=now)


def purge_removed_values(*, cutoff: datetime) -> int:
    """Remove what entries said that were removed or replaced before the cutoff; return how many values went.

    Decisions of before the cutoff go too, save those that let in what may still stand.
    """
    decided = Hold.objects.filter(kind=PROFILE_KIND, decided_at__lte=cutoff)
    decided.exclude(
        decision=Decision.RELEASED,
        object_id__in=UserProfileEntry.objects.values("pk"),
    ).delete()
    return int(UserProfileRevision.objects.filter(replaced_at__lte=cutoff).delete()[0])
