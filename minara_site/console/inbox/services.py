"""Opening and closing alerts: the job that follows the causes, and the operator who closes one."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.console.inbox.causes import find_causes
from minara_site.console.models import CLOSED_BY_HAND, Alert, AlertKind
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, or_not_found

KEPT_FOR = timedelta(days=90)
REMEMBERED = (AlertKind.BAND, AlertKind.JUDGED)


def refresh_alerts(*, now: datetime) -> dict[str, int]:
    """Open an alert for each new cause, bring the facts of the others up to date, and close those whose cause is gone.

    Closed ones are deleted after 90 days, but those of which the last says that its cause opens none again. Of two at
    once the constraint lets one open each; a second time changes nothing.
    """
    causes = find_causes(now=now)
    with transaction.atomic():
        alerts = {alert.cause: alert for alert in Alert.objects.open().order_by("pk").select_for_update()}
        gone = [alert.pk for name, alert in alerts.items() if name not in causes]
        Alert.objects.open().filter(pk__in=gone).update(closed_at=now)
        for name, cause in causes.items():
            if name in alerts and alerts[name].facts != cause.facts:
                Alert.objects.filter(pk=alerts[name].pk).update(facts=cause.facts)
        new = [
            Alert(
                cause=cause.name,
                kind=cause.kind,
                facts=cause.facts,
                opened_at=now,
            )
            for cause in causes.values()
            if cause.name not in alerts
        ]
        Alert.objects.bulk_create(new, ignore_conflicts=True)
        Alert.objects.filter(closed_at__lte=now - KEPT_FOR).exclude(kind__in=REMEMBERED).delete()
    return {"opened": len(new), "closed": len(gone)}


def close_alert(*, alert_id: int, actor: str, now: datetime) -> None:
    """Close an alert that is closed by hand. Raises NotFound, and Conflict for any other."""
    with transaction.atomic():
        alert = lock_alert(alert_id)
        if alert.kind not in CLOSED_BY_HAND or alert.closed_at is not None:
            raise Conflict(_("This alert closes by itself when its cause is gone, or it is closed already."))
        alert.closed_at = now
        alert.save(update_fields=["closed_at"])
        record_audit(
            now=now,
            actor=actor,
            tool_call="alert_closed",
            details={"id": alert.pk},
        )


def reopen_alert(*, alert_id: int, actor: str, now: datetime) -> None:
    """Open an alert that was closed by hand again. Raises NotFound, and Conflict where another one is open."""
    with transaction.atomic():
        alert = lock_alert(alert_id)
        is_newest = not Alert.objects.filter(cause=alert.cause, pk__gt=alert.pk).exists()
        if alert.kind not in CLOSED_BY_HAND or alert.closed_at is None or not is_newest:
            raise Conflict(_("It is open already, or a newer alert of this cause is there."))
        alert.closed_at = None
        alert.save(update_fields=["closed_at"])
        record_audit(
            now=now,
            actor=actor,
            tool_call="alert_reopened",
            details={"id": alert.pk},
        )


def lock_alert(alert_id: int) -> Alert:
    """Lock and return one alert. Raises NotFound."""
    return or_not_found(Alert.objects.filter(pk=alert_id).select_for_update().first(), _("There is no such alert."))
