"""Lessons as a kind of stored text. A note that the guard held when it was written comes into force at its release."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from learning_app.lessons.core import NOTE_KIND
from learning_app.lessons.models import ReflectionNote
from learning_app.lessons.services.notes import put_in_force, withdraw
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import lock_owners


class LessonsKind(HeldAtKind):
    """The lessons of a deployment."""

    name = NOTE_KIND
    label = _("Lessons")
    model = ReflectionNote
    on_release = _("The agent reads them from its next tick on, unless newer ones are in force.")

    def url_of(self, row: ReflectionNote) -> str:
        if not row.content_hash or row.deployment is None:
            return ""
        return f"{reverse('lessons:one', args=[row.content_hash])}?deployment={row.deployment.uid}"

    def lock(self, ids: Collection[int]) -> dict[int, Any]:
        lock_owners(ReflectionNote.objects.filter(pk__in=ids).values_list("owner_id", flat=True))
        return super().lock(ids)

    def release(self, holds: Mapping[int, Hold], rows: Mapping[int, Any], *, now: datetime) -> None:
        super().release(holds, rows, now=now)
        for pk in sorted(holds.keys() & rows.keys()):
            put_in_force(rows[pk])

    def hold_again(self, holds: Mapping[int, Hold], rows: Mapping[int, Any], *, actor: str, now: datetime) -> None:
        super().hold_again(holds, rows, actor=actor, now=now)
        for pk in sorted(holds.keys() & rows.keys()):
            if holds[pk].held_at == rows[pk].created_at:
                withdraw(rows[pk])

    def delete_derived(self, ids: Sequence[int]) -> None:
        for row in ReflectionNote.objects.filter(pk__in=ids):
            withdraw(row)
        super().delete_derived(ids)
