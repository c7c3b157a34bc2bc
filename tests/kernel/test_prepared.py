"""Prepared queries: composed once, asked with other values, on both engines."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.db.models import CharField, DateTimeField, Value

from minara_site.kernel.conversations.models import Session
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared

pytestmark = pytest.mark.database
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Row(NamedTuple):
    title: str
    created_at: datetime
    part: int


@pytest.fixture
def sessions(ana: Any, ben: Any) -> None:
    for owner in (ana, ben):
        for hour in range(5):
            at, title = NOON + timedelta(hours=hour), f"{owner.username} {hour}"
            Session.objects.create(id=title, owner=owner, title=title, created_at=at, last_active_at=at)


def newest_two(*parts: int) -> Prepared[Row]:
    composed: list[bool] = []

    def build() -> list[Any]:
        assert not composed, "composed a second time"
        composed.append(True)
        until = Parameter("until", DateTimeField())
        rows = Session.objects.filter(owner_id=OWNER_ID, created_at__lte=until).order_by("-created_at")
        return [rows.annotate(part=Value(part)).values_list(*Row._fields)[:2] for part in parts]

    return Prepared(Row, build)


@pytest.mark.usefixtures("sessions")
def test_values_are_given_each_time_and_rows_are_the_orms(ana: Any, ben: Any, django_assert_num_queries: Any) -> None:
    query = newest_two(0)
    for owner, hours in ((ana, 4), (ben, 2), (ana, 0)):
        until = NOON + timedelta(hours=hours)
        with django_assert_num_queries(1):
            found = query.ask(owner_id=owner.pk, until=until)
        rows = Session.objects.filter(owner=owner, created_at__lte=until).order_by("-created_at")[:2]
        assert found == [Row(row.title, row.created_at, 0) for row in rows]


@pytest.mark.usefixtures("sessions")
def test_each_part_keeps_its_order_and_limit(ana: Any, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        found = newest_two(7, 9).ask(owner_id=ana.pk, until=NOON + timedelta(hours=3))
    assert sorted((row.part, row.title) for row in found) == [(7, "ana 2"), (7, "ana 3"), (9, "ana 2"), (9, "ana 3")]


def test_a_value_that_is_missing_is_an_error(db: None) -> None:
    with pytest.raises(KeyError, match="until"):
        newest_two(0).ask(owner_id=1)


@pytest.mark.usefixtures("sessions")
def test_constants_keep_their_order_among_what_is_given(ana: Any) -> None:
    words = ("plain", "it's 100 %", "a.b_c:d", "")
    labels = {f"label_{number}": Value(word, output_field=CharField()) for number, word in enumerate(words)}
    rows = Session.objects.filter(title__contains=" ", owner_id=OWNER_ID).exclude(title__in=["none", "ana 1"])
    query = Prepared(
        lambda *row: row, lambda: [rows.annotate(**labels).order_by("title").values_list("title", *labels)]
    )
    for _asked in range(2):
        assert query.ask(owner_id=ana.pk) == [(f"ana {hour}", *words) for hour in (0, 2, 3, 4)]
