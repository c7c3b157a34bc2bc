"""Nobody finds another owner's memories, whatever they type (W-02, W-20)."""

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memory_app.index.core.parser import parse_query
from memory_app.search.selectors import search_memories
from minara_site.kernel.ownership import EVERYONE
from tests.kit.shared import corpus
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def two_owners(ana, ben):
    """Two owners with the same texts, and a canary of the second."""
    for owner in (ana, ben):
        make_memory(owner, "slippage on BTC-USD at 0.5%, 止损")
    make_memory(ben, f"canary slippage u{ana.pk} u{ben.pk} owner")
    return ana, ben


def escapes(owner):
    """Return attempts to reach another owner's rows."""
    token = f"u{owner.pk}"
    return [
        f"x) OR (owner:{token}",
        f'x" OR owner:"{token}',
        f"slippage OR owner:{token}",
        f"owner:{token}",
        f'owner : "{token}"',
        f"{{owner body}} : {token}",
        f"- owner : {token}",
        f"NOT owner:{token}",
        f"{token}",
        f"'{token}':A",
        f"slippage | '{token}':A",
        f"!('{token}':A)",
        "slippage') OR ('1'='1",
        f"NEAR({token} slippage)",
        f"category:preference OR owner:{token}",
        f'category:"x OR owner:{token}"',
        f"source:inferred' OR owner_id={owner.pk} --",
        "canary",
        "canar*",
        "NOT nothing",
        "止损 OR canary",
        "u*",
        "*",
        "%",
        "_",
        "%canary%",
    ]


def test_finds_own_rows_only(two_owners):
    ana, ben = two_owners
    for query in escapes(ben):
        assert all(hit.owner_id == ana.pk for hit in search_memories(owner=ana, query=query, limit=200).hits), query


def test_tells_owners_with_alike_numbers_apart(ana, ben, olga):
    make_memory(ben, "canary")
    for owner in (ana, olga):
        assert search_memories(owner=owner, query=f"canary u{ben.pk}").hits == ()


def test_gives_the_same_scores_whatever_others_store(ana, ben):
    for text in ("slippage on swaps at 0.5%", "BTC stop losses trail by 8%", "用户的止损设为 5%", "weekly charts"):
        make_memory(ana, text)
    queries = ("slippage", "btc stop loss", "止损", '"weekly charts"', "trail* charts", "NOT btc")
    before = [search_memories(owner=ana, query=query, explain=True) for query in queries]
    for n in range(40):
        make_memory(ben, f"slippage btc stop 止损 number {n}")
    assert [search_memories(owner=ana, query=query, explain=True) for query in queries] == before


def test_finds_everybodys_rows_for_an_operator(two_owners):
    ana, ben = two_owners
    found = search_memories(owner=EVERYONE, query="slippage")
    assert {hit.owner_id for hit in found.hits} == {ana.pk, ben.pk}
    assert {hit.owner_id for hit in search_memories(owner=EVERYONE, query="NOT canary").hits} == {ana.pk, ben.pk}


def test_holds_for_the_corpus(two_owners):
    ana, _ben = two_owners
    for row in corpus("fts5_queries"):
        found = search_memories(owner=ana, query=row["q"][:512].replace("\0", ""), limit=200)
        assert all(hit.owner_id == ana.pk for hit in found.hits), row


@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from(["canary", "OR", "NOT", "(", ")", '"', "owner:", "u2", "*"])).map(" ".join)
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_holds_for_any_text(two_owners, query):
    ana, _ben = two_owners
    if parse_query(query).is_empty or any("\ud800" <= char <= "\udfff" or char == "\0" for char in query):
        return
    assert all(hit.owner_id == ana.pk for hit in search_memories(owner=ana, query=query, limit=200).hits)
