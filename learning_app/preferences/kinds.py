"""Preferences as a kind: the statement as a text under guard, and decisions. What is held is in force for nobody."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from learning_app.preferences.core import ACTIVATED, ENDED, PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import DECIDED, announce_each
from learning_app.vocabulary import PreferenceState
from minara_site.kernel.changes.core import State, Step
from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.changes.models import Change, ChangeSet
from minara_site.kernel.changes.services import delete_texts
from minara_site.kernel.db import update_rows
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.unchanged import UnchangedReason

ACTIVE, REJECTED = PreferenceState.ACTIVE, PreferenceState.REJECTED


class PreferenceTextKind(HeldAtKind):
    """What a preference says. One that was active is in force again once it is released."""

    name = PREFERENCE_KIND
    label = _("Preference")
    model = Preference
    on_release = _("An active one is in force again; a proposed one waits for its owner.")

    def url(self, object_id: int) -> str:
        return preference_url(object_id)

    def delete_derived(self, ids: Sequence[int]) -> None:
        super().delete_derived(ids)
        delete_texts(self.name, [str(pk) for pk in ids])

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


class PreferenceChanges(Changes):
    """Decisions on preferences. One whose proposal is undone is rejected. No undo starts or ends a limit."""

    name, model = PREFERENCE_KIND, Preference
    columns = ("state", "decided_by", "decided_at", "text_version", "updated_at")
    beside, texts = ("updated_at",), ("statement",)
    undone = ngettext_lazy("Undone for %(number)s preference.", "Undone for %(number)s preferences.", "count")

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        decision = {"decided_by": actor, "decided_at": now, "updated_at": now}
        return {**state, "state": REJECTED.value, **decision}

    def differs(self, state: State, left: State | None) -> UnchangedReason:
        return UnchangedReason.DECIDED

    def may_restore(self, steps: Sequence[Step], *, actor: str) -> dict[str, UnchangedReason]:
        """Return why rows stay: limits, what the guard refuses, and what was decided before changes were recorded."""
        rows, texts, refused = self.load([step.key for step in steps]), self.load_texts(steps), {}
        unproposed = [step.key for step in steps if states_of(step) == (ACTIVE, REJECTED)]
        recorded = set(Change.objects.filter(kind=self.name, key__in=unproposed).values_list("key", flat=True))
        coming = {}
        for step in steps:
            row, states = rows[step.key], states_of(step)
            if row.is_hard and ACTIVE in states:
                refused[step.key] = UnchangedReason.TYPED
            elif step.key in unproposed and step.key not in recorded:
                refused[step.key] = UnchangedReason.DECIDED
            elif states[1] == ACTIVE:
                coming[row.pk] = texts.get(step.key, {}).get("statement", row.statement)
        for pk, verdict in judge_stored(PREFERENCE_KIND, coming).items():
            if verdict.is_held or rows[str(pk)].held_at:
                refused[str(pk)] = UnchangedReason.HELD
        return refused

    def follows(self, steps: Sequence[Step]) -> list[tuple[str, str]]:
        """Return the memories that come into force or end with preferences."""
        return [("memory", step.key) for step in steps if ACTIVE in states_of(step)]

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        rows, texts = self.load([step.key for step in steps]), self.load_texts(steps)
        moments = [state["decided_at"] for step in steps if (state := step.after)]
        acts = ChangeSet.objects.filter(at__in=moments).values_list("actor", "at", "reason")
        reasons = {(by, at): reason for by, at, reason in acts}
        for step in steps:
            row, after = rows[step.key], step.after or {}
            for name, value in after.items():
                setattr(row, name, value)
            row.reason, row.version = reasons.get((row.decided_by, row.decided_at), ""), row.version + 1
            if step.key in texts and texts[step.key]["statement"] != row.statement:
                row.statement, row.rules_version = texts[step.key]["statement"], ""  # readers judge it by today's rules
        update_rows(Preference, DECIDED, rows.values())
        announce_each(ENDED, [int(step.key) for step in steps if states_of(step)[0] == ACTIVE], now=made.at)
        announce_each(ACTIVATED, [int(step.key) for step in steps if states_of(step)[1] == ACTIVE], now=made.at)


def states_of(step: Step) -> tuple[str, str]:
    """Return where a step leads from and to; no step makes or removes a preference."""
    return (step.before or {})["state"], (step.after or {})["state"]


def active_of(rows: Mapping[int, Any], holds: Mapping[int, Hold]) -> list[int]:
    """Return the ids of active rows among those that a decision is about."""
    return sorted(pk for pk in holds.keys() & rows.keys() if rows[pk].state == PreferenceState.ACTIVE)


def preference_url(preference_id: int) -> str:
    """Return the page of a preference, empty while there is none."""
    try:
        return reverse("preferences:one", args=[preference_id])
    except NoReverseMatch:
        return ""
