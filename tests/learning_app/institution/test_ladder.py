"""The ladder: windows scored from the instance's prices alone, and counted once a method, ticker, window and UTC day."""

import csv
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from learning_app.court.models import Block
from learning_app.institution.models import InstitutionOutcome, InstitutionReflection, InstitutionRun
from learning_app.institution.services.ladder import list_due_batches, rejudge_changed, run_ladder, score_batch
from learning_app.institution.services.run import run_institution
from learning_app.institution.tasks import repair
from learning_app.management.commands.institution import Command
from learning_app.methodologies.core.lifecycle import replay
from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.methodologies.models import LifecycleEvent, Methodology
from minara_site.kernel.jobs import runner
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.market.importing import import_file
from minara_site.kernel.market.services import Series
from tests.kit.clock import NOON
from tests.kit.shared import shared_path
from tests.kit.tables import table
from tests.learning_app.institution.committee import committee, decide
from tests.learning_app.rows import make_case, make_methodology, make_run, post_prices

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
STEP = timedelta(minutes=5)
SYMBOL = "ETH/BTC"


@pytest.fixture(autouse=True)
def ladder(settings):
    settings.MINARA = settings.MINARA.model_copy(update={"institution_learning_enabled": True})


def due(owner, *, rating="buy", days=2, **fields):
    """Make a decision of that many days ago."""
    return make_run(owner, at=NOON - days * DAY, rating=rating, **fields)


def score(run, window="1d"):
    return run.reflections.get(window=window)


def read_closes():
    """Return the close known at each moment, as exact fractions of 15 digits."""
    with shared_path("data/eth_btc_5m.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    opens = [datetime.strptime(row["ts"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) for row in rows]
    return {at + STEP: Fraction(f"{float(row['close']):.15g}") for at, row in zip(opens, rows, strict=True)}


def test_scores_of_runs_on_real_candles_equal_an_independent_computation(ana, models):
    closes = read_closes()
    moments = sorted(closes)
    path, series = shared_path("data/eth_btc_5m.csv"), Series(SYMBOL, 300, "csv", "test")
    import_file(path=path, series=series, now=moments[-1], may_have_gaps=True)
    method = make_methodology(correct=24, used=30, quarantine=0)
    ratings = ("buy", "sell", "hold")
    starts = [moments[0] + hours * timedelta(hours=1) for hours in (30, 101, 172)]
    fields = {"ticker": SYMBOL, "horizon_days": 3, "cited": [method.uid]}
    runs = [decide(models, ana, at=at, rating=rating, **fields) for at, rating in zip(starts, ratings, strict=True)]
    run_ladder(now=moments[-1] + DAY)
    right = used = 0
    for run, rating in zip(runs, ratings, strict=True):
        for days in (1, 7):
            before, after = (first_close(closes, moments, at) for at in (run.decided_at, run.decided_at + days * DAY))
            change = (after - before) / before * 100
            inside = abs(change) <= Fraction(1, 2)
            towards = {"buy": change, "sell": -change, "hold": 0}[rating]
            said = inside if rating == "hold" else None if inside else towards > 0
            rung = score(run, f"{days}d")
            assert rung.outcome_state == {True: "confirmed_good", False: "confirmed_bad", None: "inconclusive"}[said]
            assert rung.pnl_pct == pytest.approx(float(towards), abs=1e-9)
            assert Fraction(rung.entry_price) == before
            assert Fraction(rung.exit_price) == after
            if rating == "buy" and said is not None:
                right, used = right + said, used + 1
        assert score(run, "30d").outcome_state == "pending"
    method.refresh_from_db()
    assert (method.times_used, method.times_correct) == (30 + used, 24 + right)
    assert method.confidence == pytest.approx(wilson_lower_bound(24 + right, 30 + used))
    assert used


def first_close(closes, moments, at):
    """Return the first close from a moment on."""
    return closes[min(moment for moment in moments if moment >= at)]


@table(
    ("rating", "price", "state", "pnl"),
    [
        ("buy", "102", "confirmed_good", 2.0),
        ("buy", "98", "confirmed_bad", -2.0),
        ("buy", "100.5", "inconclusive", 0.5),
        ("sell", "98", "confirmed_good", 2.0),
        ("sell", "102", "confirmed_bad", -2.0),
        ("hold", "100.5", "confirmed_good", 0.0),
        ("hold", "100.6", "confirmed_bad", 0.0),
    ],
)
def test_a_window_is_scored_as_a_case_is(ana, rating, price, state, pnl):
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, price))
    run = due(ana, rating=rating)
    assert run_ladder(now=NOON)["scored"] == 1
    rung = score(run)
    assert (rung.outcome_state, rung.pnl_pct, rung.scored_at) == (state, pytest.approx(pnl), NOON)
    assert run_ladder(now=NOON) == {}


@table(
    ("late", "prices", "state"),
    [
        (timedelta(), [(0, "100"), (1, "102")], "confirmed_good"),
        (-timedelta(microseconds=1), [(0, "100"), (1, "102")], "pending"),
        (timedelta(), [(0, "100")], "pending"),
        (7 * DAY, [(0, "100")], "pending"),
        (7 * DAY + timedelta(microseconds=1), [(0, "100")], "expired"),
        (timedelta(), [(0, "100"), (0.9, "102")], "pending"),
        (timedelta(hours=1), [(0, "100"), (0.9, "102"), (1.01, "90")], "confirmed_bad"),
        (timedelta(hours=1), [(-0.1, "90"), (0, "100"), (1.01, "102")], "confirmed_good"),
        (30 * DAY, [(-10, "100"), (1, "102")], "inconclusive"),
    ],
)
def test_a_window_is_scored_by_the_first_prices_from_its_ends_on(ana, late, prices, state):
    at = NOON - 40 * DAY
    run = make_run(ana, at=at)
    post_prices("BTC", *((at + days * DAY, price) for days, price in prices))
    run_ladder(now=at + DAY + late)
    assert score(run).outcome_state == state


def test_an_owners_own_prices_score_nothing(ana):
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, "102"), owner=ana)
    run = due(ana)
    run_ladder(now=NOON)
    assert score(run).outcome_state == "pending"


def test_after_thirty_days_the_horizon_is_compared_where_it_is_over(ana):
    at = NOON - 31 * DAY
    post_prices("BTC", (at, "100"), (at + 14 * DAY, "90"), (at + 30 * DAY, "110"))
    runs = [make_run(ana, at=at, horizon_days=days) for days in (14, 60)]
    run_ladder(now=NOON)
    found = [score(run, "30d") for run in runs]
    assert [rung.outcome_state for rung in found] == ["confirmed_good"] * 2
    assert [(rung.horizon_state, rung.horizon_pnl_pct) for rung in found] == [("confirmed_bad", -10.0), ("", None)]


def test_switched_off_runs_are_kept_and_nothing_is_scored(ana, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"institution_learning_enabled": False})
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, "102"))
    run = due(ana, feeds=True)
    assert run_ladder(now=NOON) == {"off": 1}
    assert score(run).outcome_state == "pending"


@pytest.mark.database
def test_a_cited_method_gets_one_outcome_for_a_ticker_a_window_and_a_day_and_the_court_none(ana):
    method = make_methodology(correct=24, used=30, quarantine=0)
    other_way = make_methodology(correct=24, used=30, quarantine=0, direction="bearish")
    post_prices("BTC", (NOON - 3 * DAY, "100"), (NOON - 2 * DAY, "102"), (NOON - DAY, "104"), (NOON, "106"))
    post_prices("ETH", (NOON - 2 * DAY, "100"), (NOON - DAY, "90"))
    cited = {"cited": [method.uid, other_way.uid], "feeds": True}
    runs = [
        due(ana, **cited),  # counts
        due(ana, **cited),  # same ticker and day
        due(ana, ticker="ETH", **cited),  # counts, wrong
        due(ana, days=3, **cited),  # counts: another day
        due(ana, **(cited | {"feeds": False})),  # a user's
        make_run(ana, at=NOON - 2 * DAY, is_demo=True, **cited),
    ]
    counts = run_ladder(now=NOON)
    assert (counts["scored"], counts["counted"]) == (5, 3)
    method.refresh_from_db()
    other_way.refresh_from_db()
    assert (method.times_used, method.times_correct) == (33, 26)
    assert (other_way.times_used, Block.objects.count()) == (30, 0)
    rows = InstitutionOutcome.objects.order_by("pk").values_list("reflection__run__uid", "ticker", "window")
    assert list(rows) == [(runs[3].uid, "BTC", "1d"), (runs[0].uid, "BTC", "1d"), (runs[2].uid, "ETH", "1d")]
    events = LifecycleEvent.objects.filter(methodology=method, kind="outcome_recorded").order_by("pk")
    assert [event.details["institution_run"] for event in events] == [run[0] for run in rows]
    assert score(runs[-1]).outcome_state == "pending", "the demo's own prices judge the demo"
    run_ladder(now=NOON)
    method.refresh_from_db()
    assert method.times_used == 33
    again = InstitutionOutcome.objects.first()
    again.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save(force_insert=True)


def test_of_several_runs_of_a_day_the_first_conclusive_one_counts(ana):
    method = make_methodology(correct=24, used=30, quarantine=0)
    post_prices(
        "BTC",
        (NOON - 2 * DAY, "100"),
        (NOON - 2 * DAY + timedelta(hours=3), "100"),
        (NOON - DAY, "100.1"),
        (NOON - DAY + timedelta(hours=3), "105"),
    )
    first = due(ana, feeds=True, cited=[method.uid])
    second = make_run(ana, at=NOON - 2 * DAY + timedelta(hours=3), feeds=True, cited=[method.uid])
    run_ladder(now=NOON)
    assert [score(run).outcome_state for run in (first, second)] == ["inconclusive", "confirmed_good"]
    assert InstitutionOutcome.objects.get().reflection.run == second


def test_a_score_graduates_and_demotes_like_any_outcome(ana):
    young = make_methodology(correct=16, used=19)
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, "102"))
    due(ana, feeds=True, cited=[young.uid])
    run_ladder(now=NOON)
    young.refresh_from_db()
    assert young.quarantine == 0
    kinds = LifecycleEvent.objects.filter(methodology=young).order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["outcome_recorded", "graduated"]


def test_two_batches_of_the_same_windows_score_them_once(ana):
    method = make_methodology(correct=24, used=30, quarantine=0)
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, "102"))
    due(ana, feeds=True, cited=[method.uid])
    batches = [next(list_due_batches(now=NOON)) for _time in range(2)]
    scored = [score_batch(batch, now=NOON) for batch in batches]
    assert scored == [{"scored": 1, "counted": 1}, {"scored": 0, "counted": 0}]
    assert Methodology.objects.get(pk=method.pk).times_used == 31


def test_what_no_worker_has_is_asked_for_again_and_what_its_job_lost_is_ended(ana, models):
    models.answer = committee()
    post_prices("BTC", (NOON, "100"))
    killed = make_run(ana, is_open=True)  # of the command: it has no job
    fields = {"job": "institution.run", "arguments": {}, "created_at": NOON, "error": "It broke."}
    jobs = {state: JobRun.objects.create(state=state, **fields) for state in ("failed", "cancelled", "queued")}
    others = {state: make_run(ana, is_open=True, job_run_id=job.pk) for state, job in jobs.items()}
    assert repair(now=NOON) == {"repaired": 3}
    for run in (killed, *others.values()):
        run.refresh_from_db()
    assert [run.state for run in others.values()] == ["failed", "cancelled", "running"]
    assert (others["failed"].error, killed.state) == ("It broke.", "running")
    InstitutionRun.objects.filter(pk=killed.pk).update(inputs=None)
    runner.execute(killed.job_run_id)
    assert InstitutionRun.objects.get(pk=killed.pk).state == "done"


def test_the_command_runs_a_replay_and_looks_back_by_hand_and_neither_feeds(models, settings):
    models.answer = committee()
    now = datetime.now(UTC)
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, "102"))
    out = StringIO()
    call_command("institution", "run", "btc", "--at", (NOON - 2 * DAY).isoformat(), stdout=out)
    assert "Decision: buy, confidence 0.70, horizon 14 days" in out.getvalue()
    assert "portfolio_manager" in out.getvalue()
    run = InstitutionRun.objects.get()
    assert (run.actor, run.owner.username) == ("command:institution", "default")
    assert (run.feeds, run.decided_at) == (False, NOON - 2 * DAY)
    run_ladder(now=now)
    assert score(run).outcome_state == "confirmed_good"
    out = StringIO()
    call_command("institution", "reflect", "--run", run.uid, "--json", stdout=out)
    assert f'"run_id": "{run.uid}"' in out.getvalue()
    assert InstitutionReflection.objects.filter(window="manual").count() == 1
    assert InstitutionOutcome.objects.count() == 0
    assert run_institution(run.pk, now=now) == {"result": "done"}


def test_who_interrupts_the_command_cancels_the_run(models, monkeypatch):
    models.answer = committee()
    post_prices("BTC", (NOON, "100"))

    def interrupt(command, output):
        raise KeyboardInterrupt

    monkeypatch.setattr(Command, "say_output", interrupt)
    with pytest.raises(CommandError, match="Cancelled"):
        call_command("institution", "run", "btc", stdout=StringIO())
    assert (InstitutionRun.objects.get().state, models.calls) == ("cancelled", 1)


def test_cases_of_the_court_are_untouched_by_institution_scores(ana):
    method = make_methodology(correct=24, used=30, quarantine=0)
    case = make_case(ana, hints=[method])
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, "102"))
    due(ana, feeds=True, cited=[method.uid])
    run_ladder(now=NOON)
    hint = case.hint_rows.select_related("block").get()
    assert (hint.credited_at, hint.block.counted_case) == (None, None)


@pytest.mark.database
def test_a_corrected_price_scores_again_and_reverses_what_counted(ana):
    method = make_methodology(correct=24, used=30, quarantine=0)
    post_prices("BTC", (NOON - 2 * DAY, "100"), (NOON - DAY, "102"))
    run = due(ana, feeds=True, cited=[method.uid])
    run_ladder(now=NOON)
    post_prices("BTC", (NOON - DAY, "98"))
    assert [rejudge_changed(now=NOON), rejudge_changed(now=NOON)] == [1, 0]
    assert (score(run).outcome_state, score(run).pnl_pct) == ("confirmed_bad", pytest.approx(-2.0))
    method.refresh_from_db()
    assert (method.times_used, method.times_correct) == (31, 24)
    said = LifecycleEvent.objects.filter(kind="outcome_recorded").order_by("pk")
    assert ["reverses" in event.details for event in said] == [False, True, False]
    assert replay([*said]) == (1, 0)
