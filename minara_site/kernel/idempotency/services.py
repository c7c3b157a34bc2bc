"""Remember a call and its answer by the caller's key, in the transaction of its effect (W-14).

Everything here runs inside the caller's transaction. The row is written first: a second call with the same key waits on
it, on PostgreSQL at the unique index, on SQLite at the lock of the file. A call that fails is rolled back with its row,
and the key is free again. Rows hold copies of answers and live for a day only.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.idempotency.models import IdempotentCall

KEPT_FOR = timedelta(hours=24)
LARGEST_ANSWER = 256 * 1024


def claim_call(
    *,
    caller: str,
    key: str,
    request_sha256: str,
    now: datetime,
) -> tuple[IdempotentCall, bool]:
    """Return the call of this key and whether it is new; one that goes on elsewhere is waited for.

    Raises Invalid when the key stands for another request, Conflict when its answer was too large to keep.
    """
    IdempotentCall.objects.filter(
        caller=caller,
        key=key,
        created_at__lte=now - KEPT_FOR,
    ).delete()
    call, is_new = IdempotentCall.objects.get_or_create(
        caller=caller,
        key=key,
        defaults={"request_sha256": request_sha256, "created_at": now},
    )
    if call.request_sha256 != request_sha256:
        raise Invalid(
            _("This Idempotency-Key was used for another request. Send a new key."),
            code="idempotency_mismatch",
        )
    if not is_new and not call.body:
        detail = _(
            "This call was made and took effect, but its answer was too large to keep. Read again what it asked for."
        )
        raise Conflict(detail, code="idempotency_answer_not_kept")
    return call, is_new


def keep_answer(
    call: IdempotentCall,
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
) -> None:
    """Store the answer that every repetition gets; one that is too large leaves only that the call was made."""
    call.status, call.headers = status, dict(headers)
    call.body = body if len(body) <= LARGEST_ANSWER else b""
    call.save(update_fields=["status", "headers", "body"])
