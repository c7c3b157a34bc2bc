"""What the budget holds and who spent it: the same numbers as the guard's, from the same rows. Sources: S2, U-24."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum

from minara_site.kernel.llm.budget import cap_in_settings, read_reserved, totals_of, usd_label
from minara_site.kernel.llm.core import Category, Span
from minara_site.kernel.llm.core.budget import Totals, as_decimal, forecast
from minara_site.kernel.llm.core.windows import EVERY, Window, utc_day, window_of
from minara_site.kernel.llm.models import BudgetWindow, LlmUsage

MAX_SPENDERS = 30


@dataclass(frozen=True, slots=True)
class WindowStatus:
    """How a window stands now. `raised_cap` is what an operator allowed in it alone, None when nobody did."""

    totals: Totals
    calls: int
    cap_in_settings: Decimal | None
    raised_cap: Decimal | None
    raised_by: str
    raised_reason: str

    @property
    def window(self) -> Window:
        return self.totals.window

    @property
    def is_beyond_soft(self) -> bool:
        """Whether it has reached its soft threshold."""
        return self.totals.is_beyond(settings.MINARA.minara_budget_soft_threshold)

    def forecast(self, now: datetime) -> Decimal | None:
        """Return what it will have cost at its end if it goes on like this; None while that is too early to say."""
        return forecast(self.totals.spent, self.window, now=now)


@dataclass(frozen=True, slots=True)
class Spender:
    """What a task asked of a model in a window, and what that cost."""

    category: str
    task: str
    model: str
    calls: int
    cost_usd: Decimal


def windows_at(now: datetime) -> list[Window]:
    """Return the windows that count now: day and month of each category, then the day of all of them."""
    day = utc_day(now)
    own = [Window(category.value, window_of(span, day)) for category in Category for span in Span]
    return [*own, Window(EVERY, window_of(Span.DAY, day))]


def load_budget(*, now: datetime) -> list[WindowStatus]:
    """Return how each window stands, in the order of `windows_at`. Two queries."""
    windows = windows_at(now)
    names = {window.name for window in windows}
    kept = BudgetWindow.objects.filter(category__in=[*Category, EVERY], window__in=names)
    rows = {Window(row.category, row.window): row for row in kept}
    live = read_reserved(now=now)
    return [status_of(window, rows.get(window), live) for window in windows]


def windows_to_look_at(*, now: datetime) -> "QuerySet[BudgetWindow]":
    """Return the rows of running windows that warned, or cost more than they were thought to: few, and mostly none."""
    soft = as_decimal(settings.MINARA.minara_budget_soft_threshold)
    windows = windows_at(now)
    wanted = Q(warned_at__isnull=False)
    for window in windows:
        cap = cap_in_settings(window)
        if cap:
            wanted |= Q(
                category=window.category,
                window=window.name,
                spent_usd__gte=soft * cap,
            )
    return BudgetWindow.objects.filter(
        wanted,
        category__in=[*Category, EVERY],
        window__in={window.name for window in windows},
    )


def status_of(
    window: Window,
    row: BudgetWindow | None,
    live: list[tuple[str, date, Decimal]],
) -> WindowStatus:
    """Return how a window stands; without a row nothing was spent in it."""
    row = row or BudgetWindow(category=window.category, window=window.name, spent_usd=Decimal(0))
    totals = totals_of(
        window,
        (row.spent_usd, row.cap_usd, row.warned_at),
        live,
    )
    return WindowStatus(
        totals,
        row.calls,
        cap_in_settings(window),
        row.cap_usd,
        row.raised_by,
        row.raised_reason,
    )


def budget_record(standings: list[WindowStatus]) -> dict[str, Any]:
    """Return the budget as the contract writes it, category by category, amounts as decimal texts."""
    categories: dict[str, dict[str, Any]] = {category.value: {} for category in Category}
    for each in standings:
        if each.window.category != EVERY:
            categories[each.window.category][each.window.span.value] = {
                "spent_usd": usd_label(each.totals.spent),
                "reserved_usd": usd_label(each.totals.reserved),
                "cap_usd": usd_label(each.totals.cap or Decimal(0)),
            }
    return {"categories": categories}


def list_spenders(span: Span, *, now: datetime) -> list[Spender]:
    """Return which tasks spent most on which models in the running day or month. One query, answered by an index."""
    window = Window(EVERY, window_of(span, utc_day(now)))
    calls = LlmUsage.objects.filter(date__gte=window.first_day, date__lt=window.day_after)
    grouped = calls.values("category", "task", "model").annotate(calls=Count("pk"), cost_usd=Sum("cost_usd"))
    return [Spender(**row) for row in grouped.order_by("-cost_usd", "category", "task", "model")[:MAX_SPENDERS]]


def list_calls() -> "QuerySet[LlmUsage]":
    """Return every call that was paid for, with whose data it was about."""
    return LlmUsage.objects.select_related("owner")
