"""`/institution/` and `/v1/institution/runs`: who reads what, asking for runs, cancelling, and what the pages show."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from learning_app.capabilities import INSTITUTION_RUNS
from learning_app.institution.models import InstitutionReflection, InstitutionRun
from learning_app.institution.services.run import run_institution
from minara_site.access.models import AccessEntry
from minara_site.access.policy import Scope
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.services import switch
from minara_site.kernel.jobs import runner
from minara_site.kernel.jobs.models import JobRun
from tests.kit.api import Agent, agent_of, assert_problem, key_of
from tests.kit.clock import NOON
from tests.kit.visitor import visitor
from tests.learning_app.institution.committee import ROLES, committee, post_course
from tests.learning_app.rows import make_methodology, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
URL = "/v1/institution/runs"


@pytest.fixture
def asking(models):
    models.answer = committee()
    return models


def test_an_agent_asks_for_runs_and_reads_what_came_of_them(ana, asking):
    post_course()
    post_course("ETH")
    agent = agent_of(ana)
    answer = agent.post(URL, {"tickers": ["BTC", "eth"]})
    assert answer.status_code == 202
    ids = answer.json()["data"]["run_ids"]
    assert [agent.get(f"{URL}/{uid}").json()["data"]["state"] for uid in ids] == ["queued", "queued"]
    for run in InstitutionRun.objects.all():
        runner.execute(run.job_run_id)
    record = agent.get(f"{URL}/{ids[0]}").json()["data"]
    assert set(record) >= {"id", "ticker", "state", "phases", "decision", "ladder", "cost_usd", "created_at"}
    assert (record["ticker"], record["state"], record["calls"], record["feeds"]) == ("BTC", "done", ROLES, False)
    assert [phase["name"] for phase in record["phases"]] == [
        *("analysts", "debate", "research", "trade", "risk", "decision")
    ]
    assert set(record["decision"]) == {"rating", "confidence", "horizon_days", "cases", "cited"}
    assert [rung["window"] for rung in record["ladder"]] == ["1d", "7d", "30d", "90d", "180d", "365d"]
    assert float(record["cost_usd"]) > 0
    listed = agent.get(f"{URL}?ticker=eth&state=done").json()["data"]["items"]
    assert [each["id"] for each in listed] == [ids[1]]
    assert JobRun.objects.filter(job="institution.run", state="succeeded").count() == 2


def test_what_cannot_be_asked_for_is_422_and_what_is_switched_off_403(ana):
    post_course()
    agent = agent_of(ana)
    for tickers in ([], ["BTC"] * 21, ["BTC", "ZZZ"], ["no ticker at all"], [""]):
        assert_problem(agent.post(URL, {"tickers": tickers}), 422)
    assert "ZZZ" in agent.post(URL, {"tickers": ["ZZZ"]}).json()["detail"]
    switch(capability=INSTITUTION_RUNS, mode=Mode.OFF, reason="a trial", actor="user:1", now=NOON)
    assert_problem(agent.post(URL, {"tickers": ["BTC"]}), 403, "institution_off")
    assert InstitutionRun.objects.count() == 0


def test_runs_feed_when_an_operator_asks_and_not_when_an_operators_plain_key_does(olga, ana):
    post_course()
    operator = Agent(key_of(olga, list(Scope)))
    for agent, feeds in ((operator, True), (agent_of(olga), False), (agent_of(ana), False)):
        uid = agent.post(URL, {"tickers": ["BTC"]}).json()["data"]["run_ids"][0]
        assert InstitutionRun.objects.get(uid=uid).feeds is feeds


def test_a_person_starts_a_run_cancels_it_and_starts_another(ana, page, asking):
    post_course()
    form = page.get("/institution/new/?ticker=BTC").content.decode()
    assert 'value="BTC"' in form
    assert "You can cancel it until it ends." in form
    assert "The ladder rests" in form
    assert "Your runs are scored by prices" not in form
    assert page.post("/institution/new/", {"tickers": "BTC, ZZZ"}).status_code == 422
    assert page.post("/institution/new/", {"tickers": " "}).status_code == 422
    answer = page.post("/institution/new/", {"tickers": "BTC", "feeds": "1"})
    run = InstitutionRun.objects.get()
    assert (run.feeds, run.owner, run.state) == (False, ana, "queued")
    assert (answer.status_code, answer["Location"]) == (303, f"/institution/{run.uid}/")
    shown = page.get(f"/institution/{run.uid}/").content.decode()
    assert "0 of 14 answers" in shown
    assert "Still to come." in shown
    form = re.search(rf'<form method="post" action="(/institution/{run.uid}/cancel/)">(.*?)</form>', shown, re.DOTALL)
    assert re.findall(r'name="(\w+)"', form[2]) == ["csrfmiddlewaretoken"]
    assert "you can start another run" in form[2]
    assert page.get(form[1]).status_code == 405
    assert page.post(form[1]).status_code == 303
    run.refresh_from_db()
    assert (run.state, JobRun.objects.get(pk=run.job_run_id).state) == ("cancelled", "cancelled")
    assert run_institution(run.pk, now=NOON) == {"result": "cancelled"}
    shown = page.get(f"/institution/{run.uid}/").content.decode()
    assert "Not reached." in shown
    assert f'href="/institution/new/?ticker={run.ticker}"' in shown
    assert "Cancel run" not in shown
    assert page.post("/institution/new/", {"tickers": run.ticker}).status_code == 303
    assert sorted(InstitutionRun.objects.values_list("state", flat=True)) == ["cancelled", "queued"]


def test_the_progress_is_polled_while_a_run_is_open_and_then_the_page_reloads(ana, page):
    run = make_run(ana, is_open=True)
    url = f"/institution/{run.uid}/progress/"
    answer = page.get(url, HTTP_HX_REQUEST="true")
    assert "every 2s" in answer.content.decode()
    assert "HX-Refresh" not in answer.headers
    InstitutionRun.objects.filter(pk=run.pk).update(state="failed", error="No model answers.")
    answer = page.get(url, HTTP_HX_REQUEST="true")
    assert answer["HX-Refresh"] == "true"
    assert page.get(url).status_code == 303
    assert "No model answers." in page.get(f"/institution/{run.uid}/").content.decode()


def test_a_decided_run_shows_debate_decision_ladder_cited_methods_and_what_was_missing(ana, olga, page, settings):
    post_course()
    method = make_methodology(name="Buy the dip", correct=24, used=30, quarantine=0)
    run = make_run(ana, at=NOON - timedelta(days=8), cited=[method.uid], feeds=False)
    run.inputs["missing"] = ["news_unset"]
    run.save()
    rung = run.reflections.get(window="7d")
    InstitutionReflection.objects.create(run=run, window="manual", due_at=NOON, scored_at=NOON)
    prices = {"entry_price": 92, "entry_price_at": rung.due_at - timedelta(days=7), "exit_price": 99}
    scored = {"outcome_state": "confirmed_good", "pnl_pct": 3.25, "exit_price_at": rung.due_at, "scored_at": NOON}
    InstitutionReflection.objects.filter(pk=rung.pk).update(**prices, **scored)
    shown = page.get(f"/institution/{run.uid}/").content.decode()
    for text in (
        "Debate of bull and bear",
        "The trend is up.",
        "Base case",
        "Did the base case play out?",
        "Confirmed good",
        "+3.25%",
        "Buy the dip",
        "counts nowhere: no operator asked for this run",
        "News: no source is set up",
        "The ladder rests",
        "No price",
        "92 at the entry, 99 at the outcome",
    ):
        assert text in shown, text
    assert "its outcome not known yet" in page.get(f"/institution/{run.uid}/?window=30d").content.decode()
    listed = page.get("/institution/").content.decode()
    assert "1 of 6" in listed
    InstitutionRun.objects.filter(pk=run.pk).update(as_of=run.decided_at)
    assert "counts nowhere: a replay" in page.get(f"/institution/{run.uid}/").content.decode()
    InstitutionRun.objects.filter(pk=run.pk).update(as_of=None, feeds=True)
    assert "counts once a window is scored" in page.get(f"/institution/{run.uid}/").content.decode()
    run.reflections.filter(scored_at=None).update(outcome_state="inconclusive", scored_at=NOON)
    assert "no score counted: inconclusive" in page.get(f"/institution/{run.uid}/").content.decode()
    settings.MINARA = settings.MINARA.model_copy(update={"institution_learning_enabled": True})
    assert "The ladder rests" not in page.get("/institution/").content.decode()


def test_support_reads_every_run_and_is_offered_no_act(ana, sam):
    run, page = make_run(ana, is_open=True), visitor(sam)
    assert run.uid in page.get("/institution/").content.decode()
    shown = page.get(f"/institution/{run.uid}/").content.decode()
    assert "The trend is up." in shown
    assert "Cancel run" not in shown
    assert "Start a run" not in page.get("/institution/").content.decode()
    assert AccessEntry.objects.filter(
        owner=ana,
        viewer=sam,
        kind="institution_run",
        object_id=run.uid,
    ).exists()
    assert timezone.now() == NOON
