"""R-50: streams of facts against a small model of what consolidation promises."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.sweep import Statement, plan_sweep
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services import consolidate_pending, find_conflicts
from memory_app.memories.core import FactState
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import FactConflict, Memory
from minara_site.kernel.core.vocabulary import Source
from tests.kit.clock import NOON
from tests.kit.tables import taken_back
from tests.memory_app.facts.factories import check_facts, decide, make_fact
from tests.memory_app.memories.factories import make_memory

TEXTS = (
    "prefers weekly charts",
    "Prefers weekly charts.",
    "prefers daily charts",
    "holds ETH",
    "持有 ETH",
    "持有ETH。",
)
SOURCES = (Source.AGENT_RECORDED, Source.CHAT_EXTRACTED, Source.USER_EXPLICIT, Source.USER_MANUAL)

FACTS = st.tuples(
    st.integers(0, len(TEXTS) - 1),
    st.integers(0, 30),
    st.sampled_from(SOURCES),
    st.booleans(),
    st.booleans(),
)
HOSTILE = st.tuples(
    st.sampled_from(("supersede", "keep_older", "keep_both", "delete", "")),
    st.integers(0, 40),
    st.integers(0, 40),
)


@settings(max_examples=1000)
@given(st.lists(FACTS, max_size=12), st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=4))
def test_the_plan_of_a_thousand_streams(stream, typed):
    """Every sweep's plan: what a user typed stays, the oldest of repetitions stands, each fact has one end."""
    standing = [
        Statement(1000 + n, fact_key(TEXTS[text]), NOON + timedelta(minutes=n), is_typed)
        for n, (text, is_typed) in enumerate(typed)
    ]
    pending = [
        Statement(n, fact_key(TEXTS[text]), NOON + timedelta(minutes=at), source is Source.USER_MANUAL)
        for n, (text, at, source, _held, _gone) in enumerate(stream)
    ]
    steps = plan_sweep(pending, standing)
    every = {each.id: each for each in (*standing, *pending)}
    retired = {step.fact_id: step for step in steps if step.kind is EventKind.DEDUPLICATED}
    ends = Counter(step.fact_id for step in steps)
    assert {each.id for each in pending} <= ends.keys()
    assert all(ends[each.id] == 1 for each in pending if each.id not in retired)
    assert not any(every[pk].is_protected for pk in retired)
    for pk, step in retired.items():
        stays = every[step.other_id]
        assert stays.key == every[pk].key
        assert stays.is_protected or stays.age < every[pk].age
    for key in {each.key for each in pending}:
        left = [each for each in pending if each.key == key and each.id not in retired]
        assert sum(not each.is_protected for each in left) <= 1


@pytest.mark.database
@pytest.mark.django_db
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(FACTS, max_size=10), st.integers(1, 4), st.lists(HOSTILE, max_size=4))
def test_streams_in_the_database(ana, stream, slice_size, hostile):
    """The same through the services, with a model that answers whatever it likes about every pair."""
    with taken_back("default"):
        play(ana, stream, slice_size=slice_size, hostile=hostile)


def play(owner: Any, stream: list[Any], *, slice_size: int, hostile: list[Any]) -> None:
    """Store a stream in two parts with a sweep after each; then let a hostile judge decide on what was found."""
    typed = make_memory(owner, TEXTS[3])
    middle = len(stream) // 2
    for part in (stream[:middle], stream[middle:]):
        for text, minutes, source, is_held, is_gone in part:
            gone = {"held_at": is_held and text == 0, "deleted_at": is_gone and text == 1}
            lies = {column: NOON if is_so else None for column, is_so in gone.items()}
            make_fact(owner, TEXTS[text], minutes=minutes, source=source, **lies)
        consolidate_pending(now=NOON, slice_size=slice_size)
    find_conflicts(now=NOON)
    before = ConsolidationEvent.objects.count()
    pairs = list(FactConflict.objects.all())
    for kind, older, newer in hostile:
        ids = list(Memory.objects.order_by("pk").values_list("pk", flat=True))
        for pair in pairs:
            decide(pair, kind, decider=Decider.MODEL, ids=(ids[older % len(ids)], ids[newer % len(ids)]))
    assert ConsolidationEvent.objects.count() == before + len(hostile) * len(pairs)
    facts = check_facts(owner, count=len(stream), typed=typed)
    for fact in facts:
        is_read = fact.deleted_at is None and fact.held_at is None
        assert (fact.fact_state == FactState.PENDING) == (not is_read)
    settled = [fact for fact in facts if fact.fact_state == FactState.SETTLED and fact.source != Source.USER_MANUAL]
    assert len({fact.fact_key for fact in settled}) == len(settled)
