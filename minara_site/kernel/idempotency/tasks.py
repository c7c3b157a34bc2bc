"""What the worker does for repeated calls: answers that were kept for a day leave the database."""

from datetime import datetime

from minara_site.kernel.idempotency.models import IdempotentCall
from minara_site.kernel.idempotency.services import KEPT_FOR


def delete_expired(*, now: datetime) -> dict[str, int]:
    """Delete the old ones; running it again deletes nothing more."""
    return {"deleted": IdempotentCall.objects.filter(created_at__lte=now - KEPT_FOR).delete()[0]}
