"""The doors to compiled pages: API, tool and pages (contract, screens, R-48)."""

import hashlib
import html
import re

import pytest
from django.utils import timezone

from memory_app.pages.selectors import PageScope, load_page, open_asset
from minara_site.access.models import AccessEntry
from minara_site.access.policy import Role, Scope
from minara_site.access.principal import Principal
from minara_site.agent.catalogue import call_tool
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.errors import Invalid, NotFound
from tests.kit.api import agent_of
from tests.kit.tables import table
from tests.learning_app.rows import make_methodology
from tests.memory_app.memories.factories import make_memory

pytestmark = pytest.mark.django_db

HOSTILE = [
    "XYZZY", "EUR", "BTC/ETH", "../../etc/passwd", "%2e%2e", "<script>", "BTC%00", "%F0%9F%99%82", "a" * 3000,
    "BTC%0d%0aX: y", "%25", "'; DROP TABLE memories;--", "{{7*7}}", "//evil.example", "%E6", "-", ".",
]  # fmt: skip


def test_the_api_answers_markdown(ana):
    make_memory(ana, "BTC is known")
    make_memory(ana, "No leverage on BTC", fact_type="constraint.hard")
    agent = agent_of(ana)
    response = agent.get("/v1/compiled/BTC")
    assert (response.status_code, response["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    asked = PageScope(ana, open_asset("BTC"), hard_constraints=True)
    assert response.content.decode() == load_page(asked, reader=ana, now=timezone.now()).markdown
    for written in ("btc", "BTC/USDT", "btc-usdt", "%E6%AF%94%E7%89%B9%E5%B8%81", "BTC%2FUSDT"):
        assert agent.get(f"/v1/compiled/{written}").content == response.content
    without = agent.get("/v1/compiled/BTC?hard_constraints=0").content.decode()
    assert "leverage" not in without
    assert "BTC is known" in without
    text = agent.get("/v1/compiled/EUR/USD").content.decode()
    assert text.startswith("# EURUSD\n")
    assert "##" not in text, "no section without memories"
    for query in ("hard_constraints=perhaps", "hard=0"):
        assert agent.get(f"/v1/compiled/BTC?{query}").status_code == 422


@table("name", HOSTILE)
def test_what_names_no_asset_is_missing_at_every_door(ana, page, name):
    expected = 400 if "%00" in name else 404
    assert agent_of(ana).get(f"/v1/compiled/{name}").status_code == expected
    assert page.get(f"/assets/{name}/").status_code == expected


def test_an_operators_key_reads_another_owner_and_leaves_a_line(ana, olga):
    make_memory(ana, "BTC of ana")
    operator = agent_of(olga, *Scope)
    assert "BTC of ana" in operator.get("/v1/compiled/BTC?owner=ana").content.decode()
    look = AccessEntry.objects.get()
    assert (look.viewer, look.owner, look.kind, look.object_id) == (olga, ana, "compiled", "BTC")
    assert operator.get("/v1/compiled/BTC?owner=all").status_code == 404


def test_the_tool_answers_the_same_page(ana):
    make_memory(ana, "EUR/USD fell", category=Category.ALERT)
    make_memory(ana, "No EUR/USD at night", fact_type="constraint.hard")
    agent = Principal(user=ana, role=Role.USER, scopes=frozenset({Scope.MEMORY_READ}), key_prefix="abcdefgh")
    answer = call_tool(agent, "memory_compiled_page", {"asset": "eur-usd"})
    assert (answer["asset"], answer["asset_class"]) == ("EURUSD", "forex")
    assert answer["page"] == agent_of(ana).get("/v1/compiled/EURUSD").content.decode()
    assert "EUR/USD fell" in answer["page"]
    without = call_tool(agent, "memory_compiled_page", {"asset": "EURUSD", "include_hard_constraints": False})
    assert "at night" not in without["page"]
    with pytest.raises(NotFound):
        call_tool(agent, "memory_compiled_page", {"asset": "XYZZY"})
    with pytest.raises(Invalid):
        call_tool(agent, "memory_compiled_page", {"asset": "x" * 101})


def test_the_page_shows_exactly_the_bytes_that_the_agent_reads(ana, page):
    make_memory(ana, "BTC <b>bold</b> & [x](https://evil.example) ❤️")
    body = page.get("/assets/BTC/?show=agent").content.decode()
    shown = html.unescape(re.search(r'id="page-text".*?<span class="bytes">(.*?)</span>', body, re.DOTALL)[1])
    assert shown == agent_of(ana).get("/v1/compiled/BTC").content.decode()
    assert hashlib.sha256(shown.encode()).hexdigest() in body


def test_the_page_shows_the_parts_with_links_to_their_memories(ana, page):
    known = make_memory(ana, "BTC <i>known</i>")
    make_memory(ana, "No leverage on BTC", fact_type="constraint.hard")
    body = page.get("/assets/BTC/").content.decode()
    assert f'href="/memories/{known.pk}/"' in body
    assert "&lt;i&gt;known&lt;/i&gt;" in body
    assert "Hard constraint</span>" in body
    assert '/v1/compiled/BTC"</span>' in body
    assert "leverage" not in page.get("/assets/BTC/?hard_constraints=0").content.decode()


def test_an_address_that_an_agent_wrote_is_marked_and_no_link(ana, page):
    make_memory(
        ana,
        "BTC payout at https://evil.example/pay",
        source="agent_recorded",
        category=Category.LESSON,
        actor="key:x",
    )
    body = page.get("/assets/BTC/").content.decode()
    assert "Not confirmed by you:" in body
    assert 'href="https://evil' not in body


def test_the_list_names_the_assets_with_their_counts_and_every_spelling_leads_to_one(ana, page):
    assert "No asset is known yet" in page.get("/assets/").content.decode()
    make_memory(ana, "BTC one")
    make_memory(ana, "BTC two")
    body = page.get("/assets/").content.decode()
    assert 'href="/assets/BTC/"' in body
    assert "2 memories" in body
    response = page.get("/assets/", {"asset": "<b>XYZZY"})
    assert response.status_code == 404
    assert "&lt;b&gt;XYZZY" in response.content.decode()
    body = page.get("/assets/DOGE/").content.decode()
    assert "Nothing known about DOGE yet" in body
    assert 'href="/memories/new/"' in body
    for written, address in (
        ("btc-usdt/?show=agent", "/assets/BTC/?show=agent"),
        ("?asset=EUR/USD", "/assets/EURUSD/"),
        ("EUR/USD/", "/assets/EURUSD/"),
    ):
        assert page.get(f"/assets/{written}")["Location"] == address


def test_a_method_leads_to_its_page(page):
    method = make_methodology(correct=24, used=31, quarantine=0)
    body = page.get("/assets/BTC/").content.decode()
    assert f'href="/methodologies/{method.uid}/"' in body
    assert "right 24 of 31, bound 0.602" in body


def test_an_operator_opens_the_pages_of_an_owner(operator_page, ana):
    make_memory(ana, "BTC of ana")
    assert 'href="/assets/BTC/?owner=ana"' in operator_page.get("/assets/?owner=ana").content.decode()
    body = operator_page.get("/assets/BTC/?owner=ana").content.decode()
    assert "BTC of ana" in body
    assert "Owner: ana" in body
    assert {each.object_id for each in AccessEntry.objects.filter(owner=ana, kind="compiled")} == {"", "BTC"}
    looks = operator_page.get("/ops/access-log/").content.decode()
    assert "the page of an asset" in looks


def test_pages_take_few_queries(ana, page, django_assert_max_num_queries):
    for number in range(30):
        make_memory(ana, f"BTC and ETH {number}")
    for path in ("/assets/", "/assets/BTC/", "/assets/BTC/?show=agent"):
        with django_assert_max_num_queries(13):
            page.get(path)
