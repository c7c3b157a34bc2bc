"""Reserve, call, settle: one process, every rule of the budget. Trust R-07, R-09, R-10."""

from calendar import monthrange
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import given, seed, settings, strategies as st
from structlog.testing import capture_logs

from minara_site.kernel.jobs.table import load_jobs
from minara_site.kernel.llm.budget import LIVES, BudgetExceededError, Reservation, release, usd_label
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.prices import LARGEST
from minara_site.kernel.llm.core.windows import EVERY
from minara_site.kernel.llm.models import BudgetReservation, BudgetWindow, LlmUsage
from minara_site.kernel.llm.tasks import delete_expired
from tests.kernel.llm.budget_racers import PROJECTED, pay, take
from tests.kit.clock import NOON
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]

TICK = timedelta(microseconds=1)
DAY_CAP = Decimal("1.00")
MONTH_CAP = Decimal("2.50")
CAPS = {
    **{f"minara_budget_{category}_daily_usd": DAY_CAP for category in Category},
    **{f"minara_budget_{category}_monthly_usd": MONTH_CAP for category in Category},
}


@pytest.fixture(autouse=True)
def caps(settings: Any) -> None:
    """Small caps: 1.00 a day and 2.50 a month for each category, none over all."""
    settings.MINARA = settings.MINARA.model_copy(update=CAPS)


def spent(window: str, category: str = "learning") -> Decimal:
    row = BudgetWindow.objects.filter(category=category, window=window).first()
    return Decimal(row.spent_usd if row else 0).quantize(Decimal("0.00000001"))


def fits(amount: str, **when: Any) -> bool:
    """Say whether a call of this amount would be let through now; none is made."""
    try:
        release(take(Decimal(amount), **when))
    except BudgetExceededError:
        return False
    return True


class TestReserve:
    def test_ten_calls_of_a_tenth_fit_a_cap_of_one(self) -> None:
        for _call in range(10):
            take()
        with pytest.raises(BudgetExceededError) as refused:
            take()
        error = refused.value
        assert (error.status, error.code, error.retry_after_seconds) == (429, "budget_exceeded", 12 * 3600)
        assert error.detail == (
            "The budget of learning for 2026-06-12 is used up: 1.00 of 1.00 USD are spent or reserved, and this call "
            "may cost 0.10 USD. It begins anew at 2026-06-13 00:00 UTC; until then an operator can raise this cap "
            "under System, Budgets."
        )
        assert BudgetReservation.objects.count() == 10

    def test_names_the_month_when_that_is_full(self) -> None:
        for day in range(3):
            pay(take(Decimal("0.80"), now=NOON + timedelta(days=day)), Decimal("0.80"))
        with pytest.raises(BudgetExceededError, match="learning for 2026-06 is used up") as refused:
            take(Decimal("0.80"), now=NOON + timedelta(days=3))
        left = datetime(2026, 7, 1, tzinfo=UTC) - (NOON + timedelta(days=3))
        assert refused.value.retry_after_seconds == left.total_seconds()

    def test_the_cap_over_all_counts_every_category(self, settings: Any) -> None:
        settings.MINARA = settings.MINARA.model_copy(update={"minara_daily_cap_usd": Decimal("1.20")})
        pay(take(Decimal("0.80")), Decimal("0.80"))
        take(Decimal("0.30"), category=Category.AGENT)
        with pytest.raises(BudgetExceededError, match="of all model calls for 2026-06-12 is used up"):
            take(Decimal("0.11"), category=Category.WORKFLOW)
        assert fits("0.10", category=Category.WORKFLOW)
        assert fits("1.00", category=Category.WORKFLOW, now=NOON + timedelta(days=1))

    def test_what_was_spent_before_there_was_a_cap_over_all_counts(self, settings: Any) -> None:
        pay(take(Decimal("0.80")), Decimal("0.80"))
        settings.MINARA = settings.MINARA.model_copy(update={"minara_daily_cap_usd": DAY_CAP})
        assert not fits("0.30", category=Category.AGENT)

    def test_a_raised_cap_counts_in_its_window_alone(self) -> None:
        take(DAY_CAP)
        BudgetWindow.objects.filter(category="learning", window="2026-06-12").update(cap_usd=Decimal("1.50"))
        assert fits("0.50")
        assert not fits("0.51")
        assert not fits("1.50", now=NOON + timedelta(days=1))

    def test_counts_in_the_windows_of_its_moment_in_utc(self) -> None:
        midnight = datetime(2026, 7, 1, tzinfo=UTC)
        late, early = take(now=midnight - TICK), take(now=midnight)
        assert (late.day, early.day) == (date(2026, 6, 30), date(2026, 7, 1))
        pay(late, Decimal("0.07"), now=midnight + timedelta(minutes=1))
        assert (spent("2026-06-30"), spent("2026-06")) == (Decimal("0.07"), Decimal("0.07"))
        assert (spent("2026-07-01"), spent("2026-07")) == (0, 0)
        assert LlmUsage.objects.get().date == date(2026, 6, 30)

    def test_asks_the_database_little(self, django_assert_num_queries: Any) -> None:
        release(take())
        with django_assert_num_queries(3 + 2):  # the savepoint of the test's transaction
            reservation = take()
        with django_assert_num_queries(3 + 2):
            pay(reservation)

    def test_a_refusal_leaves_nothing(self) -> None:
        assert not fits("1.01")
        assert BudgetReservation.objects.count() == 0


class TestSettle:
    def test_records_what_the_call_was(self, ana: Any) -> None:
        usage = LlmUsage.objects.get(pk=pay(take(), Decimal("0.01234567")))
        assert (usage.category, usage.task, usage.model) == ("learning", "roles.classify", "fast")
        assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (100, 20, Decimal("0.01234567"))
        assert (usage.date, usage.ts, usage.subject) == (NOON.date(), NOON, "role_memory:1")
        assert BudgetReservation.objects.count() == 0
        row = BudgetWindow.objects.get(category="learning", window="2026-06-12")
        assert (spent("2026-06-12"), row.calls) == (Decimal("0.01234567"), 1)

    def test_frees_what_the_call_did_not_cost(self) -> None:
        pay(take(DAY_CAP), Decimal("0.25"))
        assert fits("0.75")
        assert not fits("0.76")

    def test_twice_is_once(self) -> None:
        reservation = take()
        assert pay(reservation) == pay(reservation, Decimal("0.09"))
        assert (LlmUsage.objects.count(), spent("2026-06-12")) == (1, PROJECTED)

    def test_late_records_the_real_usage_once(self) -> None:
        reservation = take(now=NOON)
        late = NOON + timedelta(hours=13)
        delete_expired(now=late)
        assert pay(reservation, now=late) == pay(reservation, now=late)
        assert (LlmUsage.objects.count(), spent("2026-06-12"), spent("2026-06-13")) == (1, PROJECTED, 0)

    def test_after_a_release_counts_all_the_same(self) -> None:
        reservation = take()
        release(reservation)
        release(reservation)
        pay(reservation)
        assert spent("2026-06-12") == PROJECTED

    def test_counts_though_its_owner_is_deleted_meanwhile(self, ana: Any) -> None:
        reservation, owner_id = take(), ana.pk
        assert LlmUsage.objects.get(pk=pay(take(), owner_id=owner_id)).owner_id == owner_id
        ana.delete()
        assert LlmUsage.objects.get(pk=pay(reservation, owner_id=owner_id)).owner_id is None
        connection.check_constraints()
        assert (spent("2026-06-12"), BudgetReservation.objects.count()) == (2 * PROJECTED, 0)

    def test_sums_that_no_column_holds_stay_the_largest_that_one_does(self) -> None:
        for reservation in [take(), take(), take(category=Category.AGENT)]:
            pay(reservation, LARGEST)
        assert spent("2026-06-12") == spent("2026-06-12", EVERY) == LARGEST
        assert not fits("0.01")

    def test_the_inspection_query_of_the_source_runs_as_printed(self) -> None:
        now = timezone.now()
        pay(take(now=now), Decimal("0.05"), now=now)
        pay(take(now=now), Decimal("0.02"), now=now)
        with connection.cursor() as cursor:
            cursor.execute("SELECT category, SUM(cost_usd) FROM llm_usage\n WHERE date = date('now') GROUP BY 1;")
            assert [(name, round(float(usd), 8)) for name, usd in cursor.fetchall()] == [("learning", 0.07)]


class TestExpiry:
    def test_counts_for_fifteen_minutes_and_no_longer(self) -> None:
        take(DAY_CAP)
        assert not fits("0.01", now=NOON + LIVES - TICK)
        assert fits("1.00", now=NOON + LIVES)
        assert timedelta(minutes=15) == LIVES

    def test_the_sweep_deletes_what_is_over_and_nothing_else(self) -> None:
        take(now=NOON)
        kept = take(now=NOON + TICK)
        assert delete_expired(now=NOON + LIVES) == {"deleted": 1}
        assert delete_expired(now=NOON + LIVES) == {"deleted": 0}
        assert list(BudgetReservation.objects.values_list("pk", flat=True)) == [kept.id]

    def test_the_sweep_is_on_the_schedule(self) -> None:
        assert load_jobs()["budget.delete_expired"].every == timedelta(hours=1)


class TestSoftThreshold:
    def test_warns_once_and_lets_through(self) -> None:
        with capture_logs() as logs:
            for _call in range(10):
                pay(take())
        warned = [each for each in logs if each["event"] == "budget_soft_threshold"]
        assert [(each["log_level"], each["budget"], each["window"]) for each in warned] == [
            ("warning", "learning", "2026-06-12")
        ]
        assert (warned[0]["committed_usd"], warned[0]["cap_usd"]) == ("0.80000000", "1.00")
        assert LlmUsage.objects.count() == 10

    def test_day_and_month_warn_each_for_themselves(self) -> None:
        with capture_logs() as logs:
            for day in range(3):
                pay(take(Decimal("0.80"), now=NOON + timedelta(days=day)), Decimal("0.80"))
        windows = [each["window"] for each in logs]
        assert windows == ["2026-06-12", "2026-06-13", "2026-06", "2026-06-14"]


class TestOvershoot:
    """R-07: a call may cost more than it was thought to; then the next is refused."""

    @table("workers", [1, 2, 5, 10])
    def test_is_bounded_by_the_calls_in_flight(self, workers: int) -> None:
        in_flight: list[Reservation] = []
        while fits("0.10") or in_flight:
            while len(in_flight) < workers and fits("0.10"):
                in_flight.append(take())
            pay(in_flight.pop(0), 3 * PROJECTED)
        assert spent("2026-06-12") <= DAY_CAP + workers * 2 * PROJECTED
        assert not fits("0.00000001")


def test_a_reservation_lives_fifteen_minutes_also_in_a_zone_whose_hour_comes_twice() -> None:
    take(now=datetime(2026, 10, 25, 2, 50, tzinfo=BERLIN))
    kept = BudgetReservation.objects.get()
    assert kept.expires_at - kept.reserved_at == LIVES


@dataclass
class Model:
    """R-09 in twenty lines: every call that was ever reserved, and what it counts for at a moment."""

    daily: Decimal | None
    calls: list[dict[str, Any]] = field(default_factory=list)

    def total(self, now: datetime, keep: Any) -> Decimal:
        return sum((self.weight(call, now) for call in self.calls if keep(call)), Decimal(0))

    def weight(self, call: dict[str, Any], now: datetime) -> Decimal:
        live = Decimal(call["amount"]) if call["open"] and now < call["at"] + timedelta(minutes=15) else Decimal(0)
        return Decimal(call["paid"]) if call["paid"] is not None else live

    def allows(self, category: str, amount: Decimal, now: datetime) -> bool:
        day = now.astimezone(UTC).date()
        month_end = day.replace(day=monthrange(day.year, day.month)[1])
        own = [call for call in self.calls if call["category"] == category]
        of_day = self.total(now, lambda call: call in own and call["day"] == day)
        of_month = self.total(
            now,
            lambda call: call in own and day.replace(day=1) <= call["day"] <= month_end,
        )
        of_all = self.total(now, lambda call: call["day"] == day)
        fits_all = self.daily is None or of_all + amount <= self.daily
        return of_day + amount <= DAY_CAP and of_month + amount <= MONTH_CAP and fits_all


BERLIN = ZoneInfo("Europe/Berlin")
STARTS = (
    datetime(2026, 6, 12, 23, 55, tzinfo=UTC),
    datetime(2026, 10, 31, 23, 50, tzinfo=UTC),
    datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2028, 2, 28, 23, 50, tzinfo=UTC),
    datetime(2026, 10, 25, 1, 50, tzinfo=BERLIN),  # the hour from 2 to 3 comes twice
    datetime(2026, 3, 29, 1, 50, tzinfo=BERLIN),  # and here not at all
)
STEPS = (timedelta(), TICK, timedelta(minutes=5), LIVES - TICK, LIVES, timedelta(hours=7), timedelta(days=1))
AMOUNTS = tuple(Decimal(text) for text in ("0", "0.00000001", "0.1", "0.33333333", "0.5", "0.99999999", "1", "1.1"))
ACTS = st.tuples(
    st.sampled_from(["reserve", "reserve", "reserve", "settle", "release"]),
    st.sampled_from(list(Category)[:2]),
    st.sampled_from(AMOUNTS),
    st.sampled_from(STEPS),
    st.integers(0, 30),
)
SEQUENCES = (st.sampled_from(STARTS), st.sampled_from([None, Decimal("1.5")]), st.lists(ACTS, max_size=14))


class _RollBackError(Exception):
    """Ends an example."""


def run_beside_the_model(start: datetime, daily: Decimal | None, acts: list[Any]) -> None:
    """Do the acts here and in the model; after each, both say the same."""
    from django.conf import settings as project

    project.MINARA = project.MINARA.model_copy(update={**CAPS, "minara_daily_cap_usd": daily})
    model, made, now = Model(daily), [], start.astimezone(UTC)
    for act, category, amount, step, which in acts:
        now += step
        shown = now.astimezone(BERLIN)  # the caller's zone says nothing
        if act == "reserve":
            expected = model.allows(category, amount, now) or amount == 0
            try:
                made.append(take(amount, now=shown, category=category))
            except BudgetExceededError:
                assert not expected
                continue
            assert expected
            day = now.date()
            model.calls.append(
                {"category": category, "day": day, "amount": amount, "at": now, "open": True, "paid": None}
            )
        elif made:
            call, reservation = model.calls[which % len(made)], made[which % len(made)]
            if act == "settle":
                pay(reservation, amount, now=shown)
                call["paid"] = amount if call["paid"] is None else call["paid"]
            else:
                release(reservation)
            call["open"] = False
    check_sums(model, now)


def check_sums(model: Model, now: datetime) -> None:
    """Every window holds exactly what its calls cost, `llm_usage` the same, and nothing is negative."""
    for row in BudgetWindow.objects.all():
        calls = [call for call in model.calls if call["category"] == row.category or row.category == EVERY]
        paid = [call["paid"] for call in calls if str(call["day"]).startswith(row.window) and call["paid"] is not None]
        assert spent(row.window, row.category) == sum(paid, Decimal(0))
        assert row.calls == len(paid)
    assert LlmUsage.objects.count() == sum(call["paid"] is not None for call in model.calls)


def rolled_back(start: datetime, daily: Decimal | None, acts: list[Any]) -> None:
    """Run an example and leave nothing of it."""
    with suppress(_RollBackError), transaction.atomic():
        run_beside_the_model(start, daily, acts)
        raise _RollBackError


@seed(9)
@settings(max_examples=150)
@given(*SEQUENCES)
def test_any_sequence_is_decided_as_the_model_decides_it(
    start: datetime,
    daily: Decimal | None,
    acts: list[Any],
) -> None:
    rolled_back(start, daily, acts)


@pytest.mark.soak
@settings(max_examples=1000)
@given(*SEQUENCES)
def test_a_thousand_sequences_are_decided_as_the_model_decides_them(
    start: datetime,
    daily: Decimal | None,
    acts: list[Any],
) -> None:
    rolled_back(start, daily, acts)


@table(("amount", "words"), [("1", "1.00"), ("0.1", "0.10"), ("0.00000001", "0.00000001"), ("1234.5", "1234.50")])
def test_an_amount_has_two_decimals_or_as_many_as_it_needs(amount: str, words: str) -> None:
    assert usd_label(Decimal(amount)) == words
