"""Reads of methodologies: one, lists, what prompts may carry now, and their history."""

from collections.abc import Collection, Sequence
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.querysets import MethodologyQuerySet
from learning_app.vocabulary import LifecycleKind
from minara_site.access.models import User
from minara_site.config import CourtMode
from minara_site.kernel.core.assets import AssetClass
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


def list_injected(classes: Collection[AssetClass], *, owner: User, limit: int) -> list[Methodology]:
    """Return what prompts may carry now for these asset classes, the surest first; today's guard judges their texts.

    Those of the demo reach the user `default` alone, whose memories are the demo's too: no price verified them.
    """
    rows = Methodology.objects.injected().filter(asset_class__in=list(classes)).order_by("-confidence", "-number")
    if not owner.is_default:
        rows = rows.filter(is_demo=False)
    found = list(rows[: 2 * limit])
    refused = find_refused(METHODOLOGY_KIND, found)
    return [row for row in found if row.pk not in refused][:limit]


def find_injected(rows: Collection[Methodology]) -> set[int]:
    """Return which of these rows prompts may carry now, as `list_injected` decides it. One query."""
    found = list(Methodology.objects.injected().filter(pk__in=[row.pk for row in rows]))
    return {row.pk for row in found} - find_refused(METHODOLOGY_KIND, found)


def is_injected(row: Methodology) -> bool:
    """Say whether prompts may carry this row now."""
    return row.pk in find_injected([row])


def newest_event_id() -> int:
    """Return the id of the newest event of the store, 0 without one."""
    found: int | None = LifecycleEvent.objects.order_by("-id").values_list("id", flat=True).first()
    return found or 0


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
