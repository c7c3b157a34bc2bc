"""What starts a reflection: the clock once a slot, a new decision, a recorded price; bursts start one. Source: S0."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.core import Classification, SkipReason, Status, Trigger
from memory_app.roles.due import due_of
from memory_app.roles.models import RoleMemory, RoleState
from memory_app.roles.registry import registry
from memory_app.roles.services import reflect as services_of_reflecting
from memory_app.roles.services.outcome import mark_outcome
from memory_app.roles.services.requests import estimate_reflection, request_reflection
from memory_app.roles.services.triggers import REFLECT, START, on_decisions, on_prices, request_sweep, start_due_roles
from memory_app.roles.tasks import reflect, start_due
from minara_site.access.policy import Scope
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import NotFound, Throttled
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.services import switch
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import Cancelled, cancel_run, claim_run, settle_run
from minara_site.kernel.jobs.table import find_job
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.market.services import record_points
from tests.kit.api import agent_of, assert_problem
from tests.kit.clock import NOON
from tests.kit.messages_api import MessagesApi, error
from tests.kit.tables import table
from tests.memory_app.roles.reflecting import (
    CALL,
    EVERY,
    LESSON,
    REVIEW,
    SWING,
    answer_as,
    installed,
    make_call,
    make_role,
    open_market,
)
from tests.memory_app.roles.rows import make_usage

pytestmark = pytest.mark.django_db
MOMENT = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def roles():
    with installed():
        yield


@pytest.fixture(autouse=True)
def noon(monkeypatch):
    """Receivers and doors read the clock: it says noon."""
    monkeypatch.setattr(timezone, "now", lambda: NOON)


def runs():
    return [(run.arguments["role_id"], run.arguments["trigger"]) for run in JobRun.objects.filter(job=REFLECT)]


@pytest.mark.database
def test_cron_starts_a_role_once_a_slot_and_makes_up_for_what_was_missed_once(ana):
    make_call(ana)
    assert start_due_roles(now=NOON) == 1
    assert start_due_roles(now=NOON + HOUR - MOMENT) == 0
    assert RoleState.objects.get(pk=CALL).cron_slot_at == NOON
    assert start_due_roles(now=NOON + HOUR) == 1
    assert start_due_roles(now=NOON + 9 * HOUR) == 1, "eight slots passed"
    assert start_due_roles(now=NOON) == 0, "a clock that was put back starts nothing again"
    assert runs() == [(CALL, "cron")] * 3


def test_cron_starts_nothing_where_nothing_is_due(ana):
    make_call(ana, hours=23)
    make_call(ana, role_id="desk.gone")
    make_call(ana, held_at=NOON)
    assert start_due_roles(now=NOON) == 0
    assert RoleState.objects.get(pk=CALL).cron_slot_at == NOON


def test_a_switch_that_is_off_keeps_the_slots_for_later(ana):
    make_call(ana)
    switch(capability=ROLE_REFLECTION, mode=Mode.OFF, reason="a test", actor="test", now=NOON)
    assert start_due(now=NOON)["started"] == 0
    switch(capability=ROLE_REFLECTION, mode=Mode.ON, reason="a test", actor="test", now=NOON)
    assert start_due(now=NOON)["started"] == 1


def test_what_is_too_old_is_skipped_also_where_no_clock_starts_the_role(ana):
    old = make_call(ana, role_id=REVIEW, hours=169)
    start_due_roles(now=NOON)
    found = RoleMemory.objects.get(pk=old.pk)
    assert (found.status, found.skip_reason) == (Status.SKIPPED, SkipReason.TOO_OLD)


@pytest.mark.database
def test_a_burst_of_decisions_starts_one_run(ana):
    make_call(ana)
    new = [make_call(ana, hours=0) for _each in range(5)]
    for entry in new:
        on_decisions(entry_ids=(entry.pk,), owner_id=ana.pk)
    assert JobRun.objects.filter(job=START, not_before__isnull=False).count() == 1
    assert RoleState.objects.get(pk=CALL).wanted_by == Trigger.ON_NEW_WRITE
    with installed(make_role(CALL, triggers=(Trigger.ON_NEW_WRITE,), cron_expr="")):
        assert start_due_roles(now=NOON) == 1
        assert start_due_roles(now=NOON) == 0
    assert runs() == [(CALL, "on_new_write")]


def test_a_new_decision_starts_nothing_where_it_is_not_declared_or_nothing_is_due(ana):
    due, young = make_call(ana, role_id=SWING), make_call(ana, hours=1)
    reflected = make_call(
        ana,
        status=Status.REFLECTED,
        outcome=Outcome.RIGHT,
        outcome_at=NOON,
        reflected_at=NOON,
        hours=50,
    )
    with installed(make_role(SWING, triggers=(Trigger.CRON,)), make_role(CALL)):
        on_decisions(entry_ids=(due.pk,), owner_id=ana.pk)
        on_decisions(entry_ids=(young.pk,), owner_id=ana.pk)
        make_call(ana)
        on_decisions(entry_ids=(reflected.pk,), owner_id=ana.pk)
    assert not RoleState.objects.exists()
    assert not JobRun.objects.exists()


def test_a_marked_outcome_starts_its_role(ana):
    marked = make_call(ana, role_id=REVIEW, outcome=Outcome.WRONG, outcome_at=NOON)
    on_decisions(entry_ids=(marked.pk,), owner_id=ana.pk)
    assert RoleState.objects.get().role_id == REVIEW


@pytest.mark.database
def test_marking_asks_no_model_again_about_what_waits_after_a_bad_answer(ana, ben):
    """Else whoever marks could have the answers of others paid for as often as they like."""
    make_call(
        ben,
        role_id=REVIEW,
        outcome=Outcome.WRONG,
        outcome_at=NOON,
        attempts=1,
        next_try_at=NOON + HOUR,
    )
    marked = make_call(ana, role_id=REVIEW)
    mark_outcome(owner=ana, entry_id=marked.pk, correct=False, pnl_pct=None, note="", actor="key:a", now=NOON)
    (wanted,) = RoleState.objects.values_list("wanted_by", flat=True)
    due = due_of(registry().find(REVIEW), trigger=Trigger(wanted), now=NOON)
    assert list(due.values_list("pk", flat=True)) == [marked.pk]


@pytest.mark.database
@table(("first", "then", "wanted"), [
    ("on_new_write", "on_price_fetch", "on_price_fetch"),
    ("cron", "manual", "manual"),
    ("on_price_fetch", "on_new_write", "on_price_fetch"),
    ("manual", "on_price_fetch", "manual"),
])  # fmt: skip
def test_of_two_triggers_the_one_that_looks_at_more_counts(db, first, then, wanted):
    request_sweep(CALL, Trigger(first))
    request_sweep(CALL, Trigger(then))
    assert RoleState.objects.get().wanted_by == wanted


@pytest.mark.database
def test_a_price_of_an_owner_starts_nothing_for_others(ana, ben):
    make_call(ben, asset="BTC")
    on_prices(symbols=("BTC",), owner_id=ana.pk)
    assert not RoleState.objects.exists()
    on_prices(symbols=("BTC",), owner_id=ben.pk)
    assert RoleState.objects.get().wanted_by == "on_price_fetch"


@table("is_owners", [True, False])
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL decides by what its tables hold")
def test_a_price_that_nobody_waits_for_is_told_by_an_index(ana, is_owners):
    """Else each posted price would go over everything that waits."""
    with CaptureQueriesContext(connection) as queries:
        on_prices(symbols=("BTC",), owner_id=ana.pk if is_owners else None)
    assert len(queries) == 2, "one for each role that a price starts"
    for asked in queries.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {asked['sql']}")
            plan = " ".join(row[-1] for row in cursor.fetchall())
        assert "USING INDEX role_memory_pending_asset (role_id=? AND asset=?" in plan


@pytest.mark.database
def test_a_price_starts_only_roles_that_declare_it_and_wait_for_that_asset(ana):
    make_call(ana, asset="BTC")
    make_call(ana, asset="ETH", role_id=SWING)
    make_call(ana, asset="SOL", hours=2)
    on_prices(symbols=("SOL", "DOGE"), owner_id=None)
    assert not RoleState.objects.exists()
    on_prices(symbols=("BTC",), owner_id=None)
    assert list(RoleState.objects.values_list("role_id", "wanted_by")) == [(CALL, "on_price_fetch")]
    with installed(make_role(CALL), make_role(SWING, triggers=(Trigger.CRON,))):
        on_prices(symbols=("ETH",), owner_id=None)
    assert RoleState.objects.count() == 1


@pytest.mark.database
def test_recording_a_price_reflects_what_waited_for_it(ana, models: MessagesApi, django_capture_on_commit_callbacks):
    entry = make_call(ana, asset="XRP", last_error=SkipReason.NO_PRICE, next_try_at=NOON + HOUR)
    models.answer = answer_as(Classification.LOGIC_ERROR)
    points = [Point("XRP", NOON - hours * HOUR, Decimal(price)) for hours, price in ((48, 3), (24, 2), (23, 2))]
    with django_capture_on_commit_callbacks(execute=True):
        record_points(points=points, owner_id=None, source="test", actor="test", now=NOON)
    start_due_roles(now=NOON)
    assert (CALL, "on_price_fetch") in runs()
    assert reflect(role_id=CALL, trigger="on_price_fetch", now=NOON) == {"result": "done", "lesson": 1}
    assert RoleMemory.objects.get(pk=entry.pk).lesson == LESSON


def test_a_run_that_was_asked_to_stop_stops_between_two_entries(ana, models: MessagesApi):
    open_market()
    make_call(ana)
    run = request_reflection(role_id=CALL, owner_id=None, actor="test", now=NOON)
    claim = claim_run(run.pk, worker="w", now=NOON)
    cancel_run(run.pk, now=NOON)
    with pytest.raises(Cancelled):
        reflect(role_id=CALL, trigger="manual", now=NOON, claim=claim)
    assert models.calls == 0
    assert RoleState.objects.get(pk=CALL).last_error


def test_runs_report_how_far_they_are(ana, models: MessagesApi):
    open_market()
    for _each in range(3):
        make_call(ana, asset="ETH")
    run = request_reflection(role_id=CALL, owner_id=None, actor="test", now=NOON)
    reflect(role_id=CALL, trigger="manual", now=NOON, claim=claim_run(run.pk, worker="w", now=NOON))
    run.refresh_from_db()
    assert (run.done, run.total) == (3, 3)


@pytest.mark.database
def test_a_run_that_had_its_turn_hands_on_what_it_left_and_only_that(ana, models: MessagesApi, monkeypatch):
    monkeypatch.setattr(services_of_reflecting, "TIME_BUDGET_SECONDS", 0)
    open_market()
    make_call(ana, asset="DOGE", hours=60)  # no price of it ever came
    for _each in range(3):
        make_call(ana, asset="ETH")
    request_reflection(role_id=CALL, owner_id=ana.pk, actor="test", now=NOON)
    for number, end in enumerate(("unknown", "right", "right", "right")):
        run = JobRun.objects.get(job=REFLECT, state=RunState.QUEUED)
        claim = claim_run(run.pk, worker="w", now=NOON)
        assert claim
        assert run.arguments.get("is_rest", False) is (number > 0)
        ended = reflect(**run.arguments, now=NOON, claim=claim)
        assert ended == {"result": "done" if number == 3 else "handed_on", end: 1}
        settle_run(claim, result=ended, now=NOON)
    assert not JobRun.objects.filter(job=REFLECT, state=RunState.QUEUED).exists()
    assert RoleState.objects.get(pk=CALL).dropped == 0


def test_a_run_that_stopped_without_a_model_asks_for_no_other(ana, models: MessagesApi, monkeypatch):
    monkeypatch.setattr(services_of_reflecting, "TIME_BUDGET_SECONDS", 0)
    models.answer = error(500)
    open_market()
    for _each in range(2):
        make_call(ana, asset="BTC")
    run = request_reflection(role_id=CALL, owner_id=None, actor="test", now=NOON)
    assert reflect(**run.arguments, now=NOON, claim=claim_run(run.pk, worker="w", now=NOON))["result"] == "stopped"
    assert JobRun.objects.filter(job=REFLECT).count() == 1


def test_asking_by_hand_leaves_an_audit_row_and_counts_against_the_limit(ana, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"minara_limit_model_actions_per_hour": 2})
    run = request_reflection(role_id=CALL, owner_id=ana.pk, actor="key:a", now=NOON)
    assert run.arguments == {"role_id": CALL, "trigger": "manual", "owner_id": ana.pk}
    row = AuditEntry.objects.get(tool_call="reflection_requested")
    assert (row.actor, row.owner_id, row.details) == ("key:a", ana.pk, {"role": CALL, "run": run.pk})
    request_reflection(role_id=CALL, owner_id=ana.pk, actor="key:a", now=NOON)
    with pytest.raises(Throttled):
        request_reflection(role_id=CALL, owner_id=ana.pk, actor="key:a", now=NOON)
    request_reflection(role_id=CALL, owner_id=None, actor="key:b", now=NOON)
    with pytest.raises(NotFound):
        request_reflection(role_id="desk.gone", owner_id=None, actor="key:b", now=NOON)
    assert JobRun.objects.count() == 3


def test_the_api_answers_with_the_run_and_takes_ones_own_only(ana, ben, olga):
    agent, operator = agent_of(ana), agent_of(olga, Scope.LEARNING_WRITE, Scope.OPERATOR)
    answer = agent.post(f"/v1/roles/{CALL}/reflect")
    assert answer.status_code == 202
    assert JobRun.objects.get(pk=answer.json()["data"]["run_id"]).arguments["owner_id"] == ana.pk
    assert_problem(agent.post("/v1/roles/desk.gone/reflect"), 404)
    assert_problem(agent.post(f"/v1/roles/{CALL}/reflect?owner=ben"), 404)
    answer = operator.post(f"/v1/roles/{CALL}/reflect?owner=all")
    assert "owner_id" not in JobRun.objects.get(pk=answer.json()["data"]["run_id"]).arguments


def test_the_estimate_is_the_average_of_the_newest_calls_or_the_worst(ana, settings):
    assert estimate_reflection(CALL, None, now=NOON).cost_usd == 0
    make_call(ana)
    make_call(ana, next_try_at=NOON + HOUR)
    worst = estimate_reflection(CALL, None, now=NOON)
    assert (worst.due, worst.is_measured) == (2, False)
    assert worst.cost_usd is not None
    assert worst.cost_usd > Decimal("0.01")
    for task, cost in (("roles.stage1", "0.001"), ("roles.stage1", "0.003"), ("roles.stage2", "0.01")):
        make_usage(task, cost)
    measured = estimate_reflection(CALL, None, now=NOON)
    assert (measured.due, measured.cost_usd, measured.is_measured) == (2, Decimal("0.024"), True)
    assert estimate_reflection(CALL, ana.pk + 1, now=NOON).due == 0
    LlmUsage.objects.all().delete()
    settings.MINARA = settings.MINARA.model_copy(update={"minara_model_main": "nobody-knows-it"})
    assert estimate_reflection(CALL, None, now=NOON).cost_usd is None


def test_the_command_reflects_here_and_now(ana, models: MessagesApi, capsys):
    open_market()
    make_call(ana)
    models.answer = answer_as(Classification.LOGIC_ERROR)
    call_command("reflect", CALL)
    assert capsys.readouterr().out.strip() == "done: 1 with a lesson"
    call_command("reflect", CALL, "--json")
    assert capsys.readouterr().out.strip() == '{"result": "done"}'


def test_the_command_says_what_is_missing_and_changes_nothing(ana, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"anthropic_api_key": ""})
    entry = make_call(ana, hours=200)
    with pytest.raises(CommandError, match="ANTHROPIC_API_KEY"):
        call_command("reflect", CALL)
    with pytest.raises(CommandError, match=r"Known are: desk\.call"):
        call_command("reflect", "desk.gone")
    assert RoleMemory.objects.get(pk=entry.pk).status == Status.PENDING
    assert not RoleState.objects.exists()


def test_jobs_are_listed_and_every_trigger_is_declared_in_the_tests():
    assert find_job(START).every == timedelta(minutes=1)
    assert find_job(REFLECT).reports
    assert find_job(REFLECT).needs_arguments
    assert {*EVERY, Trigger.MANUAL} == set(Trigger)
