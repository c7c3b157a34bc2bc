"""Support staff see the amounts of a case for a while, with a reason that its owner reads. Source: decisions, U-37."""

from datetime import datetime, timedelta

from django.db import transaction

from learning_app.cases.models import TradingCase
from learning_app.cases.selectors import list_own_reveals
from minara_site.access.access_log import log_access
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.plain_text import clean_text

REVEAL_FOR = timedelta(minutes=15)
MAX_REASON_CHARS = 200


def reveal_case(
    *,
    principal: Principal,
    case: TradingCase,
    reason: str,
    now: datetime,
) -> datetime:
    """Let this person see the amounts of a case, and return until when. Raises Invalid for an unusable reason."""
    reason = redact_text(clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS))[:MAX_REASON_CHARS]
    ends_at = now + REVEAL_FOR
    with transaction.atomic():
        log_access(
            principal=principal,
            owner_ids=[case.owner_id],
            kind="case_reveal",
            object_id=str(case.pk),
            reason=reason,
            ends_at=ends_at,
            now=now,
        )
        record(principal, case, "case_revealed", reason=reason, now=now)
    return ends_at


def end_reveal(*, principal: Principal, case: TradingCase, now: datetime) -> bool:
    """Mask the amounts of a case again for this person; return whether they were shown."""
    with transaction.atomic():
        is_ended = bool(list_own_reveals(principal.owner, case.pk, now=now).update(ends_at=now))
        if is_ended:
            record(principal, case, "case_reveal_ended", now=now)
    return is_ended


def record(
    principal: Principal,
    case: TradingCase,
    act: str,
    *,
    now: datetime,
    reason: str = "",
) -> None:
    """Write the act into the audit log."""
    record_audit(
        now=now,
        actor=principal.actor,
        tool_call=act,
        owner_id=case.owner_id,
        reasoning=reason,
        details={"id": case.pk},
    )
