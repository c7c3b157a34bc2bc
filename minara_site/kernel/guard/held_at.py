"""The usual table under guard: a row has one text, and the column `held_at` says since when the guard holds it.

The model has `owner`, `actor` (who wrote it), `held_at`, `rules_version` and `guarded_text` (what the guard judges).
Its room stores new rows with `store_judged`, lists a `HeldAtKind`, and lets agents read rows without `held_at` alone,
save those that `selectors.find_refused` names.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Verdict
from minara_site.kernel.guard.kinds import HeldText, Label, StoredKind, ids_by_held_at, kept_label
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import find_expired_discards, judge_stored
from minara_site.kernel.guard.services import delete_holds, place_hold


def store_judged(kind: str, row: Any, *, now: datetime) -> Hold | None:
    """Store a new row with the verdict on it; return the hold of one that is refused. Needs a transaction."""
    verdict = guard.judge(row.guarded_text)
    row.rules_version, row.held_at = verdict.rules_version, now if verdict.is_held else None
    row.save(force_insert=True)
    return hold_row(kind, row, verdict, now=now) if verdict.is_held else None


def hold_row(kind: str, row: Any, verdict: Verdict, *, now: datetime) -> Hold:
    """Place the hold of a row. Needs a transaction."""
    return place_hold(
        kind=kind,
        object_id=row.pk,
        owner_id=row.owner_id,
        text=row.guarded_text,
        verdict=verdict,
        actor=row.actor,
        now=now,
    )


class HeldAtKind(StoredKind):
    """The texts of such a table. A discarded row stays held until the purge of its time deletes it."""

    def load_texts(self, holds: Mapping[int, Hold]) -> dict[int, HeldText]:
        rows = self.model.objects.filter(pk__in=holds)
        return {
            row.pk: HeldText(
                row.guarded_text,
                self.title_of(row),
                self.on_discard(),
                url=self.url_of(row),
            )
            for row in rows
        }

    def on_discard(self) -> Label:
        """Return what becomes of a discarded text."""
        return kept_label()

    def lock(self, ids: Collection[int]) -> dict[int, Any]:
        rows = self.model.objects.filter(pk__in=ids).order_by("pk").select_for_update(of=("self",))
        return {row.pk: row for row in rows}

    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        self.model.objects.filter(pk__in=rows.keys() & holds.keys()).update(held_at=None)
        self.accept([rows[pk] for pk in holds if pk in rows], now=now)

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        for pk, hold in holds.items():
            self.check_unchanged(hold, rows[pk].guarded_text if pk in rows else None)
        for held_at, ids in ids_by_held_at(holds).items():
            self.model.objects.filter(pk__in=ids).update(held_at=held_at)

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Delete discarded rows, with what was derived from them."""
        rows = self.lock(find_expired_discards(self.name, cutoff=cutoff))
        ids = sorted(pk for pk, row in rows.items() if row.held_at)
        self.delete_derived(ids)
        self.model.objects.filter(pk__in=ids).delete()
        delete_holds(kind=self.name, object_ids=ids)
        return len(ids)

    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        """Judge rows; one that is held already waits on for a person."""
        rows = self.lock(ids)
        verdicts = judge_stored(
            self.name,
            {pk: row.guarded_text for pk, row in rows.items() if row.held_at is None},
        )
        refused = [pk for pk, verdict in verdicts.items() if verdict.is_held]
        stored = self.model.objects.filter(pk__in=rows)
        stored.update(rules_version=guard.RULES.version)
        stored.filter(pk__in=refused).update(held_at=now)
        for pk in refused:
            hold_row(self.name, rows[pk], verdicts[pk], now=now)
            owner_id, act = rows[pk].owner_id, f"{self.name}_held"
            record_audit(
                now=now,
                actor=actor,
                tool_call=act,
                owner_id=owner_id,
                details={"id": pk},
            )
            self.publish_changes(owner_id, [pk])
        return len(rows), len(refused)
