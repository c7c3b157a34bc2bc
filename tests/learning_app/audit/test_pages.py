"""The pages of the audit: from the number to the rows in three clicks, acknowledging, other versions, and the counts."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse

from learning_app.audit.models import Acknowledgement, AuditReport
from learning_app.audit.pages.findings import shape_findings
from learning_app.audit.selectors import findings_of, usual_reports
from learning_app.audit.services.acknowledge import acknowledge, undo_acknowledgement
from learning_app.audit.services.run import run_pass
from learning_app.methodologies.models import LifecycleEvent, Methodology
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.jobs.models import JobRun
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.page import text_of, undo_of, words_of
from tests.kit.tables import table
from tests.learning_app.audit.rows import make_event, make_heartbeat, make_loop, make_report
from tests.learning_app.rows import make_methodology

GONE = [f"methodology:gone{number}" for number in range(17)]
SECRET = "sk-ant-api03-" + "Zq7" * 12
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


def links_of(html, pattern):
    return re.findall(rf'href="({pattern})"', html)


def what_is_learned():
    rows = (list(LifecycleEvent.objects.values()), list(Methodology.objects.values()))
    return *rows, AuditReport.objects.get().dimensions


def states(olga):
    return {row.code: (row.is_open, row.is_present) for row in shape_findings(usual_reports()[:50], reader=olga)}


def test_three_clicks_lead_from_the_number_to_the_timeline_of_a_row(ana, operator_page):
    row = make_loop(ana)
    report = run_pass(now=NOON, requested_by="test")
    overview = text_of(operator_page.get("/audit/"))
    assert "1 of 1 later verdicts changed side within 7 days" in overview
    [finding] = set(links_of(overview, f"/audit/{report.pk}/verdicts_oscillate/"))
    rows = text_of(operator_page.get(finding))
    [timeline] = links_of(rows, f"/methodologies/{row.uid}/#h-events")
    assert "Lifecycle" in text_of(operator_page.get(timeline))
    case = links_of(text_of(operator_page.get(f"/audit/{report.pk}/cases_overdue/")), r"/trading-cases/\d+/")
    assert operator_page.get(case[0]).status_code == 200
    assert operator_page.get(f"/audit/{report.pk}/no_such_code/").status_code == 404
    dimension = links_of(overview, rf"/audit/{report.pk}/#synthesis_quality")
    assert 'id="synthesis_quality"' in text_of(operator_page.get(dimension[0].partition("#")[0]))


def test_what_is_gone_since_is_named_without_a_link(operator_page):
    report = make_report(findings=[{"rows": ["methodology:gone", "trading_case:7", "cron_run:9", *GONE], "count": 30}])
    said = words_of(text_of(operator_page.get(f"/audit/{report.pk}/cases_overdue/")))
    assert said.count("no longer there") == 20
    assert "keeps no more" in said


def test_the_trend_names_gaps_imports_and_new_rules(operator_page):
    for days in (20, 19, 12, 11, 0):
        make_report(days=days, rules_version="2" if days < 12 else "1")
    make_report(days=5, composite=None, band="")
    make_event(None, "imported", hours=24 * 11)
    make_event(None, "imported", hours=24 * 11)
    page = text_of(operator_page.get("/audit/"))
    for said in (
        *("no pass, 6 days", "no pass, 5 days", "no pass, 4 days", "7 Jun: not enough data"),
        *("2 methodologies imported, Guard rules 2", "25 May to 30 May: no pass", "2 Jun to 6 Jun: no pass"),
    ):
        assert said in page, said
    assert 'class="c-note"' in page
    short = text_of(operator_page.get("/audit/?days=30"))
    assert "Composite score over 30 days" in short
    assert "Composite score over 90 days" in text_of(operator_page.get("/audit/?days=nonsense"))


def test_before_the_first_pass_and_without_any_score_the_page_says_what_is_missing(operator_page):
    assert "No pass yet" in text_of(operator_page.get("/audit/"))
    assert "No findings" in text_of(operator_page.get("/audit/findings/"))
    run_pass(now=NOON, requested_by="test")
    page = words_of(text_of(operator_page.get("/audit/")))
    assert page.count("Not enough data") == 7
    assert "Left out; its 22% went to the others" in page


def test_a_report_compares_with_the_one_before_or_the_one_that_is_named(operator_page):
    first = make_report(days=9, composite=60.04, findings=[{"code": "cases_overdue"}])
    make_report(days=1, composite=70)
    newest = make_report(composite=80, findings=[{"code": "cron_behind", "text": "x"}])
    beside = words_of(text_of(operator_page.get(f"/audit/{newest.pk}/")))
    assert "70.0 10.0" in beside
    named = words_of(text_of(operator_page.get(f"/audit/{newest.pk}/?with={first.pk}")))
    assert "60.0 20.0" in named
    assert "New since The learning cron leaves overdue cases open: 3" in named
    assert "Gone since Pending cases past their window and older than 14 days: 3" in named
    for wrong in ("999", "abc"):
        assert operator_page.get(f"/audit/{newest.pk}/?with={wrong}").status_code == 404


def test_a_report_of_another_version_is_shown_as_it_was_written(operator_page, olga):
    dimension = {"score": 91.25, "findings": [{"code": "old_code", "dimension": "drift", "severity": "low"}]}
    found = {"text": "drift of the model", "count": 2, "rows": ["thing:1"]}
    dimension["findings"][0] |= found
    report = make_report(
        dimensions={"drift": dimension},
        scores={"drift": 91.25},
        dimension_weights_used={"drift": 1},
    )
    of_report = (f"/audit/{report.pk}/", f"/audit/{report.pk}/old_code/")
    for path in ("/audit/", *of_report, "/audit/findings/", "/audit/passes/"):
        assert operator_page.get(path).status_code == 200, path
    assert "91.2" in text_of(operator_page.get(f"/audit/{report.pk}/"))
    assert "drift of the model" in text_of(operator_page.get("/audit/findings/"))
    with pytest.raises(NotFound):
        acknowledge(codes=["old_code"], note="", actor="user:1", now=NOON)


@table(
    "found",
    [
        {},
        {"code": "cases_overdue", "facts": None, "rows": None, "count": None, "severity": "urgent"},
        {"code": "cases_overdue", "facts": {"days": "x"}, "first_seen_at": "2026-06-01T12:00:00", "rows": ["what"]},
        {"code": "groups_thin", "facts": {"groups": "moon", "goal": 3}, "rows": ["trading_case:abc", "cron_run:-1"]},
    ],
)
def test_a_report_of_odd_shape_breaks_no_page_and_no_list(olga, operator_page, found):
    dimensions = {"coverage_health": {"findings": [found]}, "drift": {"score": None, "facts": None}}
    report = make_report(dimensions=dimensions, scores={}, dimension_weights_used={})
    code = found.get("code", "")
    for path in ("/audit/", f"/audit/{report.pk}/", f"/audit/{report.pk}/export.json", "/audit/findings/"):
        assert operator_page.get(path).status_code == 200, path
    assert not code or operator_page.get(f"/audit/{report.pk}/{code}/").status_code == 200
    agent = agent_of(olga, "operator")
    for path in ("reports", "reports/latest", "findings", "trend"):
        assert agent.get(f"/v1/audit/{path}").status_code == 200, path


def test_a_pass_of_another_window_moves_neither_number_nor_first_days_nor_acknowledgements(ana, olga, operator_page):
    make_loop(ana)
    run_pass(now=NOON - timedelta(days=2), requested_by="test")
    acknowledge(codes=["cases_overdue"], note="", actor="user:1", now=NOON - timedelta(days=1))
    run_pass(now=NOON - timedelta(hours=2), requested_by="test", window_days=1)
    report = run_pass(now=NOON - timedelta(hours=1), requested_by="test")
    run_pass(now=NOON, requested_by="test", window_days=1)
    assert states(olga)["cases_overdue"] == (False, True)
    assert f'href="/audit/{report.pk}/"' in text_of(operator_page.get("/audit/"))
    since = {each["code"]: each["first_seen_at"] for each in findings_of(report)}
    assert since["cases_overdue"] == (NOON - timedelta(days=2)).isoformat()


def test_rows_say_no_secret_of_a_methodology_and_none_that_is_held(operator_page):
    row = make_methodology(name=f"Key {SECRET}", asset_class="stock")
    make_methodology(name="Zebra", asset_class="stock", held_at=NOON)
    make_methodology(correct=18, used=20, quarantine=0)
    report = run_pass(now=NOON, requested_by="test")
    page = text_of(operator_page.get(f"/audit/{report.pk}/groups_uncovered/"))
    assert f"/methodologies/{row.uid}/" in page
    assert SECRET not in page
    assert "Zebra" not in page


def test_an_acknowledged_finding_opens_again_when_it_gets_worse_or_comes_back(olga):
    code = "cases_overdue"
    make_report(days=9, findings=[{"code": code, "first_seen_at": (NOON - timedelta(days=9)).isoformat()}])
    assert states(olga) == {code: (True, True)}
    acknowledge(codes=[code], note="Known", actor="user:1", now=NOON - timedelta(days=8))
    assert states(olga) == {code: (False, True)}
    same = {"code": code, "first_seen_at": (NOON - timedelta(days=9)).isoformat()}
    make_report(days=7, findings=[{**same, "severity": "low", "count": 99}])
    assert states(olga) == {code: (False, True)}
    make_report(days=6, findings=[{**same, "severity": "high"}])
    assert states(olga) == {code: (True, True)}
    make_report(days=5)
    assert states(olga) == {code: (False, False)}
    make_report(days=4, findings=[{"code": code, "first_seen_at": (NOON - timedelta(days=4)).isoformat()}])
    assert states(olga) == {code: (True, True)}


def test_findings_are_acknowledged_together_with_a_note_undone_together_and_learning_stays(ana, olga, operator_page):
    row = make_loop(ana)
    run_pass(now=NOON, requested_by="test")
    before = what_is_learned()
    codes = ["cases_overdue", "verdicts_oscillate"]
    asked = operator_page.post("/audit/findings/acknowledge/", {"codes": codes})
    assert asked.status_code == 422
    assert "Acknowledge 2 findings" in text_of(asked, 422)
    sent = {"codes": codes, "note": "Seen <b>both</b>"}
    given = operator_page.post("/audit/findings/acknowledge/", sent, follow=True)
    assert "Seen &lt;b&gt;both&lt;/b&gt;" in text_of(given)
    assert "acknowledged by you" in text_of(given)
    assert set(Acknowledgement.objects.values_list("code", flat=True)) == set(codes)
    undone = operator_page.post(undo_of(given), follow=True)
    assert "2 findings are open again" in text_of(undone)
    with pytest.raises(Conflict):
        undo_acknowledgement(acknowledgement_id=Acknowledgement.objects.first().pk, actor="user:1", now=NOON)
    assert operator_page.post("/audit/findings/acknowledge/", {}).status_code == 422
    row.refresh_from_db()
    assert before == what_is_learned()


def test_restores_what_was_opened_in_one_act_and_says_what_was_acknowledged_since(ana, operator_page):
    make_loop(ana)
    run_pass(now=NOON, requested_by="test")
    [others] = acknowledge(codes=["verdicts_oscillate"], note="", actor="user:1", now=NOON)
    sent = {"codes": ["cases_overdue"], "note": ""}
    given = operator_page.post("/audit/findings/acknowledge/", sent, follow=True)
    opened = operator_page.post(undo_of(given), follow=True)
    undo_acknowledgement(acknowledgement_id=others.pk, actor="user:1", now=NOON)  # at the same moment
    operator_page.post("/audit/findings/acknowledge/", sent)
    refused = operator_page.post(undo_of(opened), follow=True)
    assert "It was acknowledged again since. Nothing was changed." in text_of(refused, 409)
    again = Acknowledgement.objects.get(ended_at=None)
    operator_page.post(reverse("audit:reopen", args=[again.pk]))
    operator_page.post(undo_of(opened))
    assert list(Acknowledgement.objects.filter(ended_at=None).values_list("code", flat=True)) == ["cases_overdue"]


@table("query,codes", [("?state=open&severity=high", {"cron_behind"}), ("?state=gone", {"states_churn"}), ("", None)])
def test_findings_are_narrowed_by_state_and_severity(operator_page, query, codes):
    make_report(days=3, findings=[{"code": "states_churn", "facts": {"of": 4, "times": 3}}])
    make_report(findings=[{"code": "cases_overdue"}, {"code": "cron_behind", "severity": "high"}])
    page = text_of(operator_page.get(f"/audit/findings/{query}"))
    found = set(re.findall(r"/audit/\d+/(\w+)/", page))
    assert found == (codes or {"cases_overdue", "cron_behind", "states_churn"})


def test_a_run_is_asked_for_with_its_window_and_a_wrong_one_is_said_beside_the_field(operator_page):
    answer = operator_page.post("/audit/run/", {"window_days": "7", "table_hashes": "on"})
    made = JobRun.objects.get()
    assert answer["Location"] == reverse("jobs:run", args=[made.pk])
    assert made.arguments | {"window_days": 7, "with_hashes": True} == made.arguments
    for wrong in ("0", "366", "x", ""):
        assert operator_page.post("/audit/run/", {"window_days": wrong}).status_code == 422
    assert JobRun.objects.count() == 1


def test_the_home_of_operators_shows_the_number_with_its_band(operator_page):
    assert "no pass has run yet" in text_of(operator_page.get("/"))
    make_report(composite=79.96)
    make_heartbeat()
    assert "Watch 79.9" in words_of(text_of(operator_page.get("/")))
