"""The limit of acts that call models, of one key or person in an hour."""

from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Throttled
from minara_site.kernel.limits.services import count

HOUR = 3600


def count_model_action(actor: str, *, acts: int = 1, now: datetime) -> None:
    """Count acts that call models, all or none, against MINARA_LIMIT_MODEL_ACTIONS_PER_HOUR. Raises Throttled.

    Call it outside a transaction.
    """
    limit = settings.MINARA.minara_limit_model_actions_per_hour
    if 0 < limit < acts:  # waiting does not help
        detail = _("No more than %(limit)d acts that call models fit in an hour. Ask for fewer at once.")
        raise Throttled(detail % {"limit": limit}, retry_after_seconds=HOUR)
    allowance = count(
        f"model:{actor}",
        tries=acts,
        limit=limit,
        seconds=HOUR,
        now=now,
    )
    if not allowance.is_allowed:
        wait = allowance.retry_after_seconds
        detail = _("That was more than %(limit)d acts that call models in an hour. Wait %(seconds)d seconds.")
        raise Throttled(detail % {"limit": limit, "seconds": wait}, retry_after_seconds=wait)
