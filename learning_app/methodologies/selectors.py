"""Reads of methodologies: one, lists, what prompts may carry now, and their history."""

from collections.abc import Collection, Sequence
from typing import Any

from django.conf import settings
from django.db.models import Case, When
from django.utils.translation import gettext as _

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.querysets import MethodologyQuerySet
from learning_app.vocabulary import LifecycleKind
from minara_site.access.models import User
from minara_site.config import CourtMode
from minara_site.kernel.core.assets import GROUPS, AssetClass
from minara_site.kernel.errors import NotFound
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


def get_methodology(uid: str, *, for_update: bool = False) -> Methodology:
    """Return one methodology by its public id. Raises NotFound."""
    rows = Methodology.objects.select_for_update() if for_update else Methodology.objects
    found: Methodology | None = rows.filter(uid=uid).first()
    if found is None:
        raise NotFound(_("There is no such methodology."))
    return found


def get_readable(uid: str) -> Methodology:
    """Return one methodology as agents and users may read it. Raises NotFound also for what the guard refuses."""
    row = get_methodology(uid)
    if row.held_at or find_refused(METHODOLOGY_KIND, [row]):
        raise NotFound(_("There is no such methodology."))
    return row


def list_readable() -> MethodologyQuerySet:
    """Return what agents and users may read: everything that the guard does not hold."""
    rows: MethodologyQuerySet = Methodology.objects.filter(held_at__isnull=True)
    return rows


def list_injected(
    classes: Collection[AssetClass],
    *,
    owner: User,
    limit: int,
) -> list[Methodology]:
    """Return what prompts may carry now for these classes, then for the others of their groups, the surest first.

    Today's guard judges their texts. Those of the demo reach the user `default` alone, whose memories are the demo's
    too: no price verified them.
    """
    groups = {each for of_one in classes for each in GROUPS[of_one.group]}
    rows = Methodology.objects.injected_for(owner).filter(asset_class__in=groups)
    is_alike = Case(When(asset_class__in=list(classes), then=0), default=1)
    found = list(rows.order_by(is_alike, "-confidence", "-number")[: 2 * limit])
    refused = find_refused(METHODOLOGY_KIND, found)
    return [row for row in found if row.pk not in refused][:limit]


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
