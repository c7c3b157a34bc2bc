"""Methodologies as a kind: the text under guard, whose holds operators decide, and the moves of their state."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.create import same_key, structured_of
from learning_app.methodologies.services.lifecycle import BY_OPERATOR, Move, apply_moves, find_kept_back
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from minara_site.kernel.changes.core import State, Step
from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.db import update_rows
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.kinds import REPLACED
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import find_expired_discards
from minara_site.kernel.rollback import ROLLBACK
from minara_site.kernel.unchanged import UnchangedReason

DISCARDED = "discarded:"


class MethodologyKind(HeldAtKind):
    """Name, text, evidence and phases of a methodology.

    A discarded one gives its structural key away, so that another writer may say it better. One that the scan holds
    out of prompts goes back to quarantine besides, and leaves it by an operator's release only.
    """

    name = METHODOLOGY_KIND
    label = _("Methodology")
    model = Methodology
    on_release = _("The quarantine stays: outcomes decide what prompts carry.")

    def title_of(self, row: Methodology) -> str:
        """Return the name that its writer gave it, without secrets."""
        return str(_("Methodology “%(name)s”")) % {"name": mask(row.name)}

    def url(self, object_id: int) -> str:
        """Return the page of a methodology, empty once it is gone."""
        uid = Methodology.objects.filter(pk=object_id).values_list("uid", flat=True).first()
        return reverse("methodologies:one", args=[uid]) if uid else ""

    def url_of(self, row: Methodology) -> str:
        return reverse("methodologies:one", args=[row.uid])

    def discard(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        reason: str,
        now: datetime,
    ) -> None:
        """Leave them held, for nobody to read, and free their keys."""
        for pk in holds.keys() & rows.keys():
            Methodology.objects.filter(pk=pk).update(dedup_key=f"{DISCARDED}{pk}")

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        """Hold rows since when they were held; a discarded one needs its key back."""
        super().hold_again(holds, rows, actor=actor, now=now)
        for pk, hold in holds.items():
            if hold.decision == Decision.DISCARDED:
                rows[pk].dedup_key = structured_of(rows[pk]).dedup_key
                if same_key(rows[pk]).exclude(pk=pk).exists():
                    self.refuse_again(hold, REPLACED)
                Methodology.objects.filter(pk=pk).update(dedup_key=rows[pk].dedup_key)
        quarantine_by_scan(
            Methodology.objects.filter(pk__in=holds, quarantine=0),
            actor=actor,
            now=now,
        )

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Delete discarded rows; of one that cases refer to only the words go."""
        expired = self.lock(find_expired_discards(self.name, cutoff=cutoff))
        hinted = [pk for pk, row in expired.items() if row.held_at and row.hint_rows.exists()]
        gone = {"name": "", "methodology": "-", "evidence": "", "phases": None}
        Methodology.objects.filter(pk__in=hinted).update(**gone)
        unhinted = {pk for pk, row in expired.items() if row.held_at} - set(hinted)
        Methodology.objects.filter(pk__in=unhinted).delete()
        self.delete_derived(sorted(unhinted))
        Hold.objects.filter(kind=self.name, object_id__in=expired).delete()
        return len(hinted) + len(unhinted)

    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        """Judge rows; what is refused is in quarantine by the scan."""
        accepted = set(Methodology.objects.filter(pk__in=ids, held_at__isnull=True).values_list("pk", flat=True))
        counts = super().rescan(ids, now=now, actor=actor)
        refused = Methodology.objects.filter(pk__in=accepted, held_at__isnull=False)
        quarantine_by_scan(
            refused.filter(quarantined_by=QuarantinedBy.RULE),
            actor=actor,
            now=now,
        )
        return counts


def quarantine_by_scan(rows: QuerySet[Any], *, actor: str, now: datetime) -> None:
    """Quarantine locked rows until an operator releases them. Needs a transaction."""
    columns = {"quarantine": 1, "quarantined_by": QuarantinedBy.SCAN.value}
    moves = [Move(row, LifecycleKind.QUARANTINED, columns, {"scan": 1}) for row in rows.order_by("pk")]
    apply_moves(moves, actor=actor, now=now)


class MethodologyChanges(Changes):
    """Moves of their state. One whose creation is undone goes into quarantine, whatever happened to it since."""

    name, model = METHODOLOGY_KIND, Methodology
    columns = ("quarantine", "quarantined_by", "moved_at", "reviewed_at", "updated_at")
    id_column, beside, whatever_since = "uid", ("reviewed_at", "updated_at"), True
    undone = ngettext_lazy("Undone for %(number)s methodology.", "Undone for %(number)s methodologies.", "count")

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        if state["quarantined_by"] == QuarantinedBy.OPERATOR:
            return state
        return {**state, **BY_OPERATOR, "moved_at": now, "updated_at": now}

    def may_restore(self, steps: Sequence[Step], *, actor: str, now: datetime) -> dict[str, UnchangedReason]:
        released = [step.row for step in steps if step.before["quarantine"] > step.after["quarantine"]]
        return find_kept_back(released, is_undo=True)

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Store rows, each with an event that says of which act it is the undo, or of which roll-back."""
        details: dict[str, Any] = {"undo": made.undoes_id} if made.undoes_id else {}
        if made.run and made.run.startswith(ROLLBACK):
            details["rollback"] = int(made.run.removeprefix(ROLLBACK))
        kinds = LifecycleKind.RELEASED, LifecycleKind.QUARANTINED
        moved = [step for step in steps if step.before["moved_at"] != step.after["moved_at"]]
        moves = [Move(step.row, kinds[step.after["quarantine"]], step.after, details) for step in moved]
        apply_moves(moves, actor=made.actor, now=made.at)
        update_rows(Methodology, ("reviewed_at",), [step.row for step in steps])
