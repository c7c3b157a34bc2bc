"""The statement of a preference as a kind of stored text. What is held is in force for nobody."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy as _

from learning_app.preferences.core import ACTIVATED, ENDED, PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import announce_each
from learning_app.vocabulary import PreferenceState
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.models import Hold


class PreferenceTextKind(HeldAtKind):
    """What a preference says. One that was active is in force again once it is released."""

    name = PREFERENCE_KIND
    label = _("Preference")
    model = Preference
    on_release = _("An active one is in force again; a proposed one waits for its owner.")

    def url(self, object_id: int) -> str:
        return preference_url(object_id)

    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        super().release(holds, rows, now=now)
        announce_each(ACTIVATED, active_of(rows, holds), now=now)

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        super().hold_again(holds, rows, actor=actor, now=now)
        announce_each(ENDED, active_of(rows, holds), now=now)

    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        """Judge rows; an active one that is refused is in force no more."""
        in_force = list(Preference.objects.filter(pk__in=ids).active().values_list("pk", flat=True))
        counts = super().rescan(ids, now=now, actor=actor)
        held = Preference.objects.filter(pk__in=in_force, held_at__isnull=False).order_by("pk")
        announce_each(ENDED, held.values_list("pk", flat=True), now=now)
        return counts


def active_of(rows: Mapping[int, Any], holds: Mapping[int, Hold]) -> list[int]:
    """Return the ids of active rows among those that a decision is about."""
    return sorted(pk for pk in holds.keys() & rows.keys() if rows[pk].state == PreferenceState.ACTIVE)


def preference_url(preference_id: int) -> str:
    """Return the page of a preference, empty while there is none."""
    try:
        return reverse("preferences:one", args=[preference_id])
    except NoReverseMatch:
        return ""
