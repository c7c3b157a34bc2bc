"""Headlines and figures between two moments, from an endpoint that is real and sometimes answers nonsense."""

import json
from datetime import timedelta
from typing import Any

import pytest

from minara_site.kernel.market.events import (
    LIMITS,
    MAX_EVENTS,
    EventKind,
    PriceEvent,
    SourceDisabled,
    SourceFailed,
    find_events,
)
from tests.kernel.market.news import endpoint
from tests.kit.clock import NOON
from tests.kit.tables import table

T0, T1 = NOON - timedelta(hours=48), NOON - timedelta(hours=24)
HOUR = timedelta(hours=1)


@pytest.fixture
def find(settings):
    """A function that sets the address of headlines and asks it."""

    def ask(url: str, asset: str = "BTC") -> list[PriceEvent]:
        settings.MINARA = settings.MINARA.model_copy(update={"minara_news_url": url})
        return find_events(EventKind.NEWS, asset, since=T0, until=T1)

    return ask


def item(at: Any, text: str = "ETF approved") -> dict[str, Any]:
    return {"at": at.isoformat() if hasattr(at, "isoformat") else at, "text": text}


def test_events_lie_between_both_moments_and_are_ten_at_most(find):
    tick = timedelta(microseconds=1)
    items = [
        item(T0 - tick, "before"),
        item(T1 + tick, "after"),
        item("soon", "no time"),
        {"at": T0.isoformat()},
    ]
    items += [item(T1, "last"), item(T0, "first")]
    items += [item(T0 + HOUR * number, f"news {number}") for number in range(1, 25)]
    with endpoint(json.dumps({"items": items}).encode()) as (url, asked):
        found = find(url + "/news?q={asset}&from={since}&to={until}", "BTC&x=1")
    assert [event.text for event in found] == ["first", *(f"news {number}" for number in range(1, 9)), "last"]
    assert len(found) == MAX_EVENTS
    assert asked == ["/news?q=BTC%26x%3D1&from=2026-06-10T12%3A00%3A00Z&to=2026-06-11T12%3A00%3A00Z"]


def test_an_item_may_be_written_in_several_ways(find):
    at = T0 + HOUR
    items = [
        {"name": "active addresses", "value": 812_000, "at": int(at.timestamp())},
        {"title": "ETF approved", "published_at": at.replace(tzinfo=None).isoformat(), "source": "wire"},
        {"text": "too far", "at": 1e300},
        {"name": "no value", "at": at.isoformat()},
        "no object",
    ]
    with endpoint(json.dumps(items).encode()) as (url, _asked):
        assert find(url) == [
            PriceEvent(EventKind.NEWS, "news", "active addresses: 812000", at),
            PriceEvent(EventKind.NEWS, "wire", "ETF approved", at),
        ]


@table(
    ("body", "status"),
    [
        (b"", 200),
        (b"<html>", 200),
        (b'{"items": 7}', 200),
        (b"[" * 99_999, 200),
        (b"[]", 500),
        (b"[]", 302),
        (b" " * LIMITS.max_bytes + b"[]", 200),
    ],
)
def test_an_endpoint_that_answers_nonsense_has_failed(find, body, status):
    with endpoint(body, status) as (url, asked):
        with pytest.raises(SourceFailed):
            find(url)
        assert len(asked) == 1, "no redirect is followed"


@table("url", ["http://127.0.0.1:9/", "http://[::1", "ftp://127.0.0.1/"])
def test_an_address_that_leads_nowhere_has_failed(find, url):
    with pytest.raises(SourceFailed):
        find(url)


def test_without_an_address_nobody_is_asked(settings):
    for kind, variable in ((EventKind.NEWS, "MINARA_NEWS_URL"), (EventKind.ONCHAIN, "MINARA_ONCHAIN_URL")):
        with pytest.raises(SourceDisabled, match=variable):
            find_events(kind, "BTC", since=T0, until=T1)
