"""The limit of acts that call models, of one key or person in an hour."""

from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Throttled
from minara_site.kernel.limits.services import count

HOUR = 3600


def count_model_action(actor: str, *, now: datetime) -> None:
    """Count an act that calls models against MINARA_LIMIT_MODEL_ACTIONS_PER_HOUR. Raises Throttled.

    Call it outside a transaction.
    """
    limit = settings.MINARA.minara_limit_model_actions_per_hour
    allowance = count(f"model:{actor}", limit=limit, seconds=HOUR, now=now)
    if not allowance.is_allowed:
        wait = allowance.retry_after_seconds
        detail = _("That was more than %(limit)d acts that call models in an hour. Wait %(seconds)d seconds.")
        raise Throttled(detail % {"limit": limit, "seconds": wait}, retry_after_seconds=wait)
