"""Decisions and lessons of roles as two kinds of stored text, in one table."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.roles.core import DECISION_KIND, LESSON_KIND, Status
from memory_app.roles.models import RoleMemory
from memory_app.roles.pages.entry import list_inputs
from memory_app.roles.services.guarded import (
    DECISIONS,
    LESSONS,
    delete_decisions,
    lock_entries,
    release,
    rescan_entries,
)
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.events import role_memory_changed, send_after_commit
from minara_site.kernel.guard.kinds import HeldText, StoredKind, ids_by_held_at, kept_label
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import find_expired_discards

STAYS = gettext_lazy(
    "It leaves the queue and stays held: a reflection is written once and never rewritten. No one reads it. "
    "It can be put back into the queue at any time."
)


class DecisionKind(StoredKind):
    """What a role decided, with its inputs."""

    name = DECISION_KIND
    label = gettext_lazy("Decision")
    model = RoleMemory
    guarded = DECISIONS

    def title(self, object_id: int) -> str:
        return _("Decision %(id)d") % {"id": object_id}

    def load_texts(self, holds: Mapping[int, Hold]) -> dict[int, HeldText]:
        return {row.pk: self.held_text(row) for row in RoleMemory.objects.filter(pk__in=holds)}

    def held_text(self, entry: RoleMemory) -> HeldText:
        """Return the text of this kind of an entry; of a decision the inputs are lines of their own."""
        is_decision = self.name == DECISION_KIND
        is_kept = self.name == LESSON_KIND or entry.status == Status.REFLECTED
        return HeldText(
            text=self.guarded.text(entry),
            title=self.title(entry.pk),
            on_discard=STAYS if is_kept else kept_label(),
            url=reverse("role_memory:one", args=[entry.pk]),
            facts=((_("Decision role"), entry.role_id),),
            lead=len(entry.decision) if is_decision else None,
            behind=tuple((row.name, row.text) for row in list_inputs(entry.inputs)) if is_decision else (),
        )

    def lock(self, ids: Collection[int]) -> dict[int, RoleMemory]:
        return {row.pk: row for row in lock_entries(list(ids))}

    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        """Let held texts be read, and decisions be judged."""
        release(holds, self.guarded)

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        """Hold texts since when they were held; what was learned from a decision meanwhile is held with it."""
        for pk, hold in holds.items():
            self.check_unchanged(
                hold,
                self.guarded.text(rows[pk]) if pk in rows else None,
            )
        for held_at, ids in ids_by_held_at(holds).items():
            RoleMemory.objects.filter(pk__in=ids).update(**{self.guarded.column: held_at})

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Delete discarded decisions that nothing was reflected on; all other texts stay held."""
        if self.guarded is LESSONS:
            return 0
        rows = self.lock(find_expired_discards(self.name, cutoff=cutoff))
        ids = [pk for pk, row in rows.items() if row.held_at and row.status != Status.REFLECTED]
        delete_decisions(ids)
        return len(ids)

    def publish_changes(self, owner_id: int, ids: Sequence[int]) -> None:
        send_after_commit(role_memory_changed, owner_id=owner_id, entry_ids=tuple(ids))

    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        found = list(self.lock(ids).values())
        refused = rescan_entries(found, now=now)
        for kind, entries in refused.items():
            by_owner: defaultdict[int, list[int]] = defaultdict(list)
            for entry in entries:
                by_owner[entry.owner_id].append(entry.pk)
            for owner_id, own in by_owner.items():
                details = {"entries": own}
                record_audit(
                    now=now,
                    actor=actor,
                    tool_call=f"{kind}_held",
                    owner_id=owner_id,
                    details=details,
                )
                self.publish_changes(owner_id, own)
        return len(found), sum(map(len, refused.values()))


class LessonKind(DecisionKind):
    """What a reflection learned, with its narrative. A discard leaves it held: it is written once."""

    name = LESSON_KIND
    label = gettext_lazy("Lesson of a decision")
    guarded = LESSONS

    def title(self, object_id: int) -> str:
        return _("Lesson of decision %(id)d") % {"id": object_id}
