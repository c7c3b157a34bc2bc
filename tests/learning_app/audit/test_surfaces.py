"""`/v1/audit` and `minara learning audit`, in the shapes of the contract."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from learning_app.audit.models import AuditReport
from minara_site.kernel.jobs.models import JobRun
from tests.kit.api import agent_of, assert_problem
from tests.kit.clock import NOON
from tests.learning_app.audit.rows import make_loop, make_report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


@pytest.fixture
def operator(olga):
    return agent_of(olga, "operator")


def command(capsys, *arguments):
    call_command("learning", "audit", *arguments)
    return capsys.readouterr().out


def test_the_api_reads_reports_trend_and_findings(operator):
    assert_problem(operator.get("/v1/audit/reports/latest"), 404)
    assert operator.get("/v1/audit/findings").json()["data"] == {"items": [], "next_cursor": None}
    old = make_report(days=40, composite=None, band="")
    new = make_report(findings=[{"severity": "low"}, {"code": "cron_behind", "severity": "high"}])
    latest = operator.get("/v1/audit/reports/latest").json()["data"]
    assert latest == operator.get(f"/v1/audit/reports/{new.pk}").json()["data"]
    fields = {"id", "created_at", "window_days", "composite", "band", "dimensions", "dimension_weights_used"}
    assert fields <= set(latest)
    assert set(latest["dimensions"]["coverage_health"]) >= {"score", "findings", "advisory_actions"}
    assert operator.get(f"/v1/audit/reports/{old.pk}").json()["data"]["band"] is None
    page = operator.get("/v1/audit/reports?limit=1").json()["data"]
    rest = operator.get(f"/v1/audit/reports?limit=1&cursor={page['next_cursor']}").json()["data"]
    assert [page["items"][0]["id"], rest["items"][0]["id"], rest["next_cursor"]] == [new.pk, old.pk, None]
    assert [each["id"] for each in operator.get("/v1/audit/trend?days=41").json()["data"]["items"]] == [old.pk, new.pk]
    assert [each["id"] for each in operator.get("/v1/audit/trend?days=39").json()["data"]["items"]] == [new.pk]
    found = operator.get("/v1/audit/findings").json()["data"]["items"]
    assert [each["code"] for each in found] == ["cron_behind", "cases_overdue"]
    assert {"code", "dimension", "severity", "text", "count", "rows"} <= set(found[0])
    narrowed = operator.get("/v1/audit/findings?severity=low").json()["data"]["items"]
    assert [each["severity"] for each in narrowed] == ["low"]
    for wrong in ("findings?severity=urgent", "trend?days=0", "reports?limit=201"):
        assert operator.get(f"/v1/audit/{wrong}").status_code in {400, 422}, wrong


def test_the_api_asks_for_a_pass_and_refuses_a_window_of_no_days(operator):
    run_id = operator.post("/v1/audit/run").json()["data"]["run_id"]
    assert JobRun.objects.get(pk=run_id).arguments["window_days"] == 30
    answer = operator.post("/v1/audit/run", {"window_days": 7, "table_hashes": True})
    assert answer.status_code == 202
    assert_problem(operator.post("/v1/audit/run", {"window_days": 0}), 422)
    assert JobRun.objects.count() == 2


def test_the_command_runs_shows_draws_and_lists(ana, capsys):
    assert "No pass" in command(capsys, "findings")
    make_loop(ana)
    make_report(days=2, composite=12.5, band="alarm")
    make_report(days=1, composite=None, band="")
    made = json.loads(command(capsys, "run", "--window-days", "7", "--hashes", "--json"))
    stored = AuditReport.objects.get(pk=made["id"])
    assert (made["window_days"], made["band"], len(made["table_hashes"])) == (7, stored.band, 4)
    shown = command(capsys, "show", "--latest")
    assert shown.startswith(f"Pass {made['id']}, 2026-06-12 12:00 UTC, window 7 days:")
    assert "Check the price source of these assets." in shown
    assert json.loads(command(capsys, "show", "--pass", str(made["id"]), "--json")) == made
    trend = command(capsys, "trend", "--days", "3").splitlines()
    assert trend[0][:2] == "▂·"
    assert len(trend) == 4
    assert len(json.loads(command(capsys, "trend", "--days", "1", "--json"))["items"]) == 2
    assert "cases_overdue" in [each["code"] for each in json.loads(command(capsys, "findings", "--json"))["items"]]
    high = json.loads(command(capsys, "findings", "--severity", "high", "--json"))["items"]
    assert {each["severity"] for each in high} <= {"high"}


def test_the_command_says_what_is_wrong(capsys):
    for arguments, said in (
        (("run", "--window-days", "0"), "window"),
        (("show", "--pass", "7"), "no such audit report"),
        (("trend", "--days", "0"), "--days: write a number from 1 to 366$"),
        (("trend", "--days", "-5"), "--days: write a number from 1 to 366$"),
        (("trend", "--days", "367"), "--days: write a number from 1 to 366$"),
        (("trend", "--days", "9" * 30), "--days: write a number from 1 to 366$"),
        (("findings", "--severity", "huge"), r"\(choose from 'high', 'medium', 'low'\)$"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("learning", "audit", *arguments)
    make_report(days=0, created_at=NOON + timedelta(days=1))
    assert "No pass in the last 5 days" in command(capsys, "trend", "--days", "5")
