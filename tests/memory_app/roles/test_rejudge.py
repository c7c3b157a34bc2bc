"""A price that is corrected, or comes late and lies nearer: the decision is marked, and keeps what it was and taught."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from memory_app.roles.models import RoleMemory
from memory_app.roles.records import entry_record
from memory_app.roles.tasks import rejudge
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.models import ChangedPrices, PricePoint
from minara_site.kernel.market.services import record_points
from tests.kit.clock import NOON
from tests.memory_app.roles.rows import make_row, make_thesis, make_wrong

pytestmark = [pytest.mark.django_db, pytest.mark.database]

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
DECIDED, END = NOON - 60 * HOUR, NOON - 36 * HOUR
LATER = NOON + HOUR


def post(*prices: tuple[Any, Any], symbol: str = "BTC", owner: Any = None) -> None:
    points = [Point(symbol, at, Decimal(price)) for at, price in prices]
    owner_id = owner.pk if owner else None
    record_points(points=points, owner_id=owner_id, source="test", actor="test", now=NOON)


def corrected() -> set[int]:
    """Judge again what changed, twice, and return what is marked."""
    rejudge(now=LATER)
    assert not ChangedPrices.objects.filter(reader="roles.rejudge").exists()
    marked = dict(RoleMemory.objects.exclude(price_corrected_at=None).values_list("pk", "price_corrected_at"))
    assert rejudge(now=LATER + HOUR) == {"marked": 0}
    assert set(marked.values()) <= {LATER}
    return set(marked)


@pytest.fixture
def entry(ana: Any) -> RoleMemory:
    """A wrong call with a lesson; the prices that judged it stand."""
    post((DECIDED, "60000"), (END, "58500"))
    return make_wrong(ana)


def test_a_corrected_price_marks_a_decision_until_the_prices_are_the_same_again(entry):
    assert corrected() == set()
    before = RoleMemory.objects.filter(pk=entry.pk).values().get()
    for at, price, judged in ((DECIDED, "61000", "60000"), (END, "59000", "58500")):
        post((at, price))
        assert corrected() == {entry.pk}
        entry.refresh_from_db()
        assert entry_record(entry, None)["price_corrected"] is True
        assert RoleMemory.objects.filter(pk=entry.pk).values().get() == before | {"price_corrected_at": LATER}
        post((at, judged))
        assert corrected() == set()


def test_a_price_that_comes_late_and_lies_nearer_marks_a_decision(ana):
    post((DECIDED + 9 * MINUTE, "60000"), (END + 9 * MINUTE, "58500"))
    judged = {"entry_price_at": DECIDED + 9 * MINUTE, "exit_price_at": END + 9 * MINUTE}
    entry = make_wrong(ana, **judged)
    post((DECIDED - MINUTE, "1"), (DECIDED + 10 * MINUTE, "2"), (END - MINUTE, "3"), (END + 10 * MINUTE, "4"))
    assert corrected() == set()
    post((END + MINUTE, "58500"))  # the same price, and another moment
    assert corrected() == {entry.pk}


def test_what_the_prices_did_not_judge_is_left_alone(entry, ana, ben):
    make_wrong(ana, asset="ETH")
    make_wrong(ana, hours=400)
    make_wrong(ana, is_demo=True)
    make_wrong(ana, entry_price_at=DECIDED - MINUTE)  # by the rule of earlier releases
    make_wrong(ana, role_id="gone.role")
    make_thesis(ana, hours=60)
    make_row(ana, hours=60)
    others = make_wrong(ben)
    post((END, "59000"), owner=ana)  # the instance's of that moment counts before it
    assert corrected() == set()
    post((DECIDED + MINUTE, "59000"), (END + MINUTE, "59000"))
    assert corrected() == set()
    PricePoint.objects.filter(owner=None, at=END).delete()
    post((END, "59500"), owner=ana)
    assert corrected() == {entry.pk}
    post((END, "59000"), owner=ben)
    assert corrected() == {entry.pk, others.pk}
    PricePoint.objects.filter(symbol="BTC").delete()
    post((END + 20 * HOUR, "1"))
    post((DECIDED, "1"))
    assert corrected() == {entry.pk, others.pk}, "no price judges them now"
