"""Preferences as a kind: the statement as a text under guard, and decisions. What is held is in force for nobody."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from learning_app.preferences.core import ACTIVATED, ENDED, PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.services.correct import replace_corrected, restore_corrected
from learning_app.preferences.services.decide import ACTIVE, DECIDED, announce_each
from learning_app.vocabulary import PreferenceState
from minara_site.kernel.changes.core import State, Step
from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.db import update_rows
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.unchanged import UnchangedReason


class PreferenceTextKind(HeldAtKind):
    """What a preference says. One that was active is in force again once it is released."""

    name = PREFERENCE_KIND
    label = _("Preference")
    model = Preference
    on_release = _("An active one is in force again; a proposed one waits for its owner.")

    def url(self, object_id: int) -> str:
        return reverse("preferences:one", args=[object_id])

    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        super().release(holds, rows, now=now)
        replace_corrected([rows[pk] for pk in sorted(holds.keys() & rows.keys())], now=now)
        announce_each(ACTIVATED, active_of(rows, holds), now=now)

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        restore_corrected(holds, actor=actor, now=now)
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


class PreferenceChanges(Changes):
    """Decisions on preferences. One whose proposal is undone is rejected. No undo starts or ends a limit."""

    name, model = PREFERENCE_KIND, Preference
    columns = ("state", "decided_by", "decided_at", "text_version", "updated_at")
    beside, texts, differs = ("updated_at",), ("statement",), UnchangedReason.DECIDED
    undone = ngettext_lazy("Undone for %(number)s preference.", "Undone for %(number)s preferences.", "count")

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        if state["state"] != PreferenceState.PROPOSED:  # decided before changes were recorded
            return state
        decision = {"decided_by": actor, "decided_at": now, "updated_at": now}
        return {**state, "state": PreferenceState.REJECTED.value, **decision}

    def may_restore(self, steps: Sequence[Step], *, actor: str, now: datetime) -> dict[str, UnchangedReason]:
        """Return why rows stay: limits, what the guard refuses, and words that it holds now."""
        about_force = [step for step in steps if ACTIVE in (step.before["state"], step.after["state"])]
        coming = [step for step in about_force if step.after["state"] == ACTIVE]
        texts = self.load_texts(coming)
        said = {step.row.pk: texts.get(step.key, {}).get("statement", step.row.statement) for step in coming}
        verdicts = judge_stored(PREFERENCE_KIND, said)
        held = [step.key for step in coming if step.row.held_at or verdicts[step.row.pk].is_held]
        held += [step.key for step in steps if step.row.held_at and is_edited(step)]
        limits = [step.key for step in about_force if step.row.is_hard]
        return dict.fromkeys(held, UnchangedReason.HELD) | dict.fromkeys(limits, UnchangedReason.TYPED)

    def follows(self, steps: Sequence[Step]) -> list[tuple[str, str]]:
        """Return the memories that come into force or end with preferences."""
        return [("memory", step.key) for step in steps if ACTIVE in (step.before["state"], step.after["state"])]

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Store rows, each with the reason of the act that decides on it again."""
        decided = [step.after for step in steps]
        acts = ChangeSet.objects.filter(
            actor__in=[each["decided_by"] for each in decided], at__in=[each["decided_at"] for each in decided]
        )
        reasons = {(by, at): reason for by, at, reason in acts.values_list("actor", "at", "reason")}
        for step in steps:
            row = step.row
            row.reason, row.version = reasons.get((row.decided_by, row.decided_at), ""), row.version + 1
            if is_edited(step):
                row.rules_version = ""  # readers judge it by today's rules
        update_rows(Preference, DECIDED, [step.row for step in steps])
        announce_each(ENDED, [step.row.pk for step in steps if step.before["state"] == ACTIVE], now=made.at)
        announce_each(ACTIVATED, [step.row.pk for step in steps if step.after["state"] == ACTIVE], now=made.at)


def is_edited(step: Step) -> bool:
    """Say whether a row gets other words."""
    return bool(step.before["text_version"] != step.after["text_version"])


def active_of(rows: Mapping[int, Any], holds: Mapping[int, Hold]) -> list[int]:
    """Return the ids of active rows among those that a decision is about."""
    return sorted(pk for pk in holds.keys() & rows.keys() if rows[pk].state == ACTIVE)
