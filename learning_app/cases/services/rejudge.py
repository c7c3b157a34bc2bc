"""Judging again what corrected and late prices touch, and judging controls whose windows are over. Source: court.md."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from learning_app.cases.models import OWNER, TradingCase
from learning_app.cases.services.resolve import judge_again, walk_due
from learning_app.cases.services.settle import settle
from learning_app.court.models import Control
from learning_app.court.services.controls import WEIGHTS, judge_controls
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.db import slices, update_rows
from minara_site.kernel.market.changed import read_changed
from minara_site.kernel.market.models import ChangedPrices
from minara_site.kernel.market.outcome import SETTLES_AFTER

REJUDGE = "learning.rejudge"
ACTOR = f"job:{REJUDGE}"
LONGEST_GAP = timedelta(days=37)
"""A tenth of the longest horizon, and more than any gap of a closed market."""


def rejudge_changed(*, now: datetime) -> int:
    """Judge again whatever the prices touch that changed since the last time; return how many cases changed."""
    changed = 0
    for spans in read_changed(REJUDGE):
        for span in spans:
            for batch in walk_due(list_touched(span), "window_ends_at"):
                changed += judge_again(batch, actor=ACTOR, now=now).cases
            if span.owner_id is None:
                for controls in slices(list_touched_controls(span)):
                    store_controls(controls, now=now)
    return changed


def list_touched(span: ChangedPrices) -> "QuerySet[TradingCase]":
    """Return the closed cases whose entry or exit prices of this span may be."""
    rows = TradingCase.objects.filter(
        Q(exit_price_at__isnull=True) | Q(exit_price_at__gte=span.first_at) | Q(judged_by=OWNER),
        asset=span.symbol,
        window_ends_at__gte=span.first_at - LONGEST_GAP,
        decided_at__lte=span.last_at,
        is_demo=False,
    ).exclude(outcome_state=OutcomeState.PENDING)
    return rows if span.owner_id is None else rows.filter(owner=span.owner_id)


def list_touched_controls(span: ChangedPrices) -> "QuerySet[Control]":
    """Return the judged controls with a window that prices of this span may be at the end of."""
    rows = Control.objects.filter(symbol=span.symbol, grid_at__lte=span.last_at, known_at__gte=span.first_at)
    return rows.filter(is_demo=False).order_by("pk")


def judge_due_controls(*, now: datetime) -> Iterator[int]:
    """Judge the controls whose last window is over, some at once, and settle their cases; yield how many were known."""
    waiting = Control.objects.filter(known_at__isnull=True, due_at__lte=now - SETTLES_AFTER, is_demo=False)
    for controls in walk_due(waiting, "due_at"):
        yield store_controls(controls, now=now)


def store_controls(controls: Sequence[Control], *, now: datetime, owner_id: int | None = None) -> int:
    """Judge controls, and settle the cases of those that are known and new, or known otherwise; return how many."""
    before = {control.pk: [getattr(control, name) for name in WEIGHTS] for control in controls}
    known = judge_controls(controls, owner_id=owner_id, now=now)
    changed = [control for control in known if before[control.pk] != [getattr(control, name) for name in WEIGHTS]]
    if changed:
        with transaction.atomic():
            update_rows(Control, WEIGHTS, changed)
            cases = TradingCase.objects.filter(control__in=changed).order_by("window_ends_at", "pk")
            for some in slices(cases.values_list("pk", flat=True)):
                settle(some, actor=ACTOR, now=now)
    return len(changed)
