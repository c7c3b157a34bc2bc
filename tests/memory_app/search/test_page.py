"""The search page, as a person and as htmx ask for it."""

import re
from datetime import timedelta

import pytest

from memory_app.index.core.query import Note, NoteCode
from memory_app.index.pages import NOTES, note_text
from memory_app.search.views import SHOWN, SYNTAX
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.db import is_sqlite
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


def marks(html):
    return re.findall(r"<mark>(.*?)</mark>", html)


def test_shows_the_box_and_the_syntax(page):
    html = text_of(page.get("/search/"))
    assert 'name="q"' in html
    assert html.count("<dt>") >= len(SYNTAX)
    assert 'id="found"' in html


@table("example", [example for example, _meaning in SYNTAX])
def test_its_examples_work(page, ana, example):
    text = "slippage impact on base, btc trailing stop 止损"
    make_memory(ana, text, category=Category.LESSON, at=NOON.replace(month=5))
    html = text_of(page.get("/search/", {"q": example}))
    assert "Why it was found" in html
    assert "callout" not in html.split("<main")[1]


@pytest.mark.database
def test_marks_what_was_found_and_says_why(page, ana):
    memory = make_memory(ana, "Trail BTC stops by 8%", category=Category.LESSON, source=Source.INFERRED)
    html = text_of(page.get("/search/", {"q": "btc stop"}))
    assert marks(html) == ["BTC", "stops"]
    assert f'href="/memories/{memory.pk}/"' in html
    assert '<span class="cat">lesson</span>' in html
    assert "Inferred" in html
    assert '<span class="ticker">BTC</span>' in html


def test_names_an_import_as_the_list_does(page, ana):
    make_memory(ana, "slippage", source=Source.USER_EXPLICIT, origin="import:MEMORY.md:12")
    html = text_of(page.get("/search/", {"q": "slippage"}))
    assert "Imported" in html
    assert "You said" not in html


def test_answers_htmx_with_the_results_alone(page, ana):
    make_memory(ana, "slippage")
    answer = page.get("/search/", {"q": "slippage"}, headers={"HX-Request": "true"})
    html = text_of(answer)
    assert html.lstrip().startswith("<div")
    assert "<html" not in html
    assert "HX-Request" in answer["Vary"]


@pytest.mark.database
def test_switches_the_order(page, ana):
    old = make_memory(ana, "slippage slippage slippage", at=NOON - timedelta(days=9))
    new = make_memory(ana, "slippage in a longer text about something else", at=NOON)
    places = [f'id="found-{old.pk}"', f'id="found-{new.pk}"']
    best = text_of(page.get("/search/", {"q": "slippage"}))
    recent = text_of(page.get("/search/", {"q": "slippage", "sort": "recent"}))
    assert best.index(places[0]) < best.index(places[1])
    assert recent.index(places[1]) < recent.index(places[0])
    assert 'href="?q=slippage&amp;sort=recent"' in best


def test_says_what_it_repaired_and_why_nothing_came(page, ana):
    make_memory(ana, "slippage")
    html = text_of(page.get("/search/", {"q": "category:nope slippage"}))
    assert "There is no category “nope”." in html
    assert "Nothing matches" in html
    assert "Nothing matches" in text_of(page.get("/search/", {"q": "unheard"}))


def test_shows_more_on_request(page, ana):
    for n in range(SHOWN + 5):
        make_memory(ana, f"slippage number {n}")
    html = text_of(page.get("/search/", {"q": "slippage"}))
    assert html.count('id="found-') == SHOWN + 1  # and the status line
    assert "Show more" in html
    assert text_of(page.get("/search/", {"q": "slippage", "all": "1"})).count('id="found-') == SHOWN + 6


def test_cuts_long_texts_around_the_hit(page, ana):
    make_memory(ana, "word " * 300 + "slippage" + " word" * 300)
    html = text_of(page.get("/search/", {"q": "slippage"}))
    assert marks(html) == ["slippage"]
    assert html.count("word") < 150


@table(("query", "status"), [("a" * 513, 200), ("nul\0", 422), ("(" * 512, 200), ("%", 200)])
def test_explains_what_it_cannot_search(page, query, status):
    assert ('role="alert"' in text_of(page.get("/search/", {"q": query}), status)) is (status == 422)


@pytest.mark.database
def test_lets_an_operator_look_at_everybody(operator_page, ben):
    make_memory(ben, "slippage of ben")
    assert "Nothing matches" in text_of(operator_page.get("/search/", {"q": "slippage"}))
    html = text_of(operator_page.get("/search/", {"q": "slippage", "owner": "all"}))
    assert "slippage" in marks(html)
    assert "ben" in html


@pytest.mark.database
def test_asks_few_queries_whatever_it_finds(page, ana, django_assert_max_num_queries):
    for n in range(SHOWN):
        make_memory(ana, f"slippage btc number {n}")
    # PostgreSQL is told its time limit, in four, and has the log of searches, in five; SQLite's lies in another file.
    with django_assert_max_num_queries(8 if is_sqlite() else 15):
        page.get("/search/", {"q": "slippage btc"})


@table("code", list(NoteCode))
def test_has_words_for_every_note(code):
    assert set(NOTES) == set(NoteCode)
    assert "%(" not in note_text(Note(code, "100%"))
