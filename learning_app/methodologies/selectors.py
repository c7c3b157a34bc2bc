"""Reads of methodologies: one, lists, what prompts may carry now, and their history."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Case, OuterRef, Subquery, When
from django.utils.translation import gettext as _

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import CourtReading, LifecycleEvent, Methodology
from learning_app.methodologies.querysets import MethodologyQuerySet, is_court_enforced
from learning_app.vocabulary import LifecycleKind
from minara_site.access.models import User
from minara_site.config import CourtMode
from minara_site.kernel.core.assets import GROUPS, AssetClass
from minara_site.kernel.errors import NotFound, or_not_found
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import find_refused

STATE_KINDS = (
    LifecycleKind.GRADUATED,
    LifecycleKind.DEMOTED,
    LifecycleKind.REQUANTIZED_BY_JUDGE,
    LifecycleKind.QUARANTINED,
    LifecycleKind.RELEASED,
    LifecycleKind.SYNTHESIS_AUTO_DEMOTE,
    LifecycleKind.IMPORTED,
)
"""The kinds of events that can change whether prompts carry a methodology."""
LETTING_IN = (LifecycleKind.GRADUATED, LifecycleKind.RELEASED, LifecycleKind.IMPORTED)
MARKS = ("log_evidence", "max_log_evidence", "independent_cases", "beats_chance", "survives_store", "decay_at")


def get_methodology(uid: str, *, for_update: bool = False) -> Methodology:
    """Return one methodology by its public id. Raises NotFound."""
    rows = Methodology.objects.select_for_update() if for_update else Methodology.objects
    return or_not_found(rows.filter(uid=uid).first(), _("There is no such methodology."))


def get_readable(uid: str) -> Methodology:
    """Return one methodology as agents and users may read it. Raises NotFound also for what the guard refuses."""
    row = get_methodology(uid)
    if row.held_at or find_refused(METHODOLOGY_KIND, [row]):
        raise NotFound(_("There is no such methodology."))
    return row


def list_readable() -> MethodologyQuerySet:
    """Return what agents and users may read: everything that the guard does not hold."""
    return Methodology.objects.filter(held_at__isnull=True)


def list_injected(
    classes: Collection[AssetClass],
    *,
    owner: User,
    limit: int,
    as_of: datetime | None = None,
) -> list[Methodology]:
    """Return what prompts may carry now for these classes, then for the others of their groups, the surest first.

    With `as_of` what they might carry then, each with the counters and marks that the instance held at that moment.
    Today's guard judges their texts. Those of the demo reach the user `default` alone, whose memories are the demo's
    too: no price verified them.
    """
    groups = {each for of_one in classes for each in GROUPS[of_one.group]}
    if as_of is None:
        rows = Methodology.objects.injected_for(owner).filter(asset_class__in=groups)
        is_alike = Case(When(asset_class__in=list(classes), then=0), default=1)
        found = list(rows.order_by(is_alike, "-confidence", "-number")[: 2 * limit])
    else:
        past = list_past(groups, is_demo=owner.is_default, as_of=as_of)
        past.sort(key=lambda row: (row.asset_class not in classes, -row.confidence, -row.pk))
        found = past[: 2 * limit]
    refused = find_refused(METHODOLOGY_KIND, found)
    return [row for row in found if row.pk not in refused][:limit]


def list_past(groups: Collection[AssetClass], *, is_demo: bool, as_of: datetime) -> list[Methodology]:
    """Return what prompts might carry at a moment, by what was stored by then, the demo's too where `is_demo`.

    A row whose text the guard held then is left out; counters and marks are those of that moment. Four queries.
    """
    let_in = LifecycleEvent.objects.filter(kind__in=LETTING_IN, at__lte=as_of).values("methodology")
    rows = Methodology.objects.filter(pk__in=let_in, asset_class__in=groups, created_at__lte=as_of)
    of_row = {"methodology": OuterRef("pk"), "at__lte": as_of}
    found = rows.filter(held_at__isnull=True, is_demo__in={False, is_demo}).annotate(
        event=Subquery(LifecycleEvent.objects.filter(**of_row).order_by("-pk").values("pk")[:1]),
        reading=Subquery(CourtReading.objects.filter(**of_row).order_by("-at", "-pk").values("pk")[:1]),
    )
    past = list(found)
    events = LifecycleEvent.objects.in_bulk([row.event for row in past])
    readings = CourtReading.objects.in_bulk([row.reading for row in past if row.reading])
    held = Hold.objects.filter(kind=METHODOLOGY_KIND, object_id__in=[row.pk for row in past], held_at__lte=as_of)
    held_then = set(held.exclude(decided_at__lte=as_of).values_list("object_id", flat=True))
    config = settings.MINARA
    kept = []
    for row in past:
        event, reading = events[row.event], readings.get(row.reading, CourtReading(methodology=row))
        for name in ("confidence", "times_used", "times_correct", "quarantine"):
            setattr(row, name, getattr(event, name))
        for name in MARKS:
            setattr(row, name, getattr(reading, name))
        is_in = row.pk not in held_then and not row.quarantine and row.confidence >= config.injection_threshold
        if is_in and (not is_court_enforced() or (row.beats_chance and not row.decay_at)):
            kept.append(row)
    return kept


def find_injected(rows: Collection[Methodology], *, owner: User | None = None) -> set[int]:
    """Return which of these rows prompts may carry now, those of this owner where one is named. One query."""
    allowed = Methodology.objects.injected_for(owner) if owner else Methodology.objects.injected()
    found = list(allowed.filter(pk__in=[row.pk for row in rows]))
    return {row.pk for row in found} - find_refused(METHODOLOGY_KIND, found)


def methodology_record(row: Methodology) -> dict[str, Any]:
    """Return a methodology as API, tools and prompts answer it (contract)."""
    return {
        "id": row.uid,
        "name": row.name,
        "asset_class": row.asset_class,
        "methodology": row.methodology,
        "evidence": row.evidence,
        "direction": row.direction,
        "primary_signal": row.primary_signal,
        "timeframe": row.timeframe,
        "indicators": row.indicators,
        "phases": row.phases,
        "confidence": row.confidence,
        "quarantine": row.quarantine,
        "times_used": row.times_used,
        "times_correct": row.times_correct,
        "times_seen": row.times_seen,
        **court_record(row),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def court_record(row: Methodology) -> dict[str, Any]:
    """Return the second judgement of a methodology; nothing is known while the court is off."""
    is_off = settings.MINARA.methodology_court is CourtMode.OFF
    return {
        "e_value": None if is_off else row.e_value,
        "independent_cases": 0 if is_off else row.independent_cases,
        "marks": {
            "graduated": not row.quarantine and not row.held_at,
            "beats_chance": not is_off and row.beats_chance,
            "survives_store": not is_off and row.survives_store,
        },
        "decay": not is_off and row.decay_at is not None,
    }


def records_of(rows: Sequence[Methodology]) -> list[dict[str, Any]]:
    """Return methodologies as the API answers them."""
    return [methodology_record(row) for row in rows]
