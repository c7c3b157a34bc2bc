"""The search lab: three orders of one query, and why meaning has no say."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.embeddings.models import MemoryVector
from memory_app.index.adapters.sql import SearchTooSlow
from memory_app.index.core.request import Fusion
from memory_app.search import meaning
from memory_app.search.answers import FEATURES
from memory_app.search.core.weights import WEIGHTS
from memory_app.search.lab import Fallback, compare_arms
from memory_app.search.lab_views import EXAMPLES
from memory_app.search.selectors import search_memories
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.ownership import EVERYONE
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
TEXTS = ("stop-losses on BTC should trail by 8%", "altcoin drawdown overnight", "prefers green tea", "BTC halving")


@pytest.fixture
def library(ana):
    return [make_memory(ana, text, at=NOON + timedelta(minutes=at)) for at, text in enumerate(TEXTS)]


def lab(page, **values):
    return text_of(page.get("/memories/search-lab/", values))


def test_every_feature_has_words():
    assert FEATURES.keys() == WEIGHTS.keys()


def test_offers_examples_before_anything_is_asked(page, library):
    html = lab(page)
    assert all(f">{example}</a>" in html for example, _meaning in EXAMPLES)
    assert "Compare rankings" in html


@pytest.mark.database
def test_its_columns_are_what_the_searches_find(ana, library, embed):
    embed()
    for fusion in (Fusion.DEFAULT, Fusion.RRF):
        found = compare_arms(owner=ana, query="BTC stop losses", fusion=fusion)
        assert found.fallback is None
        for each in (Fusion.TEXT, Fusion.MEANING, fusion):
            expected = search_memories(owner=ana, query="BTC stop losses", fusion=each, explain=True).hits
            assert [(hit.id, hit.score) for hit in found.columns[each]] == [(hit.id, hit.score) for hit in expected]


def test_shows_three_columns_with_their_parts(page, library, embed):
    embed()
    with CaptureQueriesContext(connection) as queries:
        html = lab(page, q="how far does the BTC stop trail")
    assert sum(each["sql"].startswith("SELECT") for each in queries) <= 12
    assert all(f'id="h-{column}"' in html for column in ("text", "meaning", "default"))
    assert "words of the query in it" in html
    assert '<span class="ticker">BTC</span>' in html
    assert "by meaning alone" in html
    assert 'id="h-rrf"' in lab(page, q="stop", fusion="rrf")


def test_the_search_page_says_what_made_a_score_and_what_only_meaning_found(page, library, embed):
    embed()
    html = text_of(page.get("/search/", {"q": "how far does the BTC stop trail"}))
    assert "words of the query in it" in html
    assert "<dd>by meaning alone</dd>" in html
    assert "by its filters alone" not in html


@table(("fusion", "words"), [("rrf", "Reciprocal ranks (RRF)"), ("meaning", "By meaning"), ("text", "By words")])
def test_the_search_page_names_another_fusion_and_keeps_it_for_the_next_query(page, library, embed, fusion, words):
    embed()
    html = page.get("/search/", {"q": "BTC", "fusion": fusion}).content.decode()
    assert f"<b>{words}</b>" in html
    assert f'<input type="hidden" name="fusion" value="{fusion}">' in html
    assert ("1 / (60 + place) of both" in html) is (fusion == "rrf")


@table("fusion", ["", "default", "RRF", "'><script>"])
def test_the_search_page_takes_any_other_word_for_the_default(page, library, embed, fusion):
    embed()
    html = page.get("/search/", {"q": "BTC stop", "fusion": fusion}).content.decode()
    assert "words of the query in it" in html
    assert 'name="fusion"' not in html
    assert "<script>'" not in html


def test_says_that_nothing_waits_for_a_vector(page, enable):
    enable("local")
    assert "No memory has a vector, and none waits for one." in lab(page, q="stop")


def test_says_that_meaning_is_off(page, library):
    html = lab(page, q="BTC")
    assert "EMBEDDING_PROVIDER is disabled" in html
    assert 'id="h-text"' in html
    assert 'id="h-meaning"' not in html


def test_says_why_words_alone_find(page, ana, library, embed, enable, endpoint):
    enable("local")
    assert "No vectors yet: 4 memories are pending." in lab(page, q="BTC")
    embed()
    assert compare_arms(owner=ana, query="BTC AND stop").fallback is Fallback.WORDS_ONLY
    assert compare_arms(owner=EVERYONE, query="BTC").fallback is Fallback.WORDS_ONLY
    endpoint.status = 500
    enable("openai", base_url=endpoint.url, api_key="sk-test")
    assert "did not answer" in lab(page, q="BTC")
    assert MemoryVector.objects.count() == len(TEXTS)


def test_says_that_the_vectors_took_too_long(page, ana, library, embed, monkeypatch):
    def stop(**_asked):
        raise SearchTooSlow

    embed()
    monkeypatch.setattr(meaning, "find_nearest", stop)
    found = compare_arms(owner=ana, query="BTC")
    assert (found.fallback, list(found.columns)) == (Fallback.TOO_SLOW, [Fusion.TEXT])
    assert "Comparing the vectors took too long." in lab(page, q="BTC")


@table("query", ['"no such words" category:lesson', "category:lesson losses", "before:2001 losses"])
def test_blames_nobody_when_the_query_leaves_nothing(ana, library, embed, query):
    embed()
    found = compare_arms(owner=ana, query=query)
    assert (found.fallback, dict(found.columns)) == (None, {Fusion.TEXT: ()})


def test_a_column_alone_speaks_of_no_other(page, ana, library, embed):
    embed()
    make_memory(ana, "cut losses", category=Category.LESSON)
    html = lab(page, q="category:lesson losses")
    assert "cut <mark>losses</mark>" in html
    assert "fused" not in html.partition('id="found"')[2]


def test_what_has_no_vector_yet_stands_without_a_cosine(page, ana, library, embed):
    embed()
    make_memory(ana, "rebalance the ladder every March")
    assert "rebalance" in lab(page, q="rebalance the ladder")


def test_a_word_of_two_letters_has_a_meaning_too(ana, library, embed):
    embed()
    found = compare_arms(owner=ana, query="ok")
    assert (found.fallback, len(found.columns)) == (None, 3)


def test_a_fragment_is_the_result_alone(page, library):
    answer = page.get("/memories/search-lab/", {"q": "BTC"}, headers={"HX-Request": "true"})
    assert text_of(answer).lstrip().startswith('<div class="stack" id="found">')


@table("values", [{"q": "BTC", "as_of": "yesterday"}, {"q": "a\0b"}])
def test_says_what_it_cannot_read(page, values):
    assert 'role="alert"' in text_of(page.get("/memories/search-lab/", values), 422)


@pytest.mark.database
def test_searches_as_of_a_day(page, library):
    assert "by 8%" in lab(page, q="trail", as_of="2026-06-12")
    assert "by 8%" not in lab(page, q="trail", as_of="2026-06-11")
    html = text_of(page.get("/search/", {"q": "trail", "as_of": "2026-06-11"}))
    assert "by 8%" not in html
    assert "/memories/search-lab/?q=trail" in html
