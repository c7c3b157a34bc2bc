"""`/conversations/<id>/`: the turns of a session as evidence, for their owner and for operators."""

import re

import pytest

from minara_site.access.models import AccessEntry
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.conversations.services import NewTurn, ToolCall, record_turn, start_session
from minara_site.kernel.core.vocabulary import Category, Source
from profile_app.conversations.pages import mark_quotes
from profile_app.conversations.selectors import TURNS_OF_PAGE
from profile_app.portrait.models import FinancialProfile
from tests.kit.clock import NOON
from tests.kit.page import text_of, words_of
from tests.kit.tables import table
from tests.kit.visitor import visitor
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
SECRET = "sk-ant-api03-" + "a1B2c3D4" * 5
SAID = f"<b>Note</b>: I never  sell my Bitcoin. My key is {SECRET}"
QUOTE = "i never sell my bitcoin"


@pytest.fixture
def turns(ana):
    """Record a session of three turns, of which two are read for memories."""
    session = start_session(owner_id=ana.pk, title="Bitcoin", actor="key:abcd1234", now=NOON)
    about = {"owner": ana, "session_id": session.pk, "actor": "key:abcd1234", "now": NOON}
    calls = [ToolCall("get_price", {"symbol": "BTC"}, ok=True)]
    said = [NewTurn("Good morning", "<script>alert(1)</script>"), NewTurn(SAID, "Noted.", calls), NewTurn("Bye", "")]
    recorded = [record_turn(turn=turn, **about) for turn in said]
    cursor = {"last_indexed_chat_id": str(recorded[1].pk), "created_at": NOON, "updated_at": NOON}
    FinancialProfile.objects.create(owner=ana, **cursor)
    return recorded


def page_of(turn, query=""):
    """Return the address of the conversation of a turn."""
    return f"/conversations/{turn.session_id}/{query}"


def make_fact(turn, content, **fields):
    """Store what a rebuild took from a turn."""
    provenance = {"category": Category.PERSONALIZATION, "source": Source.INFERRED}
    origin = f"turn:{turn.session_id}:{turn.sequence}"
    metadata = {"run": 12, "turn": turn.pk, "quote": QUOTE}
    return make_memory(turn.session.owner, content, **provenance, origin=origin, metadata=metadata, **fields)


def test_shows_what_was_said_up_to_where_it_was_read_and_the_facts_of_each_turn(turns, page):
    fact, gone = make_fact(turns[1], "Never sells bitcoin."), make_fact(turns[1], "Is rich.")
    type(gone).objects.filter(pk=gone.pk).update(deleted_at=NOON)
    shown = text_of(page.get(page_of(turns[0])))
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert f"&lt;b&gt;Note&lt;/b&gt;: <mark>I never  sell my Bitcoin</mark>. My key is {SECRET}" in shown
    first, second, third = (words_of(part) for part in re.split(r'<article class="panel" id="turn-\d"', shown)[1:])
    assert "Never sells bitcoin." not in first + third
    assert "Never sells bitcoin." in second
    assert f'href="/memories/{fact.pk}/"' in shown
    assert "Is rich." not in shown
    assert "get_price" in second
    assert "Read for memories up to here" in second
    assert ["Not read yet" in each for each in (first, second, third)] == [False, False, True]
    assert not AccessEntry.objects.exists()


def test_an_operator_reads_it_without_secrets_which_is_logged_and_a_stranger_does_not(turns, ben, operator_page):
    make_fact(turns[1], f"Never sells bitcoin, {SECRET}")
    shown = text_of(operator_page.get(page_of(turns[0])))
    assert "Owner: ana" in shown
    assert "<mark>I never  sell my Bitcoin</mark>" in shown
    assert SECRET not in shown
    [entry] = AccessEntry.objects.filter(kind="conversation")
    assert (entry.owner.username, entry.viewer.username, entry.object_id) == ("ana", "olga", turns[0].session_id)
    assert visitor(ben).get(page_of(turns[0])).status_code == 404
    assert operator_page.get("/conversations/sess_none/").status_code == 404


def test_thousands_of_turns_come_a_page_at_a_time_in_few_queries(turns, page, django_assert_max_num_queries):
    common = {"session": turns[0].session, "user_message": "Hello", "completed": True, "created_at": NOON}
    Turn.objects.bulk_create(Turn(sequence=number, **common) for number in range(4, 3_002))
    for number in range(30):
        make_fact(turns[1], f"Fact {number}")
    cases = (
        ("", 1, 20, "Later turns"),
        ("?turn=abc", 1, 20, "Later turns"),
        ("?turn=20", 1, 20, "Later turns"),
        ("?turn=21", 21, 40, "Earlier turns Later turns"),
        ("?turn=2999", 2_981, 3_000, "Earlier turns Later turns"),
        ("?turn=99999", 3_001, 3_001, "Earlier turns"),
    )
    for query, first, last, links in cases:
        with django_assert_max_num_queries(20):
            shown = text_of(page.get(page_of(turns[0], query)))
        found = [int(number) for number in re.findall(r'<article class="panel" id="turn-(\d+)"', shown)]
        assert found == list(range(first, last + 1)), query
        assert f"{links} Turns {first:,}–{last:,} of 3,001" in words_of(shown)
    assert TURNS_OF_PAGE == 20


def test_a_session_without_turns_says_so(ana, page):
    session = start_session(owner_id=ana.pk, title="", actor="key:abcd1234", now=NOON)
    assert "No chats indexed" in words_of(page.get(f"/conversations/{session.pk}/"))


def test_why_leads_to_the_turn_with_its_words_and_names_the_rebuild(turns, page, operator_page):
    fact = make_fact(turns[1], "Never sells bitcoin.")
    for reader in (page, operator_page):
        shown = text_of(reader.get(f"/memories/{fact.pk}/why/"))
        assert f'href="{page_of(turns[1])}?turn=2#turn-2">turn 2 of a conversation</a>' in shown
        assert re.search(r'<a href="/profile/changes/\?run=12[^"]*">rebuild 12</a>', shown)
        assert f"“{QUOTE}”" in shown


@table(
    "quotes, marked",
    [
        ((), []),
        (("",), []),
        (("like charts",), ["Like\nCharts"]),
        (("charts. (a+b)", "I like"), ["I Like", "Charts. (a+b)"]),
        (("dogecoin",), []),
    ],
)
def test_quotes_are_marked_whatever_their_case_and_white_space(quotes, marked):
    pieces = mark_quotes("I Like\nCharts. (a+b)", quotes)
    assert "".join(text for text, _hit in pieces) == "I Like\nCharts. (a+b)"
    assert [text for text, hit in pieces if hit] == marked
