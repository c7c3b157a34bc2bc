"""When entries are due: cron in UTC, waits that grow, backoffs that end."""

from datetime import UTC, datetime, timedelta, timezone

from memory_app.roles.core.declarations import is_cron
from memory_app.roles.core.schedule import MAX_BACKOFF, MAX_WAIT, MIN_WAIT, backoff, last_slot, next_look
from tests.kit.tables import table

SIX = datetime(2026, 6, 12, 6, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def test_the_last_slot_is_the_one_at_or_before_now():
    assert last_slot("0 6 * * *", SIX) == SIX
    assert last_slot("0 6 * * *", SIX - TICK) == SIX - timedelta(days=1)
    assert last_slot("0 6 * * *", SIX + timedelta(days=9, seconds=-1)) == SIX + timedelta(days=8)
    assert last_slot("*/5 * * * *", SIX + timedelta(minutes=7, seconds=3)) == SIX + timedelta(minutes=5)


@table("expression", ["30 0 6 * * *", "* * * * * *", "0 6 * *", "", "0 6 * * * 2026"])
def test_a_cron_expression_has_five_fields(expression):
    assert is_cron("0 6 * * *")
    assert not is_cron(expression)


def test_slots_are_counted_in_utc_whatever_zone_the_clock_shows():
    shanghai = SIX.astimezone(timezone(timedelta(hours=8)))
    assert last_slot("0 6 * * *", shanghai) == SIX


def test_what_is_due_for_long_is_looked_at_more_rarely():
    for since, wait in ((0, MIN_WAIT), (4, timedelta(hours=1)), (90 * 24, MAX_WAIT)):
        now = SIX + timedelta(hours=since)
        assert next_look(SIX, now) == now + wait


def test_what_is_not_due_yet_is_looked_at_once_it_is():
    assert next_look(SIX, SIX - timedelta(days=3)) == SIX
    assert next_look(SIX, SIX - TICK) == SIX - TICK + MIN_WAIT


def test_backoffs_double_and_end():
    assert [backoff(number) // timedelta(minutes=15) for number in (0, 1, 2, 3)] == [1, 1, 2, 4]
    assert backoff(1_000_000) == MAX_BACKOFF
