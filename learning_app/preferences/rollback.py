"""Preferences when their writer is rolled back: what still waits is rejected, what a person decided stays. P-07."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.utils.translation import gettext as _, gettext_lazy

from learning_app.preferences.core import ACTIVATED, ENDED, PREFERENCE_KIND, UNDECIDED
from learning_app.preferences.kinds import preference_url
from learning_app.preferences.models import Preference, RolledBackPreference
from learning_app.preferences.services.decide import announce_each, set_state
from learning_app.vocabulary import PreferenceSource, PreferenceState
from minara_site.kernel.db import update_rows
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.rollback import (
    MAX_ROWS,
    Effect,
    Entries,
    KindPlan,
    PlanRow,
    RollbackKind,
    RollbackRecord,
    UnchangedReason,
    UnchangedRow,
    too_many_rows,
)

PROPOSED = "preference"


@dataclass(frozen=True, slots=True)
class PreferenceStep:
    """One preference of a plan: the version from which it goes to this state."""

    preference_id: int
    version: int
    state: str


class PreferenceRollback(RollbackKind):
    """Proposals. None is deleted, and what a person put in force stays in force."""

    name = PREFERENCE_KIND
    label = gettext_lazy("Preferences")
    writes: ClassVar = {"preference_proposed": PROPOSED}
    import_acts = ("preference_proposed",)
    effects = (
        Effect(
            PROPOSED,
            label,
            gettext_lazy("rejected, unless a person decided"),
            gettext_lazy("proposed again, or active where they were"),
        ),
    )
    audit_key, record_key = "preferences", "preference"

    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        if len(entries) > MAX_ROWS:
            raise too_many_rows()
        rows = load_rows((entry.details["id"] for entry in entries), lock=lock)
        steps, unchanged = [], []
        for row in rows.values():
            if row.state == PreferenceState.PROPOSED or is_of_import(row):
                steps.append(PreferenceStep(row.pk, row.version, PreferenceState.REJECTED.value))
            else:
                unchanged.append(
                    UnchangedRow(
                        UnchangedReason.DECIDED,
                        row.pk,
                        row.owner_id,
                        by=row.decided_by,
                    )
                )
        return KindPlan({PROPOSED: steps}, unchanged, rows)

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        versions = dict(items_of(record).values_list("preference_id", "version"))
        rows = load_rows(versions, lock=lock)
        refused = find_refused(PREFERENCE_KIND, rows.values())
        steps, unchanged = [], []
        for row in rows.values():
            if row.version == versions[row.pk]:
                state = state_before(row, is_refused=row.pk in refused)
                steps.append(PreferenceStep(row.pk, row.version, state.value))
            else:
                unchanged.append(
                    UnchangedRow(
                        UnchangedReason.DECIDED,
                        row.pk,
                        row.owner_id,
                        by=row.decided_by,
                    )
                )
        return KindPlan({PROPOSED: steps}, unchanged, rows)

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[int, Mapping[str, Any]]:
        decision: dict[str, Any] = dict(UNDECIDED)
        if record.undoes is None:
            decision |= {"decided_by": record.actor, "decided_at": record.at}
        changed, ended, activated = defaultdict(list), [], []
        for step in plan.steps[PROPOSED]:
            row = plan.rows[step.preference_id]
            was_active = row.state == PreferenceState.ACTIVE
            ended += [row.pk] if was_active else []
            if step.state == PreferenceState.ACTIVE:
                set_state(
                    row,
                    PreferenceState.ACTIVE,
                    actor=record.actor,
                    now=record.at,
                    is_owners_act=False,
                )
                as_imported(row)
                activated.append(row.pk)
            else:
                row.state, row.version, row.updated_at = step.state, row.version + 1, record.at
                for name, value in decision.items():
                    setattr(row, name, value)
                row.state_before = PreferenceState.ACTIVE.value if was_active else ""
            changed[row.owner_id].append(row)
        rows = [row for own in changed.values() for row in own]
        update_rows(Preference, ("state", "version", "updated_at", *decision), rows)
        if record.undoes is None:
            items = [
                RolledBackPreference(
                    rollback_id=record.pk,
                    preference=row,
                    version=row.version,
                )
                for row in rows
            ]
            RolledBackPreference.objects.bulk_create(items)
        announce_each(ENDED, ended, now=record.at)
        announce_each(ACTIVATED, activated, now=record.at)
        return {
            owner_id: {
                self.audit_key: [row.pk for row in own],
                "count": len(own),
            }
            for owner_id, own in changed.items()
        }

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        rows = [masked_for(reader, plan.rows[step.preference_id]) for step in steps]
        return [
            PlanRow(
                row.statement,
                row.owner_id,
                self.url(row.pk),
                row.dimension,
            )
            for row in rows
        ]

    def title(self, object_id: Any) -> str:
        return _("preference %(id)d") % {"id": object_id}

    def url(self, object_id: Any) -> str:
        return preference_url(object_id)

    def list_changed(self, record: RollbackRecord, *, limit: int) -> Sequence[Any]:
        return list(items_of(record).order_by("preference").values_list("preference", flat=True)[:limit])


def is_of_import(row: Preference) -> bool:
    """Say whether a signed import put a preference in force, in the act that brought it, and nobody decided since."""
    is_imported = row.source == PreferenceSource.IMPORTED and row.decided_at == row.created_at
    return is_imported and row.state == PreferenceState.ACTIVE


def state_before(row: Preference, *, is_refused: bool) -> PreferenceState:
    """Return the state to which the undo of a roll-back brings a preference: a hard constraint is never active."""
    was_active = row.state_before == PreferenceState.ACTIVE and not row.is_hard
    may_be = was_active and row.held_at is None and not is_refused
    return PreferenceState.ACTIVE if may_be else PreferenceState.PROPOSED


def as_imported(row: Preference) -> None:
    """Give one that is active again the decision of the signed import that put it in force."""
    row.decided_by, row.decided_at, row.state_before = row.actor, row.created_at, PreferenceState.PROPOSED.value


def items_of(record: RollbackRecord) -> Any:
    """Return what a roll-back rejected."""
    return RolledBackPreference.objects.filter(rollback_id=record.pk)


def load_rows(ids: Any, *, lock: bool) -> dict[int, Preference]:
    """Return preferences by id, in the order in which every writer locks."""
    rows = Preference.objects.filter(pk__in=set(ids)).order_by("pk")
    return {row.pk: row for row in (rows.select_for_update(of=("self",)) if lock else rows)}
