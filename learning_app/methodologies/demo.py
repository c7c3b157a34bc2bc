"""The demo's methodologies: as agents handed them in, and what was seen again, read and quarantined since."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext_lazy

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.core.lifecycle import replay
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.seeding import draft_of
from learning_app.methodologies.services.create import build_row, count_seen, same_key
from learning_app.methodologies.services.lifecycle import BY_OPERATOR, Move, apply_moves
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.demo import AGENT_KEY, DemoAct, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.services import delete_holds

OPERATOR = "demo-olga"


class DemoDuplicate(DemoRow):
    """Other words for the same method."""

    name: str
    methodology: str


class DemoMethodology(DemoRow):
    """One methodology; `read_hours_ago` a person read it, and `quarantined_hours_ago` an operator quarantined it.

    The fields from `outcomes` on are its cases, as `cases/demo.py` makes them.
    """

    draft: dict[str, Any]
    read_hours_ago: float | None = None
    again: tuple[DemoDuplicate, ...] = ()
    quarantined_hours_ago: float | None = None
    reason: str = ""
    outcomes: str = ""
    assets: tuple[str, ...] = ()
    horizon_hours: int = 0
    every_hours: int = 0
    beside: str = ""
    first_trade: int = 0
    texts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.draft["name"])


class MethodologiesPart(DemoPart[DemoMethodology]):
    """Methodologies and their lifecycle without outcomes, which come with the cases."""

    name, rows = "methodologies", read_rows(DemoMethodology, __package__)

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        yield from super().acts(load)
        for row in (row for rows in self.rows.values() for row in rows):
            for duplicate in row.again:
                at = load.ago(duplicate.hours_ago)
                yield at, partial(see_again, row, duplicate, now=at)
            if row.quarantined_hours_ago:
                at = load.ago(row.quarantined_hours_ago)
                yield at, partial(quarantine, row, actor=f"user:{load.people[OPERATOR].pk}", now=at)

    def store(self, load: DemoLoad, owner: Any, row: DemoMethodology) -> None:
        at = load.ago(row.hours_ago)
        draft = replace(draft_of(row.draft), further={"is_demo": True})
        methodology = build_row(draft, actor=AGENT_KEY, origin="", now=at)
        if same_key(methodology).exists():  # what an agent really handed in gets no invented outcomes
            return
        methodology.reviewed_at = load.ago(row.read_hours_ago) if row.read_hours_ago else None
        store_judged(METHODOLOGY_KIND, methodology, now=at)
        created = Move(methodology, LifecycleKind.CREATED, details={"origin": ""})
        apply_moves([created], actor=AGENT_KEY, now=at)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete those that nothing happened to since; what stays keeps its real outcomes alone.

        The demo's cases are gone, and with them their outcomes among the events.
        """
        rows = Methodology.objects.filter(is_demo=True)
        since = LifecycleEvent.objects.filter(at__gt=load.loaded_at).exclude(actor__startswith="job:")
        kept = rows.filter(Q(pk__in=since.values("methodology")) | Q(hint_rows__isnull=False)).distinct()
        staying = list(kept.order_by("pk"))
        for row in staying:
            count_again(row, actor=load.actor, now=load.now)
        gone = list(rows.values_list("pk", flat=True))
        LifecycleEvent.objects.filter(methodology__in=gone).delete()
        delete_holds(kind=METHODOLOGY_KIND, object_ids=gone)
        ChangeSet.objects.filter(changes__kind=METHODOLOGY_KIND, changes__key__in=map(str, gone)).delete()
        rows.delete()
        return [RemovedRows(gettext_lazy("Methodologies"), len(gone), len(staying))]


def demo_methodologies() -> dict[str, Methodology]:
    """Return the demo's methodologies by name."""
    return {row.name: row for row in Methodology.objects.filter(is_demo=True)}


def see_again(row: DemoMethodology, duplicate: DemoDuplicate, *, now: datetime) -> None:
    """Count that a methodology was handed in again, in other words."""
    draft = replace(
        draft_of(row.draft),
        name=duplicate.name,
        methodology=duplicate.methodology,
        evidence="",
    )
    if same := demo_methodologies().get(row.name):
        count_seen(
            same,
            build_row(draft, actor=AGENT_KEY, origin="", now=now),
            now=now,
        )


def quarantine(row: DemoMethodology, *, actor: str, now: datetime) -> None:
    """Quarantine a methodology as an operator does."""
    same = demo_methodologies().get(row.name)
    if same is None:
        return
    move = Move(same, LifecycleKind.QUARANTINED, {**BY_OPERATOR, "reviewed_at": now})
    apply_moves([move], act="methodology_quarantined", actor=actor, now=now, reason=row.reason)


def count_again(row: Methodology, *, actor: str, now: datetime) -> None:
    """Make a methodology the instance's, with the outcomes that are left; below the bar it goes back to quarantine."""
    outcomes = LifecycleEvent.objects.filter(methodology=row, kind=LifecycleKind.OUTCOME_RECORDED).order_by("pk")
    row.times_used, row.times_correct = replay(outcomes)
    row.confidence = row.trust.bound if row.times_used else settings.MINARA.initial_confidence
    row.is_demo = False
    row.save(update_fields=["times_used", "times_correct", "confidence", "is_demo"])
    if not row.quarantine and not row.is_at_bar:
        demoted = Move(row, LifecycleKind.DEMOTED, {"quarantine": 1}, {"demo_removed": 1})
        apply_moves([demoted], actor=actor, now=now)
