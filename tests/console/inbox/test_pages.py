"""`/inbox/`: each alert as a sentence with what to do and where; the bell, and the home page of operators."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from minara_site.console.models import Alert, AlertKind
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.table import find_job
from tests.kit.clock import NOON
from tests.kit.page import toasts_of, undo_of, words_of
from tests.learning_app.audit.rows import make_report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
INBOX, DAY = "/inbox/", timedelta(days=1)


def alert(cause: str, kind: AlertKind, *, days: float = 1, **facts: Any) -> Alert:
    return Alert.objects.create(cause=cause, kind=kind, facts=facts, opened_at=NOON - DAY * days)


def make_each() -> list[tuple[str, str]]:
    """Make an open alert of every sort; return sentence and address of each."""
    report, ago = make_report(band="alarm"), (NOON - DAY * 3).isoformat()
    run = JobRun.objects.create(job="market.fetch", state=RunState.FAILED, created_at=NOON)
    alert("band", AlertKind.BAND, before="watch", band="alarm", report=report.pk)
    alert("heartbeat", AlertKind.HEARTBEAT, ended_at=ago)
    alert("heartbeat.none", AlertKind.HEARTBEAT, ended_at=None)
    alert("budget:agent:day", AlertKind.BUDGET, category="agent", period="day", percent=93)
    alert("budget:all:month", AlertKind.BUDGET, category="all", period="month", percent=100)
    alert("hold:memory", AlertKind.HOLD, stored_kind="memory", count=2, oldest=ago)
    alert("hold:gone", AlertKind.HOLD, stored_kind="gone", count=1, oldest=ago)
    alert("proposals", AlertKind.PROPOSAL, count=1, oldest=ago)
    alert("job:market.fetch", AlertKind.JOB, job="market.fetch", run=run.pk)
    alert("backup", AlertKind.BACKUP, made_at=ago)
    alert("backup.none", AlertKind.BACKUP, made_at=None)
    alert("judged", AlertKind.JUDGED, count=7, names=["RSI below 30", "", "Breakout"])
    alert("writes:key:bad00000", AlertKind.WRITES, writer="key:bad00000", count=11, of=1200, seconds=119)
    alert("prices", AlertKind.PRICES, count=1234, symbol="BTC")
    alert("writes:job:x", AlertKind.WRITES, writer="job:x", count=7, of=20, seconds=120)
    return [
        ("The learning audit fell from Watch to Alarm.", f"/audit/{report.pk}/"),
        ("The learning cron has ended no pass for 3 d.", "/ops/jobs/?job=learning.cron"),
        ("The learning cron has ended no pass yet, and trading cases are due.", "/ops/jobs/?job=learning.cron"),
        ("93 % of today's cap of agent is spent or reserved.", "/ops/budgets/"),
        ("100 % of this month's cap of all categories is spent or reserved.", "/ops/budgets/"),
        ("Memory: 2 held texts wait for more than two days, the oldest for 3 d.", "/quarantine/?kind=held"),
        ("gone: 1 held text waits for more than two days, the oldest for 3 d.", "/quarantine/?kind=held"),
        ("1 proposed preference waits for more than two days, the oldest for 3 d.", "/quarantine/?kind=proposals"),
        ("The last three runs of market.fetch failed.", f"/ops/jobs/{run.pk}/"),
        ("The last backup is 3 d old.", "/ops/jobs/?job=backup.make"),
        ("There is no backup yet, and the last try failed.", "/ops/jobs/?job=backup.make"),
        (
            (
                "7 methodologies left prompts when the upgrade judged their cases anew: "
                "RSI below 30, one that is held, Breakout, 4 more."
            ),
            "/methodologies/",
        ),
        (
            "11 of 1,200 writes by API key bad00000 were held in a minute.",
            "/ops/writes/rows/?writer=key%3Abad00000&light=held",
        ),
        (
            "1,234 prices are more than 20 times away from the one before, the newest: BTC.",
            "/ops/prices/",
        ),
        ("7 of 20 writes by the job x were held in 2 min.", "/ops/writes/rows/?writer=job%3Ax&light=held"),
    ]


def test_each_alert_says_what_is_the_matter_and_leads_to_where_it_is_mended(operator_page: Client) -> None:
    expected = make_each()
    with CaptureQueriesContext(connection) as queries:
        response = operator_page.get(INBOX)
    assert len(queries) <= 10
    shown = words_of(response)
    for sentence, address in expected:
        assert sentence in shown
        assert operator_page.get(address).status_code == 200, address
    links = re.findall(r'<td class="cell-main"><a href="([^"]+)"', unescape(response.content.decode()))
    assert sorted(links) == sorted(address for _sentence, address in expected)


def test_lists_what_is_open_and_on_request_what_is_closed(operator_page: Client) -> None:
    closed, still = alert("job:a", AlertKind.JOB, job="a", run=1), alert("job:b", AlertKind.JOB, job="b", run=2)
    Alert.objects.filter(pk=closed.pk).update(closed_at=NOON - DAY / 2)
    rows = {
        query: re.findall(r'id="alert-(\d+)"', operator_page.get(INBOX + query).content.decode())
        for query in ("", "?state=closed")
    }
    assert rows == {"": [str(still.pk)], "?state=closed": [str(closed.pk)]}
    Alert.objects.all().delete()
    assert "No open alerts" in words_of(operator_page.get(INBOX))


def test_a_fallen_band_is_closed_and_opened_again_from_its_toast(operator_page: Client) -> None:
    report = make_report(band="alarm")
    band = alert("band", AlertKind.BAND, before="watch", band="alarm", report=report.pk)
    assert f'action="/inbox/{band.pk}/close/"' in operator_page.get(INBOX).content.decode()
    done = operator_page.post(f"/inbox/{band.pk}/close/", follow=True)
    assert toasts_of(done) == ["Closed the alert."]
    assert Alert.objects.open().count() == 0
    operator_page.post(undo_of(done))
    assert Alert.objects.open().get() == band


def test_bell_and_home_of_operators_show_what_is_open(operator_page: Client, page: Client) -> None:
    assert 'aria-label="Alerts, none open"' in operator_page.get("/").content.decode()
    for number in range(7):
        alert(f"job:{number}", AlertKind.JOB, days=number, job=f"job.{number}", run=number)
    home = operator_page.get("/").content.decode()
    assert 'aria-label="Alerts, 7 open"><svg' in home
    section = home.split('id="h-alerts"')[1].split("</section>")[0]
    assert re.findall(r"runs of (job\.\d)", section) == [f"job.{number}" for number in range(5)]
    assert "All 7" in section
    assert "/inbox/" not in page.get("/").content.decode()


def test_the_job_comes_every_five_minutes() -> None:
    job = find_job("inbox.refresh")
    assert job
    assert job.every == timedelta(minutes=5)
    assert job.function(now=NOON) == {"opened": 0, "closed": 0}
