"""Jobs of ticks."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from learning_app.ledger.core import SNAPSHOT_KIND
from learning_app.ledger.models import DecisionSnapshot
from minara_site.kernel.db import slices
from minara_site.kernel.guard.services import delete_holds

FORGET = "ticks.delete_old"


def delete_snapshots(*, now: datetime) -> dict[str, int]:
    """Delete ticks beyond DECISION_SNAPSHOT_DAYS, the last one of each deployment apart. Trades stay."""
    days = settings.MINARA.decision_snapshot_days
    old = DecisionSnapshot.objects.filter(tick_at__lt=now - timedelta(days=days))
    ids = old.exclude(tick_at=F("deployment__state__tick_at")).values_list("pk", flat=True) if days else ()
    deleted = 0
    for some in slices(list(ids)):
        with transaction.atomic():
            delete_holds(kind=SNAPSHOT_KIND, object_ids=some)
            DecisionSnapshot.objects.filter(pk__in=some).delete()
        deleted += len(some)
    return {"deleted": deleted}
