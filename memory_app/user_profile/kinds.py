"""Values of the user profile as a kind of stored text."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, guarded_text
from memory_app.user_profile.services import (
    discard_value,
    hold_discarded,
    hold_released,
    lock_entries,
    purge_discarded_values,
    release_value,
    rescan_entries,
)
from minara_site.access.actors import is_owner
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.guard.kinds import CHANGED, DELETED, KEEPS_FORMER, HeldText, StoredKind, kept_label
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import find_expired_discards
from minara_site.web.labels import sentences


class ProfileKind(StoredKind):
    """The value of an entry that waits beside the one in force."""

    name = PROFILE_KIND
    label = gettext_lazy("Profile entry")
    model = UserProfileEntry

    def title(self, object_id: int) -> str:
        """Return what an entry is called whose name is not known any more."""
        return str(self.label)

    def load_texts(self, holds: Mapping[int, Hold]) -> dict[int, HeldText]:
        return {
            entry.pk: held_text(entry, holds[entry.pk])
            for entry in UserProfileEntry.objects.filter(pk__in=holds).select_related("owner")
        }

    def lock(self, ids: Collection[int]) -> dict[int, UserProfileEntry]:
        return lock_entries(ids)

    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        for object_id, hold in holds.items():
            release_value(rows[object_id], actor=hold.actor, now=now)

    def discard(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        reason: str,
        now: datetime,
    ) -> None:
        """Put the held values aside; those in force stay."""
        for object_id in holds.keys() & rows.keys():
            discard_value(rows[object_id])

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        """Let the values wait again; what a released one replaced is in force again."""
        for object_id, hold in holds.items():
            if object_id not in rows:
                self.refuse_again(hold, DELETED)
            entry, is_discarded = rows[object_id], hold.decision == Decision.DISCARDED
            self.check_unchanged(hold, guarded_text(entry.key, decided_value(entry, hold)))
            if entry.held_value or not (is_discarded or entry.updated_at == hold.decided_at):
                self.refuse_again(hold, CHANGED)
            if is_discarded:
                hold_discarded(entry)
            else:
                hold_released(entry, actor=actor, now=now)

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Remove values that were discarded by then; one that was discarded later stays."""
        ids = find_expired_discards(self.name, cutoff=cutoff)
        recent = Hold.objects.decided(Decision.DISCARDED).filter(kind=self.name, decided_at__gt=cutoff)
        ids -= set(recent.values_list("object_id", flat=True))
        return purge_discarded_values(self.lock(ids))

    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        """Judge the values in force."""
        found = self.lock(ids)
        refused = rescan_entries(found.values(), now=now, actor=actor)
        for entry in refused:
            details = {"key": entry.key}
            record_audit(
                now=now,
                actor=actor,
                tool_call=f"{self.name}_held",
                owner_id=entry.owner_id,
                details=details,
            )
        return len(found), len(refused)


def decided_value(entry: UserProfileEntry, hold: Hold) -> str:
    """Return the value of an entry that a hold is, or was, about."""
    if hold.decision is None:
        return entry.held_value
    return entry.discarded_value if hold.decision == Decision.DISCARDED else entry.value


def held_text(entry: UserProfileEntry, hold: Hold) -> HeldText:
    """Return the held value of an entry."""
    return HeldText(
        text=guarded_text(entry.key, decided_value(entry, hold)),
        title=_("Profile entry %(key)s") % {"key": entry.key},
        on_discard=sentences(str(KEEPS_FORMER), kept_label()) if entry.value else kept_label(),
        replaces=entry.value or None,
        prefix=f"{entry.key}: ",
        is_by_person=is_owner(hold.actor, entry.owner),
    )
