"""Evidence: what was known then, from its owner's own and the instance's, by sources that only read. Trust W-24."""

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from memory_app.memories.models import Memory
from memory_app.roles.core.declarations import NewsSnapshot, OnchainSnapshot, RefetchSource
from memory_app.roles.posthoc import (
    EvidenceContext,
    SourceTool,
    collect_evidence,
    list_sources,
    register_source,
    sources,
)
from memory_app.roles.posthoc.collect import MAX_ITEMS, EvidenceSubject
from memory_app.roles.posthoc.mapper import map_parameters, parse_mapper
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.core.evidence import MAX_ITEM_CHARS, EvidenceItem
from minara_site.kernel.market.services import record_points
from tests.kernel.market.news import endpoint
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory
from tests.memory_app.roles.reflecting import open_market

pytestmark = pytest.mark.django_db
T0, T1 = NOON - timedelta(hours=48), NOON - timedelta(hours=24)
HOUR = timedelta(hours=1)


def collect(owner: Any, *probes: Any, inputs: Any = None, asset: str = "BTC") -> list[EvidenceItem]:
    decision = EvidenceSubject(1, asset, inputs if inputs is not None else {"asset": asset})
    return list(collect_evidence(decision, probes, EvidenceContext(owner, T0, T1, NOON)))


def test_prices_are_those_known_at_each_moment_and_none_is_from_after_the_outcome(ana, ben):
    open_market()
    soon = [Point("BTC", T0 + timedelta(minutes=1), Decimal(7))]
    record_points(points=soon, owner_id=None, source="late", actor="test", now=NOON)
    record_points(
        points=[Point("BTC", T0, Decimal(5))],
        owner_id=ben.pk,
        source="ben",
        actor="test",
        now=NOON,
    )
    found = collect(ana, RefetchSource("get_price", "asset→symbol"))
    assert [(item.label, item.text.split()[0], item.at) for item in found] == [
        ("BTC at the decision", "1048", T0),
        ("BTC at the outcome", "1024", T1),
    ]


def test_memories_are_those_known_at_the_decision(ana, ben):
    make_memory(ana, "BTC breaks out on low volume", at=T0 - HOUR)
    make_memory(ana, "BTC fell after the breakout", at=T0 + HOUR)
    make_memory(ben, "BTC breakout of somebody else", at=T0 - HOUR)
    for probe in (RefetchSource("memory_search", "asset->query"), RefetchSource("memory_read")):
        assert [item.text for item in collect(ana, probe)] == ["BTC breaks out on low volume"]


def test_the_compiled_page_says_that_it_is_todays(ana):
    make_memory(ana, "Trail BTC stops by 8%", at=T0 + HOUR)
    (item,) = collect(ana, RefetchSource("memory_compiled_page", "asset→asset"))
    assert item.label == "BTC, as known now"
    assert item.at == NOON


@table(
    "probe", [RefetchSource("memory_write"), RefetchSource("get_price", "x→y"), RefetchSource("get_price", "nonsense")]
)
def test_a_source_that_fails_is_noted_and_the_next_one_is_asked(ana, probe):
    open_market()
    first, *rest = collect(ana, probe, RefetchSource("get_price", "asset→symbol"))
    assert (first.kind, first.label) == ("note", probe.tool)
    assert len(rest) == 2


def test_a_tool_that_writes_cannot_be_registered():
    with pytest.raises(ValueError, match="only tools that read"):
        register_source(SourceTool("memory_write", ("text",), lambda _look: [], is_read_only=False))
    with pytest.raises(ValueError, match="registered twice"):
        register_source(SourceTool("get_price", (), lambda _look: [], is_read_only=True))


@pytest.mark.database
def test_a_tool_that_lies_about_writing_is_stopped(ana, monkeypatch):
    memory = make_memory(ana)

    def lie(context: EvidenceContext) -> Iterator[EvidenceItem]:
        yield EvidenceItem("note", "lie", "begun")
        Memory.objects.filter(pk=memory.pk).update(content="changed")

    monkeypatch.setitem(sources._sources, "lie", SourceTool("lie", (), lie, is_read_only=True))
    (item,) = collect(ana, RefetchSource("lie"))
    assert "WriteRefused" in item.text
    assert Memory.objects.get(pk=memory.pk).content == memory.content


@pytest.mark.database
def test_the_reflector_reaches_no_tool_that_writes(ana):
    from minara_site.agent.catalogue import load_tools

    writing = {name for name, tool in load_tools().items() if not tool.is_read_only}
    assert writing
    assert not writing & {source.name for source in list_sources()}
    assert all(source.is_read_only for source in list_sources())
    memory = make_memory(ana, at=T0 - HOUR)
    for source in list_sources():
        inputs = dict.fromkeys(source.parameters, "BTC") | {"category": memory.category}
        found = collect(ana, RefetchSource(source.name), inputs=inputs)
        assert found, source.name
        assert "failed" not in found[0].text, source.name


def test_evidence_is_bounded_and_holds_no_control(ana, monkeypatch):
    items = [EvidenceItem("x" * 90, "l\x00\n" * 90, "t\u202e\x00<b>" + "y" * 900)] * 90
    monkeypatch.setitem(
        sources._sources,
        "many",
        SourceTool("many", (), lambda _look: items, is_read_only=True),
    )
    found = collect(ana, RefetchSource("many"))
    assert len(found) == MAX_ITEMS
    assert len(found[0].text) == MAX_ITEM_CHARS
    assert "\x00" not in json.dumps([item.as_json() for item in found])


def test_the_mapper_reads_pairs_and_hands_on_scalars_only():
    assert parse_mapper("asset→symbol, side->direction") == [("asset", "symbol"), ("side", "direction")]
    assert map_parameters("asset→symbol", {"asset": "BTC", "symbol": "ETH"}, ("symbol",)) == {"symbol": "BTC"}
    assert map_parameters("", {"symbol": "ETH", "other": 1}, ("symbol",)) == {"symbol": "ETH"}
    assert map_parameters("asset→symbol", {"asset": ["BTC"]}, ("symbol",)) == {}
    assert map_parameters("asset→symbol", {"asset": "x" * 999}, ("symbol",)) == {"symbol": "x" * 200}
    for wrong in ("asset", "asset→", "a→b→c", "asset→symbol;b→c", ","):
        with pytest.raises(ValueError, match="pairs"):
            parse_mapper(wrong)
    with pytest.raises(ValueError, match="takes no"):
        map_parameters("asset→amount", {}, ("symbol",))


def test_events_between_decision_and_outcome_are_evidence(ana, settings):
    items = [{"at": (T0 + HOUR).isoformat(), "text": "ETF approved", "source": "wire"}]
    items += [{"at": (T1 + HOUR).isoformat(), "text": "after the outcome"}]
    with endpoint(json.dumps(items).encode()) as (url, _asked):
        update = {"minara_news_url": url, "minara_onchain_url": url}
        settings.MINARA = settings.MINARA.model_copy(update=update)
        found = collect(ana, NewsSnapshot(), OnchainSnapshot())
    assert found == [EvidenceItem(kind, "wire", "ETF approved", T0 + HOUR) for kind in ("news", "onchain")]


@table("given", ["..", "../../admin", "x" * 3000, "", 7])
def test_what_is_no_symbol_reaches_no_endpoint(ana, settings, given):
    with endpoint(b"[]") as (url, asked):
        settings.MINARA = settings.MINARA.model_copy(update={"minara_news_url": url + "/{asset}/news"})
        (item,) = collect(ana, NewsSnapshot(), asset="", inputs={"asset": given})
    assert (asked, item.kind) == ([], "note")


def test_without_an_address_the_evidence_says_that_nobody_was_asked(ana):
    found = collect(ana, NewsSnapshot(), OnchainSnapshot())
    assert [item.text for item in found] == [
        "not looked at: MINARA_NEWS_URL is not set",
        "not looked at: MINARA_ONCHAIN_URL is not set",
    ]
