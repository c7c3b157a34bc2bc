"""Write to the audit log, inside the transaction of the act that is recorded, and ask what people did."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import structlog
from django.db.models import Q

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.vocabulary import PERSONS
from minara_site.kernel.db import insert_row


def record_audit(
    *,
    now: datetime,
    actor: str,
    tool_call: str,
    owner_id: int | None = None,
    reasoning: str = "",
    details: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Append one entry, secrets taken out of its reasoning; the request id comes from the log context."""
    entry = AuditEntry(
        at=now,
        actor=actor,
        owner_id=owner_id,
        tool_call=tool_call,
        reasoning=redact_text(reasoning)[:2000],
        request_id=current_request_id(),
        details=dict(details or {}),
    )
    insert_row(entry)
    return entry


def record_audits(
    acts: Iterable[tuple[str, Mapping[str, Any]]],
    *,
    now: datetime,
    actor: str,
    owner_id: int | None = None,
) -> None:
    """Append one entry for each act of a bulk write, in order: its tool call and its details."""
    request_id = current_request_id()
    AuditEntry.objects.bulk_create(
        AuditEntry(
            at=now,
            actor=actor,
            owner_id=owner_id,
            tool_call=tool_call,
            request_id=request_id,
            details=dict(details),
        )
        for tool_call, details in acts
    )


def by_persons(prefix: str = "") -> Q:
    """Return the lookup of what people did, by the column `actor` or one that `prefix` leads to."""
    return Q(*((f"{prefix}actor__startswith", kind) for kind in PERSONS), _connector=Q.OR)


def did_person(owner_id: int, tool_call: str, **details: Any) -> bool:
    """Say whether a person ever did this of an owner's; `details` are lookups. One query."""
    return AuditEntry.objects.filter(by_persons(), owner=owner_id, tool_call=tool_call, **details).exists()


def current_request_id() -> str:
    """Return the id of the request that this process answers, empty outside of one."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def content_digest(text: str) -> str:
    """Return the SHA-256 that stands for a text in the log, as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()
