"""Lifecycle events: what happened to a methodology, with its counts behind it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.core.redact import redact_text


def new_event(
    row: Methodology,
    kind: LifecycleKind,
    *,
    actor: str,
    now: datetime,
    reason: str = "",
    details: Mapping[str, Any] | None = None,
    case_id: int | None = None,
) -> LifecycleEvent:
    """Return the unsaved event of a row as it is now; secrets are taken out of the reason."""
    return LifecycleEvent(
        methodology_id=row.pk,
        kind=kind,
        at=now,
        actor=actor,
        reason_text=redact_text(reason),
        details=dict(details or {}),
        case_id=case_id,
        confidence=row.confidence,
        times_used=row.times_used,
        times_correct=row.times_correct,
        quarantine=row.quarantine,
        is_demo=row.is_demo,
    )


def append_event(row: Methodology, kind: LifecycleKind, **what: Any) -> LifecycleEvent:
    """Store one event. Needs a transaction."""
    event = new_event(row, kind, **what)
    event.save(force_insert=True)
    return event
