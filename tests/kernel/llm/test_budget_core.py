"""What a budget decides, and which windows a call counts in. No database."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from minara_site.kernel.llm.core import Category, Span
from minara_site.kernel.llm.core.budget import Totals, decide, effective_cap, forecast
from minara_site.kernel.llm.core.windows import EVERY, Window, utc_day, window_of, windows_of
from tests.kit.tables import table

DAY = Window("learning", "2026-06-12")
MONTH = Window("learning", "2026-06")
ALL = Window(EVERY, "2026-06-12")
ONE, TENTH = Decimal(1), Decimal("0.1")
TICK = timedelta(microseconds=1)


def totals(
    window: Window = DAY,
    spent: str = "0",
    reserved: str = "0",
    cap: str | None = "1",
    **more: bool,
) -> Totals:
    return Totals(window, Decimal(spent), Decimal(reserved), None if cap is None else Decimal(cap), **more)


class TestWindow:
    @table(
        ("day", "name", "after"),
        [
            (date(2026, 6, 12), "2026-06", date(2026, 7, 1)),
            (date(2026, 12, 31), "2026-12", date(2027, 1, 1)),
            (date(2028, 2, 29), "2028-02", date(2028, 3, 1)),
            (date(2026, 1, 31), "2026-01", date(2026, 2, 1)),
        ],
    )
    def test_a_month_ends_where_the_next_one_begins(self, day: date, name: str, after: date) -> None:
        window = Window("agent", window_of(Span.MONTH, day))
        assert (window.name, window.span, window.day_after) == (name, Span.MONTH, after)
        assert window.holds(day)
        assert not window.holds(after)
        assert not window.holds(window.first_day - timedelta(days=1))

    def test_a_day_ends_at_midnight_utc(self) -> None:
        assert DAY.begins_at == datetime(2026, 6, 12, tzinfo=UTC)
        assert DAY.ends_at == datetime(2026, 6, 13, tzinfo=UTC)
        assert (utc_day(DAY.ends_at - TICK), utc_day(DAY.ends_at)) == (date(2026, 6, 12), date(2026, 6, 13))

    def test_the_day_is_that_of_utc_wherever_the_caller_is(self) -> None:
        berlin = ZoneInfo("Europe/Berlin")
        assert utc_day(datetime(2026, 10, 25, 0, 30, tzinfo=berlin)) == date(2026, 10, 24)  # clocks go back this night
        assert utc_day(datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=berlin)) == date(2026, 10, 25)

    def test_windows_come_in_the_order_of_their_locks(self) -> None:
        assert windows_of(Category.LEARNING, date(2026, 6, 12)) == (ALL, MONTH, DAY)
        assert [window.category for window in windows_of(Category.AGENT, date(2026, 6, 12))] == [
            "agent",
            "agent",
            EVERY,
        ]

    def test_says_how_much_of_it_is_over(self) -> None:
        assert DAY.elapsed_share(DAY.begins_at + timedelta(hours=6)) == 0.25
        assert DAY.elapsed_share(DAY.begins_at - TICK) == 0
        assert DAY.elapsed_share(DAY.ends_at + TICK) == 1


class TestDecide:
    def test_lets_the_cap_be_reached_and_not_passed(self) -> None:
        assert decide([totals(spent="0.6", reserved="0.3")], TENTH, soft=0.8).refused_by is None
        assert decide([totals(spent="0.6", reserved="0.30000001")], TENTH, soft=0.8).refused_by is not None

    def test_what_costs_nothing_fits_a_cap_of_nothing(self) -> None:
        empty = totals(cap="0")
        assert decide([empty], Decimal(0), soft=0.8).refused_by is None
        assert decide([empty], Decimal(0), soft=0.8).warns == ()
        assert decide([empty], Decimal("0.00000001"), soft=0.8).refused_by is empty

    def test_without_a_cap_nothing_is_refused_or_warned_of(self) -> None:
        assert decide([totals(ALL, spent="900000", cap=None)], ONE, soft=0.8) == decide([], ONE, soft=0.8)

    def test_names_the_window_that_ends_last(self) -> None:
        day, month = totals(DAY, spent="1"), totals(MONTH, spent="20", cap="20")
        assert decide([day, month], TENTH, soft=0.8).refused_by is month
        assert decide([totals(ALL), day], TENTH, soft=0.8).refused_by is day

    def test_warns_of_each_window_that_reaches_the_threshold(self) -> None:
        day, month = totals(DAY, spent="0.7"), totals(MONTH, spent="0.7", cap="20")
        decision = decide([month, day], TENTH, soft=0.8)
        assert [each.window for each in decision.warns] == [DAY]
        assert decision.warns[0].committed == Decimal("0.8")
        assert decide([day], Decimal("0.09999999"), soft=0.8).warns == ()

    def test_warns_once(self) -> None:
        assert decide([totals(spent="0.9", is_warned=True)], TENTH, soft=0.8).warns == ()

    def test_a_refused_call_warns_of_nothing(self) -> None:
        assert decide([totals(DAY, spent="1"), totals(MONTH, spent="0.8")], TENTH, soft=0.8).warns == ()


def test_says_what_is_left_and_when_nothing_is() -> None:
    assert totals(spent="0.5", reserved="0.2").left == Decimal("0.3")
    over = totals(spent="1.2")
    assert (over.left, over.is_exhausted, over.is_beyond(0.8)) == (0, True, True)
    none = totals(cap=None)
    assert (none.left, none.is_exhausted, none.is_beyond(0.8)) == (None, False, False)


@table(("in_settings", "raised", "cap"), [("1", None, "1"), ("1", "5", "5"), ("5", "1", "5"), (None, "5", None)])
def test_a_raise_never_lowers_a_cap(in_settings: str | None, raised: str | None, cap: str | None) -> None:
    def amount(text: str | None) -> Decimal | None:
        return None if text is None else Decimal(text)

    assert effective_cap(amount(in_settings), amount(raised)) == amount(cap)


def test_foretells_what_a_window_will_cost_and_not_too_early() -> None:
    at = DAY.begins_at + timedelta(hours=6)
    assert forecast(Decimal("0.5"), DAY, now=at) == 2
    early = DAY.begins_at + timedelta(hours=2, minutes=24)
    assert forecast(Decimal("0.5"), DAY, now=early) == 5
    assert forecast(Decimal("0.5"), DAY, now=early - TICK) is None
    assert forecast(Decimal("0.5"), DAY, now=DAY.ends_at) == Decimal("0.5")
