"""The doors to the edges: API and page, for their owner, an operator and a stranger."""

import re
from html import unescape
from http import HTTPStatus
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.entities.drawing import HEIGHT, WIDTH, place_neighbours, short_name
from minara_site.access.models import AccessEntry
from minara_site.access.policy import Scope
from tests.kit.api import MEMORY_FIELDS, agent_of, walk
from tests.kit.page import text_of
from tests.kit.tables import table
from tests.memory_app.edges.factories import remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
TICKER_WIDTH = 34  # five letters of 11 px


def items(answer):
    assert answer.status_code == HTTPStatus.OK, answer.content
    return answer.json()["data"]["items"]


class TestEdges:
    def test_lists_the_edges_of_an_entity(self, ana):
        memory = remember(ana, "long BTC")
        [item] = items(agent_of(ana).get("/v1/edges?entity=btc"))
        assert set(item) == {"edge_type", "entity", "weight", "created_at", "memory"}
        assert item["edge_type"] == "holds"
        entity = {"kind": "ticker", "key": "BTC", "asset_class": "major_crypto", "asset_group": "crypto"}
        assert item["entity"] == entity
        assert set(item["memory"]) == MEMORY_FIELDS
        assert item["memory"]["id"] == memory.pk

    @table("name", ["BTC", "BTC%2FUSDT", "$btc", "%E6%AF%94%E7%89%B9%E5%B8%81", "ticker:btc", "btc-usd"])
    def test_knows_every_spelling(self, ana, name):
        remember(ana, "long BTC")
        assert len(items(agent_of(ana).get(f"/v1/edges?entity={name}"))) == 1

    def test_narrows_by_type(self, ana):
        remember(ana, "bought BTC, later sold BTC")
        remember(ana, "BTC and ETH")
        ask = agent_of(ana).get
        assert [each["edge_type"] for each in items(ask("/v1/edges?entity=BTC&edge_type=exited"))] == ["exited"]
        [pair] = items(ask("/v1/edges?entity=BTC&edge_type=co_occurs_with"))
        assert (pair["entity"]["kind"], pair["entity"]["key"]) == ("pair", "BTC|ETH")
        assert items(ask("/v1/edges?entity=BTC&edge_type=watched")) == []

    @pytest.mark.database
    def test_goes_from_page_to_page_newest_first(self, ana):
        ids = [remember(ana, f"long BTC {number}").pk for number in range(7)]
        pages = walk(agent_of(ana), "/v1/edges?entity=BTC", 3)
        assert [item["memory"]["id"] for page in pages for item in page] == ids[::-1]

    @table("query", ["", "?entity=", "?entity=what+is+it", "?entity=BTC&edge_type=loves",
                                       "?entity=BTC&cursor=x", "?entity=BTC&limit=0", "?entity=BTC&colour=red"])  # fmt: skip
    def test_refuses_what_it_cannot_read(self, ana, query):
        assert agent_of(ana).get(f"/v1/edges{query}").status_code in {400, 422}

    @table("address", ["/v1/edges?entity=BTC&owner=", "/v1/entities/top?owner="])
    def test_lets_the_owner_know_which_operator_read(self, ana, olga, address):
        remember(ana, "long BTC")
        reader = agent_of(olga, Scope.MEMORY_READ, Scope.OPERATOR)
        assert len(items(reader.get(f"{address}ana"))) == 1
        assert AccessEntry.objects.get().owner_id == ana.pk
        assert reader.get("/v1/entities/top?owner=all").status_code == HTTPStatus.NOT_FOUND


class TestTop:
    @pytest.mark.database
    def test_lists_the_entities_of_the_most_memories(self, ana):
        remember(ana, "long BTC and EUR/USD")
        remember(ana, "long BTC on arbitrum")
        data = agent_of(ana).get("/v1/entities/top?limit=2").json()["data"]
        assert (data["looked_at"], data["complete"]) == (2, True)
        found = [(each["kind"], each["key"], each["memories"]) for each in data["items"]]
        assert found == [("ticker", "BTC", 2), ("ticker", "EURUSD", 1)]
        assert [each["asset_group"] for each in data["items"]] == ["crypto", "forex"]


def graph(page, query=""):
    """Return the page of entities."""
    return text_of(page.get(f"/memories/graph/{query}"))


class TestPage:
    def test_says_what_to_do_when_nothing_is_mentioned(self, page):
        assert "Edges appear when memories mention assets" in graph(page)
        assert "No memory mentions DOGE" in graph(page, "?entity=doge")

    def test_lists_what_is_mentioned_most(self, ana, page):
        remember(ana, "long BTC and EUR/USD on arbitrum")
        shown = graph(page)
        for name in ("BTC", "EURUSD", "chain%3Aarbitrum"):
            assert f"?entity={name}" in shown

    @pytest.mark.database
    def test_shows_a_neighbourhood_as_list_and_picture(self, ana, page):
        memory = remember(ana, "long BTC with ETH and SOL")
        remember(ana, "long DOGE on base")
        with CaptureQueriesContext(connection) as queries:
            shown = graph(page, "?entity=btc")
        assert len(queries) <= 12
        assert f'href="/memories/{memory.pk}/"' in shown
        assert 'href="/assets/BTC/"' in shown
        picture = shown[shown.index('<svg class="graph"') : shown.index("</svg>", shown.index('<svg class="graph"'))]
        assert picture.count("<a ") == picture.count('tabindex="-1"') == 2
        assert "style=" not in picture
        assert len(re.findall(r"\?entity=ETH", shown)) == 2, "once in the picture, once in the list"
        alone = graph(page, "?entity=chain:base")
        assert "?entity=DOGE" in alone
        assert '<svg class="graph"' not in alone, "a single neighbour needs no picture"

    def test_leads_back_to_all_entities(self, ana, page):
        remember(ana, "long BTC")
        shown = graph(page, "?entity=BTC&type=exited")
        crumbs = shown[shown.index('<nav class="crumbs"') : shown.index("</nav>", shown.index('<nav class="crumbs"'))]
        assert crumbs.index('<a href="/memories/graph/">Links</a>') < crumbs.index(">BTC<")

    def test_names_a_memory_once_with_all_that_it_says(self, ana, page):
        memory = remember(ana, "long BTC, closed at $66,020, sold BTC")
        shown = graph(page, "?entity=BTC")
        [row] = [each for each in shown.split("<li>") if f'href="/memories/{memory.pk}/"' in each]
        assert row.count('class="badge"') == 2

    def test_goes_on_to_older_memories_and_says_what_was_counted(self, ana, page, monkeypatch):
        monkeypatch.setattr("memory_app.entities.views.MAX_ROWS", 2)
        monkeypatch.setattr("memory_app.entities.selectors.WINDOW", 3)
        ids = [remember(ana, f"long BTC {number}").pk for number in range(3)]
        shown = graph(page, "?entity=BTC")
        assert "counted in the newest" in shown
        assert f"/memories/{ids[0]}/" not in shown
        [older] = re.findall(r'href="(\?[^"]*cursor=[^"]*)"', shown)
        assert f"/memories/{ids[0]}/" in graph(page, unescape(older))

    def test_narrows_the_list_by_edge_type(self, ana, page):
        held, sold = remember(ana, "long BTC"), remember(ana, "sold BTC")
        shown = graph(page, "?entity=BTC&type=exited")
        assert f"/memories/{sold.pk}/" in shown
        assert f"/memories/{held.pk}/" not in shown

    @table("entity", ["<script>alert(1)</script>", "what is this", "scenario:" + "x" * 70])
    def test_says_what_it_cannot_read(self, page, entity):
        shown = text_of(page.get("/memories/graph/", {"entity": entity}))
        assert "No entity" in shown
        assert "<script>alert" not in shown

    def test_has_no_compiled_page_for_what_has_no_class(self, ana, page):
        remember(ana, "long $WHATCOIN")
        assert "/assets/" not in graph(page, "?entity=WHATCOIN").split("<main")[1]

    def test_opens_for_an_operator_and_tells_the_owner(self, ana, operator_page):
        remember(ana, "long BTC")
        assert "BTC" in graph(operator_page, "?owner=ana")
        assert AccessEntry.objects.get().owner_id == ana.pk
        assert operator_page.get("/memories/graph/?owner=all").status_code == HTTPStatus.NOT_FOUND

    def test_names_the_mentions_on_the_page_of_a_memory(self, ana, page):
        memory = remember(ana, "long BTC on arbitrum")
        shown = text_of(page.get(f"/memories/{memory.pk}/"))
        assert 'id="mentions"' in shown
        assert "?entity=BTC" in shown
        assert "?entity=chain:arbitrum" in shown.replace("%3A", ":")
        plain = remember(ana, "nothing to see")
        assert 'id="mentions"' not in text_of(page.get(f"/memories/{plain.pk}/"))


@table("counts", [[], [1], [3, 2, 1], list(range(12, 0, -1))])
def test_places_every_neighbour_inside_the_picture(counts):
    places = place_neighbours(counts)
    assert len(places) == len(counts)
    assert len({(round(each.x), round(each.y)) for each in places}) == len(counts)
    for each in places:
        assert each.radius <= each.x <= WIDTH - each.radius
        assert each.radius <= each.y
        assert each.word_y <= HEIGHT
        assert each.weight in {1, 2, 3}


def test_writes_no_name_over_the_circle_of_another():
    places = place_neighbours([1] * 12)
    for each, other in product(places, places):
        beside = abs(each.x - other.x) > other.radius + TICKER_WIDTH / 2
        assert each is other or beside or not other.y - other.radius < each.word_y < other.y + other.radius


def test_shortens_what_does_not_fit():
    assert short_name("EURUSD") == "EURUSD"
    assert short_name("0x" + "ab" * 20) == "0xabab…abab"
