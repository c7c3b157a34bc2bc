"""Values of the user profile as a kind of stored text."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import discard_value, lock_entries, release_value, rescan_entries
from minara_site.access.actors import is_owner
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.guard.kinds import KEEPS_FORMER, HeldText, StoredKind
from minara_site.kernel.guard.models import Hold

GOES = gettext_lazy("The value is thrown away for good.")


class ProfileKind(StoredKind):
    """The value of an entry that waits beside the one in force."""

    name = PROFILE_KIND
    label = gettext_lazy("Profile entry")
    model = UserProfileEntry

    def title(self, object_id: int) -> str:
        """Return what an entry is called whose name is not known any more."""
        return str(self.label)

    def load_texts(self, holds: Mapping[int, Hold]) -> dict[int, HeldText]:
        """Return the held values."""
        return {
            entry.pk: held_text(entry, holds[entry.pk])
            for entry in UserProfileEntry.objects.filter(pk__in=holds).select_related("owner")
        }

    def lock(self, ids: Collection[int]) -> dict[int, UserProfileEntry]:
        """Lock the profiles of these entries."""
        return lock_entries(ids)

    def release(self, holds: Mapping[int, Hold], rows: Mapping[int, Any], *, now: datetime) -> None:
        """Put the held values in force."""
        for object_id, hold in holds.items():
            release_value(rows[object_id], actor=hold.actor, now=now)

    def discard(
        self, holds: Mapping[int, Hold], rows: Mapping[int, Any], *, actor: str, reason: str, now: datetime
    ) -> None:
        """Delete the held values; those in force stay."""
        for object_id in holds.keys() & rows.keys():
            discard_value(rows[object_id])

    def rescan(self, ids: Collection[int], *, now: datetime, actor: str) -> tuple[int, int]:
        """Judge the values in force."""
        found = self.lock(ids)
        refused = rescan_entries(found.values(), now=now, actor=actor)
        for entry in refused:
            details = {"key": entry.key}
            record_audit(now=now, actor=actor, tool_call=f"{self.name}_held", owner_id=entry.owner_id, details=details)
        return len(found), len(refused)


def held_text(entry: UserProfileEntry, hold: Hold) -> HeldText:
    """Return the held value of an entry."""
    return HeldText(
        text=entry.guarded_text,
        title=_("Profile entry %(key)s") % {"key": entry.key},
        on_discard=KEEPS_FORMER if entry.value else GOES,
        replaces=entry.value or None,
        prefix=f"{entry.key}: ",
        is_by_person=is_owner(hold.actor, entry.owner),
    )
