"""What a search finds, in which order, and why: the same on both engines."""

import sys
from datetime import timedelta

import pytest
from django.db import connection

from memory_app.index import adapters
from memory_app.index.adapters import postgresql, sqlite
from memory_app.index.adapters.sql import SearchTooSlow
from memory_app.index.core.query import NoteCode
from memory_app.index.core.request import Fusion, Sort
from memory_app.index.selectors import limited, narrow
from memory_app.memories.models import Memory
from memory_app.search import selectors
from memory_app.search.lab import compare_arms
from memory_app.search.selectors import search_memories
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.errors import Invalid
from minara_site.kernel.ownership import EVERYONE
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LIBRARY = {
    "slip": ("user always sets slippage to 0.5% on swaps", Category.PREFERENCE, Source.USER_EXPLICIT),
    "meme": ("user avoided meme coins throughout Q1", Category.OBSERVATION, Source.INFERRED),
    "trade": ("long ETH from $3,200, closed at $3450, +7.8%", Category.TRADE_OUTCOME, Source.AGENT_RECORDED),
    "trail": ("stop-losses on BTC should trail by 8% not 5%", Category.LESSON, Source.USER_MANUAL),
    "pair": ("avoid BTC-USD and EUR/USD before the ECB", Category.PREFERENCE, Source.USER_MANUAL),
    "stop": ("用户长期持有 BTC，止损线设为 5%", Category.PREFERENCE, Source.CHAT_EXTRACTED),
    "alts": ("山寨币崩了", Category.ALERT, Source.INFERRED),
    "slips": ("payslips are slippery", Category.REFERENCE, Source.USER_MANUAL),
    "quote": ("the user's rule: never say never", Category.REFERENCE, Source.USER_MANUAL),
    "moon": ("🚀 100% to the moon_shot", Category.OBSERVATION, Source.INFERRED),
    "impact": ("price impact on base above 1% is too much", Category.LESSON, Source.LEARNED_PREFERENCE),
}


@pytest.fixture
def library(ana):
    """Memories by name, each a minute newer than the one before."""
    return {
        name: make_memory(ana, content, category=category, source=source, at=NOON + timedelta(minutes=minute))
        for minute, (name, (content, category, source)) in enumerate(LIBRARY.items())
    }


def names(library, result):
    ids = {memory.pk: name for name, memory in library.items()}
    return [ids[hit.id] for hit in result.hits]


@table(
    ("query", "expected"),
    [
        ("slippage", {"slip"}),
        ('"always sets"', {"slip"}),
        ('"sets always"', {"slip"}),
        ('"sets always" AND meme', set()),
        ('btc NOT "usd btc"', {"trail", "pair", "stop"}),
        ("slippage AND swaps", {"slip"}),
        ("slippage AND meme", set()),
        ("slippage OR impact", {"slip", "impact"}),
        ("slippage impact", {"slip", "impact"}),
        ("category:preference slippage", {"slip"}),
        ("category:lesson slippage", set()),
        ("category:trade_outcome", {"trade"}),
        ("category:lesson", {"trail", "impact"}),
        ("slip*", {"slip", "slips"}),
        ("BTC-USD", {"pair"}),
        ("btc/usd", {"pair"}),
        ("EUR/USD", {"pair"}),
        ("0.5%", {"slip"}),
        ("$3200", {"trade"}),
        ("3,200", {"trade"}),
        ("user's", {"slip", "meme", "quote"}),
        ("stopping loss", {"trail"}),
        ("btc NOT usd", {"trail", "stop"}),
        ("btc AND NOT usd", {"trail", "stop"}),
        ("NOT category:preference btc", {"trail"}),
        ("(eth OR btc) AND trail", {"trail"}),
        ("止损", {"stop"}),
        ("止", {"stop"}),
        ("山寨币", {"alts"}),
        ("币崩", {"alts"}),
        ("我的止损线是多少", {"stop"}),
        ("BTC 止损", {"stop", "trail", "pair"}),
        ('"BTC，止损"', {"stop"}),
        ("what is the slippage", {"slip"}),
        ("source:agent_recorded", {"trade"}),
        ("source:inferred coins", {"meme"}),
        ("NOT source:inferred user", {"slip", "quote"}),
        ("🚀", {"moon"}),
        ("_", {"moon"}),
        ("%_", set()),
        ("/", {"pair"}),
        ("nothing of this kind", set()),
        ("category:nope slippage", set()),
        ("", set()),
        ("   ", set()),
    ],
)
def test_finds(ana, library, query, expected):
    assert set(names(library, search_memories(owner=ana, query=query))) == expected


def test_finds_everything_else_without_a_word(ana, library):
    found = set(names(library, search_memories(owner=ana, query="NOT btc", limit=50)))
    assert found == library.keys() - {"trail", "pair", "stop"}


@table(
    ("query", "first"),
    [
        ("What slippage does the user set on swaps?", "slip"),
        ("Which coins did the user avoid in Q1?", "meme"),
        ("how far should a stop loss on btc trail", "trail"),
        ("price impact on base", "impact"),
        ("ECB EUR/USD", "pair"),
    ],
)
def test_answers_a_question_first(ana, library, query, first):
    assert names(library, search_memories(owner=ana, query=query))[0] == first


def test_orders_by_score(ana, library):
    scores = [hit.score for hit in search_memories(owner=ana, query="user btc slippage trail").hits]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_sorts_by_recency(ana, library):
    found = search_memories(owner=ana, query="btc", sort=Sort.RECENT)
    assert names(library, found) == ["stop", "pair", "trail"]


def test_lists_filters_alone_newest_first(ana, library):
    assert names(library, search_memories(owner=ana, query="category:preference")) == ["stop", "pair", "slip"]


def test_narrows_by_days(ana):
    old = make_memory(ana, "slippage once", at=NOON - timedelta(days=60))
    new = make_memory(ana, "slippage now", at=NOON)
    assert [hit.id for hit in search_memories(owner=ana, query="slippage after:2026-06-12").hits] == [new.pk]
    assert [hit.id for hit in search_memories(owner=ana, query="slippage before:2026-06-12").hits] == [old.pk]


def test_narrows_by_the_arguments(ana, library):
    assert names(library, search_memories(owner=ana, query="btc", category=Category.LESSON)) == ["trail"]
    assert names(library, search_memories(owner=ana, query="btc", source=Source.CHAT_EXTRACTED)) == ["stop"]


def test_keeps_to_the_limit(ana):
    for n in range(30):
        make_memory(ana, f"slippage number {n}")
    assert len(search_memories(owner=ana, query="slippage").hits) == 10
    assert len(search_memories(owner=ana, query="slippage number", limit=25).hits) == 25


def test_fills_the_limit_past_deleted_and_filtered_rows(ana):
    """The best documents are cut before their memories are looked at; what that loses must be made up for."""
    for n in range(60):
        make_memory(ana, "slippage slippage slippage", deleted_at=NOON if n % 2 else None)
    live = [make_memory(ana, f"slippage in a longer text, number {n}") for n in range(12)]
    Memory.objects.filter(content="slippage slippage slippage").update(deleted_at=NOON)
    assert {hit.id for hit in search_memories(owner=ana, query="slippage", limit=12).hits} == {row.pk for row in live}


@table("query", ["slippage", "slippage swaps", "slippage AND swaps", '"swaps slippage"', "slip* number"])
def test_lets_the_engine_choose_from_very_many_matches(ana, query, monkeypatch):
    for n in range(40):
        make_memory(ana, f"swaps slippage number {n}" + " and so on" * (n % 7))
    make_memory(ana, "slippage number one")
    monkeypatch.setattr(selectors, "MAX_MATCHES", 10)
    monkeypatch.setattr(selectors, "MAX_CHOSEN", 20)
    few = search_memories(owner=ana, query=query)
    monkeypatch.undo()
    whole = search_memories(owner=ana, query=query)
    assert len(few.hits) == len(whole.hits) == 10
    assert few.hits[0].id == whole.hits[0].id
    assert all(hit.score > 0 for hit in few.hits)


def test_stops_a_query_that_takes_too_long(ana, library, monkeypatch):
    engine = adapters.backend("default")
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000) SELECT count(*) FROM n"
    monkeypatch.setattr(sys.modules[type(engine).__module__], "TIME_LIMIT_SECONDS", 0.2)
    with pytest.raises(SearchTooSlow), adapters.time_limit("default"):
        engine.rows((slow, []))
    monkeypatch.undo()
    assert search_memories(owner=ana, query="slippage").hits


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite compiles nothing")
def test_postgresql_compiles_no_search_and_the_callers_transaction_goes_on_as_it_was(db):
    def setting():
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('jit'), current_setting('statement_timeout')")
            return cursor.fetchone()

    before = setting()
    with adapters.time_limit("default"):
        assert setting() == ("off", "2s")
    assert setting() == before


def test_says_why(ana, library):
    (hit,) = [
        hit for hit in search_memories(owner=ana, query="BTC trail 8%", explain=True).hits if "trail" in hit.content
    ]
    assert hit.explain is not None
    assert set(hit.explain.matched) == {"btc", "trail", "8"}
    assert hit.explain.entities == ("BTC",)
    assert hit.explain.rank == 1
    assert hit.score == pytest.approx((hit.explain.bm25 + hit.explain.closeness) * 1.3)


def test_explains_only_when_asked(ana, library):
    assert search_memories(owner=ana, query="btc").hits[0].explain is None


def test_lifts_what_shares_the_asset_by_another_name(ana):
    plain = make_memory(ana, "entry of the swing position was late")
    named = make_memory(ana, "比特币 entry of the swing trade position was a late one")
    found = search_memories(owner=ana, query="bitcoin entry position", explain=True)
    assert [hit.id for hit in found.hits] == [named.pk, plain.pk]
    assert found.hits[0].explain.entities == ("BTC",)


NAMES = {
    "eth": "trimmed ETH into strength",
    "ethereum": "Ethereum gas is cheap on Sundays",
    "以太": "以太坊跌破支撑就减仓",
    "btc": "bought $btc on the dip",
    "bitcoin": "bitcoin leads, gas or not",
    "大饼": "大饼跌破就加仓",
    "aapl": "AAPL calls expire worthless",
    "apple": "Apple beats on services",
    "苹果": "苹果公司的财报超预期",
    "pie": "apple pie for breakfast",
    "link": "LINK unlocks next week",
    "chainlink": "Chainlink staking opened",
    "click": "click the link twice",
    "黄金": "黄金占一成",
    "cross": "日线出现黄金交叉",
    "gold": "Gold hedges the book",
    "wti": "WTI settled lower",
    "crude": "sold crude oil futures",
    "pair": "ETH/BTC keeps falling",
}
ETH, BTC, AAPL = {"eth", "ethereum", "以太", "pair"}, {"btc", "bitcoin", "大饼", "pair"}, {"aapl", "apple", "苹果"}


@table(
    ("query", "expected"),
    [
        ("以太坊", ETH),
        ("ethereum", ETH),
        ("ETH", ETH),
        ("$eth", ETH),
        ("ＥＴＨ", ETH),
        ("以太坊什么时候减仓", ETH),
        ("大饼", BTC),
        ("比特币", BTC),
        ("bitcoin", BTC),
        ("btc", BTC),
        ("苹果公司", AAPL),
        ("AAPL", AAPL),
        ("Apple", AAPL | {"pie"}),
        ("apple", {"apple", "pie"}),  # not written for the asset
        ("chainlink", {"chainlink", "link"}),
        ("LINK", {"chainlink", "link", "click"}),
        ("link", {"link", "click"}),
        ("XAU", {"黄金", "gold"}),
        ("crude oil", {"crude", "wti"}),
        ("原油", {"crude", "wti"}),
        ("大饼 ethereum", ETH | BTC),
        ("比特币 AND gas", {"bitcoin"}),
        ("gas AND (大饼 OR chainlink)", {"bitcoin"}),
        ("gas NOT 大饼", {"ethereum"}),
        ("gas NOT (ETH week)", {"bitcoin"}),
        ("twice NOT chainlink", {"click"}),
        ("大饼 category:lesson", set()),
        ('"ethereum"', {"ethereum"}),
        ('"Gold" 以太坊', {"gold"}),
        ("ether*", {"ethereum"}),
        ("ETH/BTC", {"pair"}),
    ],
)
def test_finds_an_asset_by_any_of_its_names(ana, query, expected):
    rows = {name: make_memory(ana, content) for name, content in NAMES.items()}
    found = search_memories(owner=ana, query=query, limit=50)
    assert set(names(rows, found)) == expected
    assert all(any(is_hit for _text, is_hit in hit.highlights) for hit in found.hits)
    assert set(narrow(Memory.objects.all(), owner=ana, query=query)) == {rows[name] for name in expected}
    assert set(names(rows, search_memories(owner=EVERYONE, query=query, limit=50))) == expected
    assert set(names(rows, search_memories(owner=ana, query=query, limit=50, sort=Sort.RECENT))) == expected


def test_a_name_counts_as_what_was_typed(ana):
    texts = ("ethereum slippage was high", "weth slippage was high", "以太坊的 slippage", "slippage was really high")
    for text in texts:
        make_memory(ana, text)
    found = search_memories(owner=ana, query="ethereum slippage", explain=True).hits
    assert tuple(hit.content for hit in found) == texts
    assert found[0].explain.bm25 == found[1].explain.bm25 > 2 * found[3].explain.bm25
    assert found[2].highlights == (("以太坊", True), ("的 ", False), ("slippage", True))


@pytest.mark.parametrize("most", [selectors.MAX_MATCHES, 2])
def test_ranks_names_among_very_many_matches(ana, monkeypatch, most):
    for number in range(6):
        make_memory(ana, f"click the coin number {number} twice")
        make_memory(ana, f"COIN and Coinbase, note {number}")
    named = make_memory(ana, "COIN, COIN, COIN")
    monkeypatch.setattr(selectors, "MAX_MATCHES", most)
    found = search_memories(owner=ana, query="coinbase", limit=50).hits
    assert len(found) == 7
    assert named.pk in {hit.id for hit in found}


@table(
    ("query", "expected"),
    [
        ("asset:ETH", ["swap", "pair", "eth", "以太"]),
        ("asset:以太坊", ["swap", "pair", "eth", "以太"]),
        ("asset:eth/usdt", ["swap", "pair", "eth", "以太"]),
        ("ASSET:$Ethereum", ["swap", "pair", "eth", "以太"]),
        ("asset:bitcoin", ["pair"]),
        ("asset:EUR/USD", ["euro"]),
        ("asset:BTC asset:EURUSD", ["pair", "euro"]),
        ('asset:"S&P 500"', []),
        ("asset:LINK", []),  # a common word is no link
        ("asset:dollars", []),
        ("asset:%", []),
        ("NOT asset:ETH", ["click", "euro"]),
        ("NOT asset:ETH link", ["click"]),
        ("NOT asset:% link", ["click"]),
        ("asset:ETH stop", ["eth"]),
        ("stop AND asset:BTC", []),
        ("asset:ETH NOT stop category:lesson", ["pair"]),
        ("asset:ETH after:2026-06-13", []),
        ("asset:BTC NOT asset:ETH", []),
        ('asset:ETH "high beta"', ["pair"]),
    ],
)
def test_keeps_what_is_linked_to_an_asset(ana, ben, query, expected):
    make_memory(ben, "ETH stop of ben")
    texts = {
        "以太": ("以太坊仓位减半", Category.PREFERENCE),
        "eth": ("trail the ETH stop", Category.PREFERENCE),
        "euro": ("fade EUR/USD rallies", Category.PREFERENCE),
        "pair": ("BTC over ETH, the high beta", Category.LESSON),
        "click": ("click the link for dollars", Category.PREFERENCE),
    }
    rows = {
        name: make_memory(ana, content, category=category, at=NOON + timedelta(minutes=minute))
        for minute, (name, (content, category)) in enumerate(texts.items())
    }
    rows["swap"] = make_memory(ana, "closed the swap", at=NOON + timedelta(hours=1), tickers=["ETH"])
    for options in ({}, {"fusion": Fusion.TEXT}, {"sort": Sort.RECENT}, {"as_of": NOON + timedelta(hours=2)}):
        found = search_memories(owner=ana, query=query, **options)
        assert names(rows, found) == expected
    assert set(narrow(Memory.objects.for_owner(ana), owner=ana, query=query)) == {rows[name] for name in expected}
    everybody = search_memories(owner=EVERYONE, query=f"{query} category:lesson NOT category:observation")
    assert set(names(rows, everybody)) == set(expected) & {"pair"}


def test_marks_each_hit(ana, library):
    for query in ("slippage", "0.5%", "止损", "slip*", '"trail by"', "user coins"):
        for hit in search_memories(owner=ana, query=query).hits:
            assert "".join(text for text, _is_hit in hit.highlights) == hit.content
            assert any(is_hit for _text, is_hit in hit.highlights), (query, hit.content)


@table(
    ("query", "expected"),
    [
        ('"always sets"', []),
        ('"always use', [NoteCode.QUOTE_IGNORED]),
        ('"sets always"', [NoteCode.PHRASE_AS_WORDS]),
        ('"sets nowhere"', [NoteCode.PHRASE_AS_WORDS]),
        ('"heard of nowhere"', []),  # neither it nor its words: nothing else was found
        ("slippage" + " " * 504 + "x", [NoteCode.CUT]),
        ("what slippage", []),
        ("the slippage", [NoteCode.COMMON_WORDS]),
        ("the AND slippage", []),
        ('"always sets" the', []),
        ('"what the slippage"', [NoteCode.PHRASE_AS_WORDS, NoteCode.COMMON_WORDS]),
    ],
)
@pytest.mark.database
def test_says_how_the_query_was_read_where_that_changed_what_it_found(ana, library, query, expected):
    assert [note.code for note in search_memories(owner=ana, query=query).notes] == expected
    assert [note.code for note in compare_arms(owner=ana, query=query).notes] == expected


def test_keeps_quiet_about_common_words_where_no_place_is_left(ana, library):
    assert search_memories(owner=ana, query="the slippage", limit=1).notes == ()
    recent = search_memories(owner=ana, query="the slippage", limit=1, sort=Sort.RECENT)  # a newer one has "the"
    assert [note.code for note in recent.notes] == [NoteCode.COMMON_WORDS]


@table("query", ["nul \0", "\ud800", "a" * 513 + "\0"])
def test_refuses_what_is_no_query(ana, query):
    with pytest.raises(Invalid):
        search_memories(owner=ana, query=query)


def test_narrows_a_list(ana, ben, library):
    rows = Memory.objects.for_owner(ana)
    make_memory(ben, "slippage of ben")
    assert set(narrow(rows, owner=ana, query="slip* OR category:lesson")) == set()
    assert set(narrow(rows, owner=ana, query="slip*")) == {library["slip"], library["slips"]}
    assert set(narrow(rows, owner=ana, query="category:lesson")) == {library["trail"], library["impact"]}
    assert set(narrow(rows, owner=ana, query="btc NOT source:chat_extracted")) == {library["trail"], library["pair"]}
    assert set(narrow(rows, owner=ana, query="🚀")) == {library["moon"]}
    assert set(narrow(rows, owner=ana, query="source:agent_recorded OR eth")) == {library["trade"]}
    assert set(narrow(rows, owner=ana, query="btc NOT category:preference")) == {library["trail"]}
    assert set(narrow(rows, owner=ana, query="btc after:2026-06-12 before:2026-06-13")) == {
        library["trail"],
        library["pair"],
        library["stop"],
    }
    assert set(narrow(rows, owner=ana, query="btc before:2026-06-12")) == set()
    assert narrow(rows, owner=ana, query="").count() == len(library)
    assert narrow(Memory.objects.all(), owner=EVERYONE, query="slippage").count() == 2


def test_narrows_the_trash_too(ana):
    gone = make_memory(ana, "slippage", deleted_at=NOON)
    assert list(narrow(Memory.objects.for_owner(ana).deleted(), owner=ana, query="slippage")) == [gone]


def test_what_a_list_reads_of_a_query_is_stopped_after_the_time_limit(db, monkeypatch):
    for engine in (sqlite, postgresql):
        monkeypatch.setattr(engine, "TIME_LIMIT_SECONDS", 0.1)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(SearchTooSlow), limited("btc"), connection.cursor() as cursor:
        cursor.execute(endless)
