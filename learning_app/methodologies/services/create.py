"""Creating methodologies: always quarantined, never twice. Source: S2 (quarantine, structured dedup, similarity)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.core.structure import MAX_PHASES, PhaseFault, StructuredMethodology, find_phase_fault
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.lifecycle import Move, apply_moves
from learning_app.similarity.core import find_most_similar_tfidf
from learning_app.vocabulary import Indicator, LifecycleKind, PrimarySignal, Timeframe
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.core.redact import redact, redact_text
from minara_site.kernel.errors import Conflict, invalid_field
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.plain_text import clean_text

MAX_NAME_CHARS, MAX_TEXT_CHARS, MAX_PART_CHARS, MAX_PARTS = 120, 4_000, 300, 20
SAME_TEXT = 0.85
"""From this similarity on, two texts of one direction and asset class are the same methodology."""
MAX_COMPARED = 500
"""As many of the newest texts of that direction and class are compared."""
PHASE_FAULTS = {
    PhaseFault.SAME_NAME: gettext_lazy("Give each phase a name of its own."),
    PhaseFault.UNKNOWN: gettext_lazy("depends_on names a phase that is not among them."),
    PhaseFault.CYCLE: gettext_lazy("The phases depend on each other in a circle. Let one of them depend on nothing."),
    PhaseFault.NOT_ONE_TREE: gettext_lazy(
        "Phases are one tree: one depends on nothing, every other on exactly one phase."
    ),
}


@dataclass(frozen=True, slots=True)
class MethodologyDraft:
    """A methodology that is to be created. `phases` are `{name, criteria, tools_used, depends_on}`, None without."""

    name: str
    methodology: str
    structured: StructuredMethodology
    evidence: str = ""
    phases: list[dict[str, Any]] | None = None
    further: Mapping[str, Any] = field(default_factory=dict)
    """Columns that only a signed import and the demo may set."""


@dataclass(frozen=True, slots=True)
class Created:
    """The row, and whether it is new; else it stood before and was seen once more."""

    row: Methodology
    is_new: bool


def create_methodology(
    *,
    draft: MethodologyDraft,
    actor: str,
    now: datetime,
    origin: str = "",
    reasoning: str = "",
    details: Mapping[str, Any] | None = None,
    by_words: bool = True,
) -> Created:
    """Store a methodology in quarantine, held when the guard refuses it; one that stands already is seen once more.

    Equal are two with the same structured fields, and `by_words` two with nearly the same words, direction and asset
    class. Raises Invalid, and Conflict when the one that stood is just gone.
    """
    row = build_row(draft, actor=actor, origin=origin, now=now)
    existing_id = find_same(row) if by_words else None
    with transaction.atomic():
        if existing_id is None and insert(row, now=now, reasoning=reasoning, further=details or {}):
            return Created(row, is_new=True)
        same = Methodology.objects.filter(pk=existing_id) if existing_id else same_key(row)
        if (found := same.select_for_update().first()) is None:
            raise Conflict(_("The same methodology is being removed. Send it again."), code="changed")
        seen = {"id": found.uid, "sha256": content_digest(row.guarded_text)}
        record_audit(
            now=now,
            actor=actor,
            tool_call="methodology_seen_again",
            reasoning=reasoning,
            details=seen,
        )
        return Created(count_seen(found, row, now=now), is_new=False)


def build_row(
    draft: MethodologyDraft,
    *,
    actor: str,
    origin: str,
    now: datetime,
) -> Methodology:
    """Return the unsaved row of a draft, every field cleaned. Raises Invalid."""
    structured = draft.structured.as_json()
    columns = {
        "origin": origin[:255],
        "confidence": settings.MINARA.initial_confidence,
        "created_at": now,
        "updated_at": now,
        **structured,
        **draft.further,
    }
    return Methodology(
        name=clean_text(draft.name, field="name", max_chars=MAX_NAME_CHARS),
        methodology=clean_text(
            draft.methodology,
            field="methodology",
            max_chars=MAX_TEXT_CHARS,
        ),
        evidence=clean_text(
            draft.evidence,
            field="evidence",
            max_chars=MAX_TEXT_CHARS,
            min_chars=0,
        ),
        phases=clean_phases(draft.phases),
        structured_json=structured,
        dedup_key=draft.structured.dedup_key,
        actor=actor,
        **columns,
    )


def clean_phases(phases: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Return phases with all their lists, None without any. Raises Invalid unless they are one tree."""
    if not phases:
        return None
    if len(phases) > MAX_PHASES:
        raise invalid_field("phases", _("Give at most %(most)d phases.") % {"most": MAX_PHASES})
    cleaned: list[dict[str, Any]] = [
        {
            "name": clean_text(phase["name"], field="phases", max_chars=MAX_NAME_CHARS),
            **{key: clean_parts(phase.get(key) or []) for key in ("criteria", "tools_used", "depends_on")},
        }
        for phase in phases
    ]
    fault = find_phase_fault([(phase["name"], phase["depends_on"]) for phase in cleaned])
    if fault:
        raise invalid_field("phases", str(PHASE_FAULTS[fault]))
    return cleaned


def clean_parts(parts: list[str]) -> list[str]:
    """Return the texts of a list. Raises Invalid."""
    if len(parts) > MAX_PARTS:
        raise invalid_field("phases", _("Give at most %(most)d entries in each list of a phase.") % {"most": MAX_PARTS})
    return [clean_text(part, field="phases", max_chars=MAX_PART_CHARS) for part in parts]


def same_key(row: Methodology) -> Any:
    """Return the rows with the same structured fields: one or none."""
    return Methodology.objects.filter(dedup_key=row.dedup_key)


def find_same(row: Methodology) -> int | None:
    """Return the number of the methodology that a new one repeats, None when there is none."""
    found: int | None = same_key(row).values_list("pk", flat=True).first()
    if found is not None:
        return found
    alike = Methodology.objects.filter(
        asset_class=row.asset_class,
        direction=row.direction,
        held_at__isnull=True,
    )
    texts = dict(alike.order_by("-pk").values_list("pk", "methodology")[:MAX_COMPARED])
    match = find_most_similar_tfidf(row.methodology, texts) if texts else None
    return match.key if match and match.score >= SAME_TEXT else None


def insert(
    row: Methodology,
    *,
    now: datetime,
    reasoning: str,
    further: Mapping[str, Any],
) -> bool:
    """Store a new row with its event; False when another writer was faster. Needs a transaction."""
    try:
        with transaction.atomic():
            hold = store_judged(METHODOLOGY_KIND, row, now=now)
    except IntegrityError:
        if same_key(row).exists():
            return False
        raise
    apply_moves([Move(row, LifecycleKind.CREATED, details={"origin": row.origin})], actor=row.actor, now=now)
    details = {
        "id": row.uid,
        "sha256": content_digest(row.guarded_text),
        "count": 1,
        **further,
    }
    record_audit(
        now=now,
        actor=row.actor,
        tool_call="methodology_created",
        reasoning=reasoning,
        details=details | ({"held": 1} if hold else {}),
    )
    return True


def count_seen(
    same: Methodology,
    repeated: Methodology,
    *,
    now: datetime,
) -> Methodology:
    """Count that a locked row was seen again, and keep the other's words in the event. Nothing else changes."""
    Methodology.objects.filter(pk=same.pk).update(times_seen=F("times_seen") + 1)
    same.refresh_from_db()
    verdict = guard.judge(repeated.guarded_text)
    details: dict[str, Any] = {
        name: redact_text(getattr(repeated, name)) for name in ("name", "methodology", "evidence")
    }
    if repeated.phases:
        details["phases"] = redact(repeated.phases)
    if repeated.structured_json != same.structured_json:
        details["structured"] = repeated.structured_json
    if verdict.is_held:
        details["refused"] = [finding.rule for finding in verdict.findings[:5]]
    apply_moves([Move(same, LifecycleKind.DEDUPLICATED, details=details)], actor=repeated.actor, now=now)
    return same


def structured_of(row: Methodology) -> StructuredMethodology:
    """Return the structured fields of a row."""
    return StructuredMethodology(
        Direction(row.direction),
        PrimarySignal(row.primary_signal),
        Timeframe(row.timeframe),
        tuple(map(Indicator, row.indicators)),
        AssetClass(row.asset_class),
    )
