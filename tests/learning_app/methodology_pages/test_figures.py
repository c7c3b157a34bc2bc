"""What calls came to, worked out another way; hits and their control; and how much is read of how many."""

from datetime import timedelta
from statistics import mean, stdev

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.court.models import Block, Control
from learning_app.methodologies.models import LifecycleEvent
from learning_app.methodology_pages.pages.figures import load_figures
from learning_app.methodology_pages.pages.hits import course, load_hits
from tests.kit.clock import NOON
from tests.kit.page import words_of
from tests.learning_app.rows import build_case, make_case, make_methodology, post_prices

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
HOUR = timedelta(hours=1)


def price_at(hours):
    """Return a price so many hours before noon: four hours on it is clearly another one."""
    return 100 + hours * 7 % 11 + hours // 97


def test_the_figures_are_those_of_the_calls_that_counted(page, ana, ben, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"case_cost_pct": 0.25})
    row = make_methodology(direction="bearish")
    fields = {"horizon": 4, "direction": "bearish", "hints": [row]}
    for number in range(40):
        make_case(ben if number % 2 else ana, hours=900 - 20 * number, replayed=number < 9, **fields)
    make_case(ana, hours=891, **fields, asset="ETH")  # no price of it
    make_case(ana, hours=898, **fields)  # overlaps
    make_case(ana, hours=3, **fields)
    post_prices("XRP", (NOON - HOUR * 48, "1"), (NOON - HOUR * 42, "2"))
    make_case(ana, hours=50, **fields, asset="XRP")
    for hours in range(0, 910, 200):  # at most so many at once
        span = range(hours, min(hours + 200, 910))
        post_prices("BTC", *((NOON - HOUR * each, f"{price_at(each)}") for each in span))
    run_cron(now=NOON, requested_by="test")
    counted = [(hours, price_at(hours), price_at(hours - 4)) for hours in range(900, 100, -20)]
    moves = [-100 * (after - before) / before for _hours, before, after in counted]
    wins, losses = ([move - 0.25 for move in moves if (move > 0) is is_win] for is_win in (True, False))
    runs = "".join("v" if move > 0 else "x" for move in moves).split("v")
    against = [
        min(-100 * (price_at(hour) - before) / before for hour in range(hours - 4, hours + 1))
        for hours, before, _after in counted
    ]
    months = {}
    for (hours, *_prices), move in zip(counted, moves, strict=True):
        at = NOON - HOUR * hours
        months.setdefault(f"{at:%Y-%m}", []).append(move > 0)
    found = load_figures(row)
    wanted = {
        "calls": 43,
        "counted": 40,
        "unpriced": 2,
        "worst_run": max(map(len, runs)),
        "mean": f"{mean([*wins, *losses]):+.2f}%".replace("-", "−"),
        "payoff": f"{mean(wins) / -mean(losses):.2f}",
        "worst": f"{min(against):+.2f}%".replace("-", "−"),
        "watched": 40,
    }
    assert {name: found[name] for name in wanted} == wanted
    shares = [(share.name, share.right, share.counted) for share in found["months"]]
    assert shares == [(name, sum(each), len(each)) for name, each in sorted(months.items(), reverse=True)]
    assert [(share.name, share.counted) for share in found["assets"]] == [("BTC", 40)]
    said = words_of(page.get(f"/methodologies/{row.uid}/"))
    assert f"Mean move {wanted['mean']} after 0.25 % cost, of 40 calls" in said
    assert "2 of 43 calls expired, or had a gap in their prices" in said
    hits = load_hits(list(Block.objects.filter(is_own=False, known_at__isnull=False).order_by("known_at")))
    assert [(each.label, each.calls) for each in hits] == [("Live", 31), ("Replayed", 9)]


def test_a_course_has_wilsons_interval_for_hits_and_the_normal_one_for_controls():
    right, control = [1.0, 0.0, 1.0, 1.0], [0.4, 0.5, 0.6, 0.7]
    assert list(course(right, is_share=True))[-1] == pytest.approx((0.75, 0.3006, 0.9544), abs=1e-4)
    half = 1.96 * stdev(control) / 2
    assert list(course(control, is_share=False))[-1] == pytest.approx((0.55, 0.55 - half, 0.55 + half))
    assert next(course(control, is_share=False)) == (0.4, 0.0, 1.0), "one control says nothing of the next"


@pytest.mark.database
def test_thousands_of_calls_take_at_most_twenty_queries_and_only_the_newest_are_read(page, ana):
    number, row = 2_050, make_methodology(correct=1_000, used=2_050, independent_cases=1_900)
    judged = {"outcome_state": "confirmed_good", "judged_by": "instance", "pnl_pct": 1.0, "resolved_at": NOON}
    ends = {"entry_price": 100, "exit_price": 101, "entry_price_at": NOON, "exit_price_at": NOON}
    control = Control.objects.create(symbol="BTC", horizon_hours=1, band_pct=0.5, grid_at=NOON, due_at=NOON)
    rows = [build_case(ana, hours=2 * each + 2, horizon=1, control=control, **judged, **ends) for each in range(number)]
    cases = TradingCase.objects.bulk_create(rows)
    places = {"methodology": row, "is_own": False, "hand": ana.pk, "recorded_at": NOON, "is_replayed": False}
    known = {"is_right": True, "score": 1.0, "chance": 0.5, "known_at": NOON}
    blocks = Block.objects.bulk_create(
        Block(
            **places,
            case_id=case.pk,
            counted_case=case.pk,
            starts_at=case.decided_at,
            ends_at=case.window_ends_at,
            decided_at=case.decided_at,
            **known,
        )
        for case in cases
    )
    CaseHint.objects.bulk_create(
        CaseHint(case=case, methodology=row, position=0, block=block, own_why="overlaps", credited_at=NOON)
        for case, block in zip(cases, blocks, strict=True)
    )
    LifecycleEvent.objects.create(methodology=row, kind="reworded", at=NOON, actor="test")
    post_prices("BTC", (NOON, "98"))
    with CaptureQueriesContext(connection) as asked:
        said = words_of(page.get(f"/methodologies/{row.uid}/"))
    assert len(asked) <= 20
    assert "its newest 2,000 calls" in said
    assert "2,050 independent calls" in said
    assert "−2.00% against it within the window, by closes, newest 100 calls" in said
    assert "1 text was tried for it, 1 reworded" in said
