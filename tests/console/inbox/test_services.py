"""Alerts follow their causes: opened once, kept up to date, closed when the cause is gone."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from minara_site.console.inbox import services
from minara_site.console.inbox.causes import Cause
from minara_site.console.inbox.services import KEPT_FOR, close_alert, refresh_alerts, reopen_alert
from minara_site.console.models import Alert, AlertKind
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, NotFound
from tests.kit.clock import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HOUR = timedelta(hours=1)
FELL = Cause("band", AlertKind.BAND, {"before": "healthy", "band": "watch", "report": 1})


def job(name: str, run: int = 1) -> Cause:
    return Cause(f"job:{name}", AlertKind.JOB, {"job": name, "run": run})


@pytest.fixture
def causes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Cause]:
    """The causes that exist, for a test to change."""
    found: dict[str, Cause] = {}
    monkeypatch.setattr(services, "find_causes", lambda *, now: dict(found))
    return found


def rows() -> list[tuple[Any, ...]]:
    return list(Alert.objects.order_by("pk").values_list("cause", "facts__run", "opened_at", "closed_at"))


def test_opens_keeps_up_to_date_closes_and_opens_anew(causes: dict[str, Cause]) -> None:
    causes["job:a"], causes["job:b"] = job("a"), job("b")
    assert refresh_alerts(now=NOON) == {"opened": 2, "closed": 0}
    causes["job:a"] = job("a", run=7)
    del causes["job:b"]
    assert refresh_alerts(now=NOON + HOUR) == {"opened": 0, "closed": 1}
    assert refresh_alerts(now=NOON + 2 * HOUR) == {"opened": 0, "closed": 0}
    assert rows() == [("job:a", 7, NOON, None), ("job:b", 1, NOON, NOON + HOUR)]
    causes["job:b"] = job("b", run=9)
    refresh_alerts(now=NOON + 3 * HOUR)
    assert rows()[2:] == [("job:b", 9, NOON + 3 * HOUR, None)]


def test_two_at_once_make_one_row(causes: dict[str, Cause], monkeypatch: pytest.MonkeyPatch) -> None:
    def found_by_another_first(*, now: Any) -> dict[str, Cause]:
        Alert.objects.create(cause="job:a", kind=AlertKind.JOB, facts=job("a").facts, opened_at=now)
        return {"job:a": job("a")}

    monkeypatch.setattr(services, "find_causes", found_by_another_first)
    refresh_alerts(now=NOON)
    assert [row[0] for row in rows()] == ["job:a"]
    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(cause="job:a", kind=AlertKind.JOB, opened_at=NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(cause="other", kind="unknown", opened_at=NOON)


def test_closed_ones_are_deleted_after_ninety_days(causes: dict[str, Cause]) -> None:
    for name, closed_at in (("job:a", NOON), ("job:b", NOON + HOUR), ("job:c", None)):
        Alert.objects.create(cause=name, kind=AlertKind.JOB, opened_at=NOON - HOUR, closed_at=closed_at)
    causes["job:c"] = job("c")
    refresh_alerts(now=NOON + KEPT_FOR)
    assert [row[0] for row in rows()] == ["job:b", "job:c"]


def test_an_operator_closes_and_reopens_a_fallen_band_alone(causes: dict[str, Cause]) -> None:
    causes |= {"band": FELL, "job:a": job("a")}
    refresh_alerts(now=NOON)
    band, other = Alert.objects.get(kind=AlertKind.BAND).pk, Alert.objects.get(kind=AlertKind.JOB).pk
    by = {"actor": "user:1", "now": NOON}
    for act, alert_id, refusal in (
        (close_alert, other, Conflict),
        (reopen_alert, other, Conflict),
        (reopen_alert, band, Conflict),
        (close_alert, band, None),
        (close_alert, band, Conflict),
        (reopen_alert, band, None),
        (close_alert, band + 99, NotFound),
    ):
        if refusal is None:
            act(alert_id=alert_id, **by)
        else:
            with pytest.raises(refusal):
                act(alert_id=alert_id, **by)
    assert set(AuditEntry.objects.values_list("tool_call", "actor")) == {
        ("alert_closed", "user:1"),
        ("alert_reopened", "user:1"),
    }
    close_alert(alert_id=band, **by)
    Alert.objects.create(cause="band", kind=AlertKind.BAND, facts=FELL.facts, opened_at=NOON)
    with pytest.raises(Conflict):
        reopen_alert(alert_id=band, **by)
