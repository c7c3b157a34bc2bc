"""What of the demo's methodologies stays when the demo goes, and what the demo leaves alone."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from learning_app.cases.models import TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.record import CaseDraft, Recorder, record_case
from learning_app.methodologies.demo import MethodologiesPart, demo_methodologies
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.seeding import draft_of, store_seeds
from learning_app.methodologies.services.create import create_methodology
from learning_app.vocabulary import LifecycleKind
from minara_site.access.models import User
from minara_site.console.demo.services import load_demo, remove_demo
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.services import record_points

pytestmark = pytest.mark.django_db
DIP = "Buy RSI dips above a rising weekly VWAP"


@pytest.fixture
def default(db: None) -> Any:
    return User.objects.get(is_default=True)


@pytest.mark.database
def test_a_methodology_that_a_real_case_hints_at_stays_with_its_real_outcomes_alone(
    default: Any,
    now: datetime,
) -> None:
    load_demo(now=now, actor="command:demo")
    row, decided_at, end = demo_methodologies()[DIP], now + timedelta(hours=20), now + timedelta(hours=44)
    assert row.quarantine == 0
    prices = {-5: 66_000, 19: 67_000, 20: 67_100, 44: 69_000}
    points = [Point("BTC", now + timedelta(hours=hours), Decimal(price)) for hours, price in prices.items()]
    record_points(points=points, owner_id=None, source="test", actor="test", now=end)
    draft = CaseDraft("BTC", "RSI turns up: long for a day", Direction.BULLISH, [row.uid], 24)
    record_case(draft=draft, by=Recorder(default.pk, "key:test"), now=decided_at)
    run_cron(now=end, requested_by="test")
    row.refresh_from_db()
    assert (row.times_used, row.times_correct) == (46, 45)  # with a case of the demo that the real price closed
    remove_demo(now=end, actor="command:demo")
    left = Methodology.objects.get()
    assert (left.name, left.is_demo, left.times_used, left.times_correct, left.quarantine) == (DIP, False, 1, 1, 1)
    assert (left.independent_cases, left.beats_chance, left.survives_store) == (0, False, False)
    kinds = [*left.events.order_by("pk").values_list("kind", flat=True)]
    seen = [LifecycleKind.CREATED, LifecycleKind.DEDUPLICATED, LifecycleKind.DEDUPLICATED]
    assert kinds == [*seen, LifecycleKind.OUTCOME_RECORDED, LifecycleKind.DEMOTED]
    assert TradingCase.objects.get().hint_rows.get().credited_at
    load_demo(now=end, actor="command:demo")
    remove_demo(now=end, actor="command:demo")
    assert list(Methodology.objects.values_list("pk", "times_used")) == [(left.pk, 1)]


@pytest.mark.database
def test_what_was_handed_in_before_gets_no_invented_outcomes_and_no_seed_is_taken_for_the_demos(
    default: Any,
    now: datetime,
) -> None:
    handed_in = next(row for row in MethodologiesPart.rows["default"] if row.name == DIP)
    create_methodology(draft=draft_of(handed_in.draft), actor="key:test", now=now - timedelta(days=40))
    load_demo(now=now, actor="command:demo")
    own = Methodology.objects.get(is_demo=False)
    assert (own.times_used, own.times_seen, LifecycleEvent.objects.filter(is_demo=False).count()) == (0, 1, 1)
    assert store_seeds(actor="command:seed", now=now) == (20, 0)
