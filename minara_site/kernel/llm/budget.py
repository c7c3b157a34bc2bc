"""The budget of model calls: reserve, call, settle. Sources: S2 (budget tracking), decisions (budgets), R-06 to R-10.

A call reserves the worst that it may cost before it fires, in one transaction that holds the rows of its windows, so
that no number of processes passes a cap together. On SQLite the immediate transaction has the whole file; PostgreSQL
locks the rows, always in the order of `Window`. A reservation counts until it is settled or released, and for at most
15 minutes: a process that died in between gives its money back by itself (R-08). Nothing is kept in memory.

Every reflection comes through here, so that the statements are written out and few. Never call this inside a
transaction that goes on: its rows would stay locked for everybody.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Throttled
from minara_site.kernel.llm.core import Category, Span
from minara_site.kernel.llm.core.budget import Decision, Totals, decide, effective_cap
from minara_site.kernel.llm.core.windows import EVERY, Window, utc_day, windows_of

log = structlog.get_logger(__name__)

LIVES = timedelta(minutes=15)
SMALLEST = Decimal("0.00000001")

LOCK = """
SELECT category, "window", spent_usd, cap_usd, warned_at FROM budget_windows
WHERE (category = %s AND "window" = %s) OR (category = %s AND "window" = %s) OR (category = %s AND "window" = %s)
ORDER BY category, "window" {lock}
"""
BEGIN = """
INSERT INTO budget_windows (category, "window", spent_usd, calls, raised_by, raised_reason)
VALUES (%s, %s, 0, 0, '', ''), (%s, %s, 0, 0, '', ''), (%s, %s, 0, 0, '', '')
ON CONFLICT (category, "window") DO NOTHING
"""
RESERVED = "SELECT category, day, SUM(amount_usd) FROM budget_reservations WHERE expires_at > %s GROUP BY category, day"
RESERVE = """
INSERT INTO budget_reservations (category, day, task, model, amount_usd, reserved_at, expires_at)
VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING id
"""
WARNED = 'UPDATE budget_windows SET warned_at = %s WHERE category = %s AND "window" = %s'
USE = """
INSERT INTO llm_usage (category, task, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
    cost_usd, date, ts, owner_id, subject, request_id, is_repair, is_lost, reservation_id)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, (SELECT id FROM {users} WHERE id = %s {lock}), %s, %s, %s, %s, %s)
ON CONFLICT (reservation_id) DO NOTHING RETURNING id
"""
USED = "SELECT id FROM llm_usage WHERE reservation_id = %s"
SPEND = """
INSERT INTO budget_windows AS kept (category, "window", spent_usd, calls, raised_by, raised_reason)
VALUES (%s, %s, %s, 1, '', ''), (%s, %s, %s, 1, '', ''), (%s, %s, %s, 1, '', '')
ON CONFLICT (category, "window") DO UPDATE
SET calls = kept.calls + 1, spent_usd =
    CASE WHEN kept.spent_usd + excluded.spent_usd < 999999.99999999 THEN ROUND(kept.spent_usd + excluded.spent_usd, 8)
    ELSE 999999.99999999 END
"""
FREE = "DELETE FROM budget_reservations WHERE id = %s"


class BudgetExceededError(Throttled):
    """A cap would be passed; the call was not made."""

    code = "budget_exceeded"


@dataclass(frozen=True, slots=True)
class Reservation:
    """The worst that one call may cost, kept for it. `day` is the UTC day whose windows it counts in for ever."""

    id: int
    category: Category
    day: date
    amount_usd: Decimal
    task: str
    model: str


def reserve(
    *,
    category: Category,
    task: str,
    model: str,
    amount_usd: Decimal,
    now: datetime,
) -> Reservation:
    """Keep this amount for a call, or raise BudgetExceededError, which names the window that has no room."""
    wanted = Reservation(
        0,
        category,
        utc_day(now),
        amount_usd,
        task,
        model,
    )
    windows = windows_of(category, wanted.day)
    with transaction.atomic():
        rows = lock_windows(windows)
        if rows is not None:
            decision = decide_for(windows, rows, amount_usd, now)
            reservation = take(wanted, decision, now)
    if rows is None:  # the first call of a day; rows are begun alone, because what is locked here has an order
        with connection.cursor() as cursor:
            cursor.execute(BEGIN, names(windows))
        return reserve(
            category=category,
            task=task,
            model=model,
            amount_usd=amount_usd,
            now=now,
        )
    warn(decision, reservation)
    return reservation


def settle(
    reservation: Reservation,
    *,
    input_tokens: int,
    output_tokens: int,
    cache_read_tokens: int,
    cache_write_tokens: int,
    cost_usd: Decimal,
    owner_id: int | None,
    subject: str,
    request_id: str,
    is_repair: bool,
    is_lost: bool = False,
    now: datetime,
) -> int:
    """Record what a call really cost, and free its reservation; return the id in `llm_usage`.

    It counts in the windows of the reservation, also after that is over, and whether or not its owner is still there.
    A second settle changes nothing and returns the id of the first.
    """
    tokens = (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
    about = (owner_id, subject, request_id, is_repair, is_lost, reservation.id)
    ops, cost = connection.ops, in_database(cost_usd)
    day, at = ops.adapt_datefield_value(reservation.day), ops.adapt_datetimefield_value(now)
    called = (reservation.category.value, reservation.task, reservation.model)
    users = get_user_model()._meta.db_table  # noqa: SLF001 - Django documents it
    # No owner is deleted until the transaction ends; SQLite has the whole file already.
    use = USE.format(
        users=users,
        lock="" if connection.vendor == "sqlite" else "FOR KEY SHARE",
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(use, (*called, *tokens, cost, day, at, *about))
        made = cursor.fetchone()
        if made is None:
            cursor.execute(USED, (reservation.id,))
            return int(cursor.fetchone()[0])
        windows = windows_of(reservation.category, reservation.day)
        cursor.execute(
            SPEND,
            [part for window in windows for part in (window.category, window.name, cost)],
        )
        cursor.execute(FREE, (reservation.id,))
    return int(made[0])


def release(reservation: Reservation) -> None:
    """Give back what was reserved for a call that cost nothing; doing it twice is doing it once."""
    with connection.cursor() as cursor:
        cursor.execute(FREE, (reservation.id,))


def lock_windows(windows: Sequence[Window]) -> dict[Window, Sequence[Any]] | None:
    """Return the rows of these windows, held until the transaction ends; None when one is not begun yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            LOCK.format(lock="" if connection.vendor == "sqlite" else "FOR UPDATE"),
            names(windows),
        )
        rows = {Window(category, name): rest for category, name, *rest in cursor.fetchall()}
    return rows if len(rows) == len(windows) else None


def names(windows: Sequence[Window]) -> list[str]:
    """Return the windows as parameters."""
    return [part for window in windows for part in (window.category, window.name)]


def decide_for(
    windows: Sequence[Window],
    rows: dict[Window, Sequence[Any]],
    amount_usd: Decimal,
    now: datetime,
) -> Decision:
    """Say whether the amount fits. Raises BudgetExceededError."""
    live = read_reserved(now=now)
    totals = [totals_of(window, rows[window], live) for window in windows]
    decision = decide(
        totals,
        amount_usd,
        soft=settings.MINARA.minara_budget_soft_threshold,
    )
    if decision.refused_by:
        raise exceeded(decision.refused_by, amount_usd, now)
    return decision


def read_reserved(*, now: datetime) -> list[tuple[str, date, Decimal]]:
    """Return what calls under way may cost, by category and day. Read it after the windows, never before."""
    with connection.cursor() as cursor:
        cursor.execute(RESERVED, (connection.ops.adapt_datetimefield_value(now),))
        return [
            (
                category,
                as_date(day),
                from_database(amount),
            )
            for category, day, amount in cursor.fetchall()
        ]


def totals_of(
    window: Window,
    row: Sequence[Any],
    live: Sequence[tuple[str, date, Decimal]],
) -> Totals:
    """Return what a window holds, from its row (spent, raised cap, when it warned) and the live reservations."""
    spent, raised_cap, warned_at = row
    reserved = [amount for category, day, amount in live if window.category in (category, EVERY) and window.holds(day)]
    raised = None if raised_cap is None else from_database(raised_cap)
    cap = effective_cap(cap_in_settings(window), raised)
    return Totals(
        window,
        from_database(spent),
        sum(reserved, Decimal(0)),
        cap,
        warned_at is not None,
    )


def cap_in_settings(window: Window) -> Decimal | None:
    """Return what the settings allow in a window; None is no cap."""
    if window.category == EVERY:
        return settings.MINARA.minara_daily_cap_usd if window.span is Span.DAY else None
    span = "daily" if window.span is Span.DAY else "monthly"
    return getattr(settings.MINARA, f"minara_budget_{window.category}_{span}_usd")


def take(wanted: Reservation, decision: Decision, now: datetime) -> Reservation:
    """Write the reservation, and into each window that it takes over its soft threshold that it warned."""
    ops, called = connection.ops, (wanted.task, wanted.model, in_database(wanted.amount_usd))
    expires_at = now.astimezone(UTC) + LIVES  # in a zone of its own the day that has an hour twice would add one
    times = (ops.adapt_datetimefield_value(now), ops.adapt_datetimefield_value(expires_at))
    with connection.cursor() as cursor:
        cursor.execute(
            RESERVE,
            (
                wanted.category.value,
                ops.adapt_datefield_value(wanted.day),
                *called,
                *times,
            ),
        )
        made = cursor.fetchone()[0]
        for crossed in decision.warns:
            cursor.execute(
                WARNED,
                (times[0], crossed.window.category, crossed.window.name),
            )
    return replace(wanted, id=made)


def warn(decision: Decision, reservation: Reservation) -> None:
    """Log once for a window that its soft threshold is crossed; the call goes on (R-10)."""
    for crossed in decision.warns:
        log.warning(
            "budget_soft_threshold",
            budget=crossed.window.category,
            window=crossed.window.name,
            committed_usd=str(crossed.committed),
            cap_usd=str(crossed.cap),
            category=reservation.category.value,
            task=reservation.task,
        )


def exceeded(totals: Totals, amount_usd: Decimal, now: datetime) -> BudgetExceededError:
    """Return the refusal: which cap, how full it is, and what to do."""
    window = totals.window
    sentence = (
        _("The budget of all model calls for %(window)s is used up")
        if window.category == EVERY
        else _("The budget of %(category)s for %(window)s is used up")
    )
    figures = _(
        "%(committed)s of %(cap)s USD are spent or reserved, and this call may cost %(amount)s USD. It begins anew at "
        "%(end)s UTC; until then an operator can raise this cap under System, Budgets."
    )
    values = {
        "category": window.category,
        "window": window.name,
        "committed": usd_label(totals.committed),
        "cap": usd_label(totals.cap or Decimal(0)),
        "amount": usd_label(amount_usd),
        "end": f"{window.ends_at:%Y-%m-%d %H:%M}",
    }
    wait = max(math.ceil((window.ends_at - now).total_seconds()), 1)
    return BudgetExceededError(f"{sentence % values}: {figures % values}", retry_after_seconds=wait)


def usd_label(amount: Decimal) -> str:
    """Return an amount with at least two decimals, and with as many as it needs."""
    exact = f"{amount.quantize(SMALLEST):f}".rstrip("0")
    whole, _point, decimals = exact.partition(".")
    return f"{whole}.{decimals:0<2}"


def in_database(amount: Decimal) -> str | Decimal:
    """Return an amount as the engine keeps it."""
    exact = amount.quantize(SMALLEST)
    return str(exact) if connection.vendor == "sqlite" else exact


def from_database(amount: Any) -> Decimal:
    """Return an amount as it was written; SQLite adds up in binary fractions."""
    return Decimal(str(amount)).quantize(SMALLEST)


def as_date(value: date | str) -> date:
    """Return a date; SQLite keeps it as text."""
    return date.fromisoformat(value) if isinstance(value, str) else value
