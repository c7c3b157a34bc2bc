"""Support staff see the amounts of one object for a while, with a reason its owner reads. Source: decisions, U-37."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from minara_site.access.access_log import list_reveals, log_access
from minara_site.access.models import AccessEntry, User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.plain_text import clean_text

REVEAL_FOR = timedelta(minutes=15)
MAX_REASON_CHARS = 200
MAX_REVEALS = 20


@dataclass(frozen=True, slots=True)
class Reveals:
    """The reveals of one kind of object. `kind` is what the access log calls them, the others are acts of the audit."""

    kind: str
    begun: str
    ended: str

    def begin(
        self,
        *,
        principal: Principal,
        owner_id: int,
        object_id: int | str,
        reason: str,
        now: datetime,
    ) -> datetime:
        """Let this person see the amounts, and return until when. Raises Invalid for an unusable reason."""
        reason = redact_text(clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS))[:MAX_REASON_CHARS]
        ends_at = now + REVEAL_FOR
        with transaction.atomic():
            log_access(
                principal=principal,
                owner_ids=[owner_id],
                kind=self.kind,
                object_id=str(object_id),
                reason=reason,
                ends_at=ends_at,
                now=now,
            )
            record(self.begun, principal, owner_id, object_id, reason=reason, now=now)
        return ends_at

    def end(
        self,
        *,
        principal: Principal,
        owner_id: int,
        object_id: int | str,
        now: datetime,
    ) -> bool:
        """Mask the amounts again for this person; return whether they were shown."""
        with transaction.atomic():
            is_ended = bool(self.list_running(principal.owner, object_id, now=now).update(ends_at=now))
            if is_ended:
                record(self.ended, principal, owner_id, object_id, now=now)
        return is_ended

    def list_newest(self, object_id: int | str, *, viewer: User | None) -> list[AccessEntry]:
        """Return the newest reveals of an object, of one viewer where one is given. One query."""
        reveals = list_reveals().filter(kind=self.kind, object_id=str(object_id)).order_by("-at", "-pk")
        return list((reveals.filter(viewer=viewer) if viewer else reveals)[:MAX_REVEALS])

    def list_running(self, viewer: User, object_id: int | str, *, now: datetime) -> "QuerySet[AccessEntry]":
        """Return the reveals of an object that last now for this viewer."""
        return AccessEntry.objects.filter(kind=self.kind, object_id=str(object_id), viewer=viewer, ends_at__gt=now)


def record(
    act: str,
    principal: Principal,
    owner_id: int,
    object_id: int | str,
    *,
    now: datetime,
    reason: str = "",
) -> None:
    """Write the act into the audit log."""
    record_audit(
        now=now,
        actor=principal.actor,
        tool_call=act,
        owner_id=owner_id,
        reasoning=reason,
        details={"id": object_id},
    )
