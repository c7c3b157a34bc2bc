"""A fact that another repeated is taken back, and what the other said still stands: nobody's work is lost (P-07)."""

import re
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings, strategies as st

from memory_app.facts.core import RETIRING, Decider, EventKind
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services import consolidate_pending, find_conflicts, undo_event
from memory_app.memories.core import FactState
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import FactConflict, Memory
from memory_app.memories.services import Changes, Draft, delete_memories, edit_memory, record_fact, restore_memories
from memory_app.writes.selectors.plans import preview_roll_back
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.events import memory_written
from minara_site.kernel.ownership import EVERYONE
from tests.kit.tables import table, taken_back
from tests.memory_app.facts.factories import decide
from tests.memory_app.writes.factories import Story, agent, standing, write

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
BAD, GOOD = "key:bad00000", "key:good0000"


class Facts(Story):
    """Facts of several writers about one owner."""

    def record(self, writer: str, text: str, source: Source = Source.AGENT_RECORDED) -> Memory:
        draft = Draft(Category.FACT, text, Provenance(source, writer))
        return record_fact(owner_id=self.owner.pk, draft=draft, now=self.tick())

    def sweep(self) -> None:
        consolidate_pending(now=self.tick())

    def restore(self, *facts: Memory) -> None:
        ids = [fact.pk for fact in facts]
        restore_memories(principal=self.olga, owner=EVERYONE, ids=ids, now=self.tick())


@pytest.fixture
def story(ana: Any, olga: Any, now: datetime) -> Facts:
    return Facts(ana, olga, now)


def states(*facts: Memory) -> list[tuple[str | None, bool]]:
    """Return how each stands, and whether it lies in the trash."""
    rows = Memory.objects.in_bulk([fact.pk for fact in facts])
    return [(rows[fact.pk].fact_state, rows[fact.pk].deleted_at is not None) for fact in facts]


def kinds(fact: Memory) -> list[str]:
    return list(ConsolidationEvent.objects.filter(fact_id=fact.pk).order_by("pk").values_list("kind", flat=True))


SETTLED, PENDING, RETIRED = ((state, False) for state in (FactState.SETTLED, FactState.PENDING, FactState.RETIRED))
GONE = (FactState.SETTLED, True)


class TestRollBack:
    @pytest.mark.database
    def test_what_repeated_a_fact_that_goes_stands_after_the_next_sweep(self, story):
        bad, good = story.record(BAD, "prefers weekly charts"), story.record(GOOD, "Prefers weekly charts.")
        story.sweep()
        rollback = story.roll(BAD)
        assert states(bad, good) == [GONE, PENDING]
        story.sweep()
        assert states(bad, good) == [GONE, SETTLED]
        assert rollback.counts["unretired"] == rollback.counts["created"] == 1
        assert kinds(good) == [EventKind.DEDUPLICATED, EventKind.UNRETIRED, EventKind.SETTLED]
        event = ConsolidationEvent.objects.get(kind=EventKind.UNRETIRED)
        assert (event.actor, event.decider, event.at) == (story.olga.actor, Decider.PERSON, rollback.at)
        assert (event.undoes.fact_id, event.undoes.other_id) == (good.pk, bad.pk)
        assert AuditEntry.objects.get(tool_call="write_rollback").details["unretired"] == [[good.pk, good.pk]]

    @pytest.mark.database
    def test_of_several_the_oldest_stands(self, story):
        bad, second, third = (story.record(writer, "holds ETH") for writer in WRITERS)
        story.sweep()
        story.roll(BAD)
        story.sweep()
        assert states(bad, second, third) == [GONE, SETTLED, RETIRED]
        assert ConsolidationEvent.objects.filter(fact_id=third.pk).latest("pk").other_id == second.pk

    def test_what_gave_way_to_one_that_gave_way_itself_stands_again(self, story):
        story.tick()
        bad = story.record(BAD, "holds ETH")
        good = story.record(GOOD, "holds ETH")
        story.sweep()
        older = story.record(BAD, "Holds ETH.")
        Memory.objects.filter(pk=older.pk).update(created_at=story.since)
        story.sweep()
        assert states(older, bad, good) == [SETTLED, RETIRED, RETIRED]
        story.roll(BAD)
        story.sweep()
        assert states(good) == [SETTLED]

    def test_the_writers_own_repetitions_go_as_they_are(self, story):
        first, again = story.record(BAD, "holds ETH"), story.record(BAD, "Holds ETH.")
        assert story.record(BAD, "holds ETH").is_repeated
        story.sweep()
        assert story.roll(BAD).counts["unretired"] == 0
        assert states(first, again) == [GONE, (FactState.RETIRED, True)]

    @pytest.mark.database
    def test_one_that_lies_in_the_trash_is_swept_once_it_is_back(self, story):
        bad, good = story.record(BAD, "holds ETH"), story.record(GOOD, "holds ETH")
        story.sweep()
        delete_memories(principal=story.olga, owner=EVERYONE, ids=[good.pk], now=story.tick())
        story.roll(BAD)
        story.sweep()
        story.restore(good)
        story.sweep()
        assert states(bad, good) == [GONE, SETTLED]

    def test_what_somebody_decided_stays_decided(self, story):
        good, _bad = story.record(GOOD, "prefers weekly charts"), story.record(BAD, "prefers daily charts")
        story.sweep()
        find_conflicts(now=story.tick())
        decide(FactConflict.objects.get(), "supersede")
        assert story.roll(BAD).counts["unretired"] == 0
        assert states(good) == [RETIRED]

    def test_what_a_person_took_back_already_is_left_as_it_is(self, story):
        story.record(BAD, "holds ETH")
        good = story.record(GOOD, "holds ETH")
        story.sweep()
        event = ConsolidationEvent.objects.get(kind=EventKind.DEDUPLICATED)
        undo_event(principal=story.olga, owner=EVERYONE, event_id=event.pk, now=story.tick())
        assert story.roll(BAD).counts["unretired"] == 0
        assert states(good) == [SETTLED]

    def test_a_fact_that_gave_way_to_words_that_go_is_swept_again(self, story):
        mine = write(agent(story.owner, "old00000"), "no leverage", now=story.since - MINUTE, typed=True)
        bad = agent(story.owner, "bad00000")
        edit_memory(principal=bad, memory_id=mine.pk, changes=Changes(content="holds ETH"), now=story.tick())
        good = story.record(GOOD, "holds ETH")
        story.sweep()
        assert states(good) == [RETIRED]
        story.roll(BAD)
        story.sweep()
        assert states(good) == [SETTLED]

    def test_who_reads_it_is_told(self, story, django_capture_on_commit_callbacks):
        story.record(BAD, "holds ETH")
        good = story.record(GOOD, "holds ETH")
        story.sweep()
        told: list[int] = []
        receiver = lambda memory_ids, **_: told.extend(memory_ids)  # noqa: E731
        memory_written.connect(receiver)
        with django_capture_on_commit_callbacks(execute=True):
            story.roll(BAD)
        assert good.pk in told


class TestUndo:
    @pytest.mark.database
    @table("is_swept", [True, False])
    def test_the_older_stands_alone_again(self, story, is_swept):
        bad, good = story.record(BAD, "holds ETH"), story.record(GOOD, "holds ETH")
        story.sweep()
        before = standing()
        rollback = story.roll(BAD)
        if is_swept:
            story.sweep()
        story.unroll(rollback)
        story.sweep()
        assert states(bad, good) == [SETTLED, RETIRED]
        assert standing() == before
        story.roll(BAD)
        story.sweep()
        assert states(bad, good) == [GONE, SETTLED]

    def test_who_restores_it_by_hand_gets_one_fact_too(self, story):
        bad, good = story.record(BAD, "holds ETH"), story.record(GOOD, "holds ETH")
        story.sweep()
        story.roll(BAD)
        story.sweep()
        story.restore(bad)
        story.sweep()
        assert states(bad, good) == [SETTLED, RETIRED]

    def test_a_fact_that_nobody_repeated_settles_at_once(self, story):
        story.record(BAD, "holds ETH")
        story.record(GOOD, "prefers weekly charts")
        story.sweep()
        before = standing()
        story.unroll(story.roll(BAD))
        assert standing() == before

    def test_what_repeated_a_fact_that_goes_again_stands(self, story):
        old = story.record("key:old00000", "holds ETH")
        story.sweep()
        story.since = story.tick()
        bad = agent(story.owner, "bad00000")
        typed = write(agent(story.owner, "old00000"), "holds SOL", now=story.since - MINUTE, typed=True)
        delete_memories(principal=bad, owner=story.owner, ids=[typed.pk], now=story.tick())
        rollback = story.roll(BAD)
        good = story.record(GOOD, "holds SOL")
        story.sweep()
        assert states(old, good) == [SETTLED, RETIRED]
        assert story.unroll(rollback).counts["unretired"] == 1
        story.sweep()
        assert states(good) == [SETTLED]


def test_who_deletes_a_fact_forgets_what_repeated_it(story):
    first, again = story.record(BAD, "holds ETH"), story.record(GOOD, "holds ETH")
    story.sweep()
    delete_memories(principal=story.olga, owner=EVERYONE, ids=[first.pk], now=story.tick())
    story.sweep()
    assert states(first, again) == [GONE, RETIRED]


def test_pages_show_what_is_unretired(story, operator_page):
    story.now = story.since = timezone.now() - timedelta(hours=1)
    story.record(BAD, "holds ETH")
    good = story.record(GOOD, "Holds ETH.")
    story.sweep()
    asked = {"writer": BAD, "since": story.since.isoformat(), "show": "unretired"}
    page = operator_page.get("/ops/writes/roll-back/", asked).content.decode()
    assert re.search(r'aria-current="true">Used again <span class="n">.*?1', page)
    assert f"/memories/{good.pk}/" in page
    assert "Holds ETH." in page
    page = operator_page.get(f"/ops/writes/{story.roll(BAD).pk}/").content.decode()
    assert "back to the pending facts, because what they repeated goes" in page


TEXTS = ("holds ETH", "Holds ETH.", "prefers weekly charts", "prefers daily charts")
WRITERS = (BAD, GOOD, "key:else0000")
SOURCES = (Source.AGENT_RECORDED, Source.USER_EXPLICIT, Source.USER_MANUAL)
RECORDED = st.tuples(
    st.sampled_from(WRITERS),
    st.sampled_from(TEXTS),
    st.sampled_from(SOURCES),
    st.booleans(),
)


@pytest.mark.database
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(RECORDED, min_size=1, max_size=8), st.lists(st.sampled_from(WRITERS), min_size=1, max_size=3))
def test_streams_with_roll_backs_keep_every_promise(ana, olga, now, stream, rolled):
    """R-50 goes on through roll-backs and their undoing: nobody else's words are lost, every decision is one event."""
    with taken_back("default"):
        play(Facts(ana, olga, now), stream, rolled)


def play(story: Facts, stream: list[Any], rolled: list[str]) -> None:
    """Record a stream with some sweeps, roll writers back one after another, and undo it all, the last first."""
    written = set()
    for writer, text, source, is_swept in stream:
        written.add(story.record(writer, text, source).pk)
        if is_swept:
            story.sweep()
    story.sweep()
    before = standing()
    rollbacks = []
    for writer in rolled:
        if not preview_roll_back(writer=writer, since=story.since, now=story.now).is_empty:
            rollbacks.append(story.roll(writer))
            story.sweep()
            check_promises(count=len(written))
    for rollback in reversed(rollbacks):
        story.unroll(rollback)
        story.sweep()
        check_promises(count=len(written))
    assert standing() == before


def check_promises(*, count: int) -> None:
    """Assert what R-50 and P-07 ask for, right after a sweep."""
    facts = list(Memory.objects.all())
    assert len(facts) == count
    live = [fact for fact in facts if fact.deleted_at is None]
    assert not any(fact.fact_state == FactState.RETIRED for fact in facts if fact.source == Source.USER_MANUAL)
    assert not any(fact.fact_state == FactState.PENDING for fact in live)
    stand = [fact for fact in live if fact.fact_state == FactState.SETTLED]
    assert keys_of(stand) == keys_of(live)
    recorded = [fact_key(fact.content) for fact in stand if fact.source != Source.USER_MANUAL]
    assert len(recorded) == len(set(recorded))
    ends = ConsolidationEvent.objects.filter(kind__in=RETIRING, other_id__isnull=False, undone_by__isnull=True)
    retired = [fact.pk for fact in facts if fact.fact_state == FactState.RETIRED]
    assert sorted(ends.values_list("fact_id", flat=True)) == sorted(retired)


def keys_of(facts: Collection[Memory]) -> set[str]:
    return {fact_key(fact.content) for fact in facts}
