"""Deleting, restoring, undoing and purging (trust R-25)."""

import hashlib
from datetime import timedelta
from functools import partial
from itertools import product

import pytest

from memory_app.edges.models import MemoryEdge
from memory_app.facts.selectors import list_facts
from memory_app.facts.services import consolidate_pending
from memory_app.index.models import SearchDocument
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.prompt_rows import load_prompt_ids
from memory_app.memories.selectors import find_own_deletions
from memory_app.memories.services import (
    MAX_BULK,
    Changes,
    delete_memories,
    edit_memory,
    purge_expired,
    restore_memories,
)
from memory_app.search.selectors import search_memories
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.errors import Conflict, Invalid, NotFound, Refused
from minara_site.kernel.ownership import EVERYONE
from minara_site.shell.undo import undo_set
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.facts.factories import make_fact
from tests.memory_app.memories.factories import browser, key, make_many, make_memory

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)
RETENTION = timedelta(days=30)


def delete(user, *memories, now=NOON, owner=None, reason=""):
    ids = [memory.pk for memory in memories]
    return delete_memories(principal=browser(user), owner=owner or user, ids=ids, now=now, reason=reason)


def restore(user, *memories, now=NOON, owner=None):
    ids = [memory.pk for memory in memories]
    return restore_memories(principal=browser(user), owner=owner or user, ids=ids, now=now)


def undo(user, batch, now=NOON):
    made, _plan = undo_set(batch.change_set, principal=browser(user), now=now)
    return made


def states():
    return dict(Memory.objects.values_list("content", "deleted_at"))


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class TestDelete:
    @pytest.mark.database
    def test_leaves_everything_but_the_mark(self, ana):
        memory = make_memory(ana)
        before = Memory.objects.values().get()
        batch = delete(ana, memory)
        assert Memory.objects.values().get() == before | {"deleted_at": NOON, "batch": batch.id}
        assert batch.ids == (memory.pk,)

    def test_a_second_time_changes_nothing(self, ana):
        memory = make_memory(ana)
        delete(ana, memory)
        again = delete(ana, memory, now=NOON + RETENTION - SECOND)
        assert again.ids == ()
        assert Memory.objects.get().deleted_at == NOON
        assert AuditEntry.objects.count() == 1

    def test_past_its_retention_it_is_gone_for_deleting_too(self, ana):
        memory = make_memory(ana, deleted_at=NOON)
        with pytest.raises(NotFound):
            delete(ana, memory, now=NOON + RETENTION + SECOND)

    @table(
        ("category", "source", "actor"), list(product(Category, Source, ["key:abcd1234", "user:1", "command:import"]))
    )
    def test_a_key_deletes_what_keys_wrote_and_a_person_all_that_is_theirs(self, ana, category, source, actor):
        memory = make_memory(ana, category=category, source=source, actor=actor)
        by_key = partial(delete_memories, principal=key(ana), owner=ana, ids=[memory.pk], now=NOON)
        if actor == "key:abcd1234":
            by_key()
        else:
            with pytest.raises(Refused) as caught:
                by_key()
            assert caught.value.problem_code == "not_editable"
            assert Memory.objects.get().deleted_at is None
            delete(ana, memory)
        assert Memory.objects.get().deleted_at == NOON

    @pytest.mark.database
    def test_what_is_derived_of_a_fact_is_read_by_no_one_and_comes_back_with_it(self, ana):
        fact = make_fact(ana, "holds 2 BTC")
        consolidate_pending(now=NOON)
        edges = list(MemoryEdge.objects.order_by("id").values())
        before = Memory.objects.values().get()
        found, carried = partial(search_memories, owner=ana, query="BTC"), partial(load_prompt_ids, owner=ana)
        batch = delete(ana, fact)
        assert (found().hits, carried(is_hidden=False), list_facts(owner=ana).count()) == ((), (frozenset(), {}), 0)
        undo(ana, batch)
        assert [hit.id for hit in found().hits] == [fact.pk]
        assert edges == list(MemoryEdge.objects.order_by("id").values()) != []
        now_says = Memory.objects.values().get()
        assert now_says == before | {"batch": now_says["batch"]}

    def test_audit_row_holds_ids_and_hashes_and_no_text(self, ana):
        memory = make_memory(ana, "Canary")
        batch = delete(ana, memory, reason="outdated")
        entry = AuditEntry.objects.get()
        assert (entry.tool_call, entry.reasoning) == ("memory_removed", "outdated")
        assert (entry.owner_id, entry.at) == (ana.pk, NOON)
        assert entry.details == {
            "batch": batch.id,
            "count": 1,
            "memories": [{"id": memory.pk, "sha256": sha256("Canary")}],
            "change_set": batch.change_set,
        }

    @pytest.mark.database
    def test_an_operators_batch_leaves_one_audit_row_for_each_owner(self, ana, ben, olga):
        delete(olga, make_memory(ana), make_memory(ben), make_memory(ben), owner=EVERYONE)
        assert sorted((entry.owner_id, len(entry.details["memories"])) for entry in AuditEntry.objects.all()) == [
            (ana.pk, 1),
            (ben.pk, 2),
        ]


@pytest.mark.database
class TestAllOrNothing:
    def test_one_row_that_a_person_typed_changes_nothing_for_a_key(self, ana):
        memories = [*make_many(ana, 3, actor="key:abcd1234"), make_memory(ana, "Typed")]
        with pytest.raises(Refused):
            delete_memories(principal=key(ana), owner=ana, ids=[memory.pk for memory in memories], now=NOON)
        assert set(states().values()) == {None}

    @table("ids", [[], list(range(1, MAX_BULK + 2))])
    def test_refuses_none_and_too_many(self, ana, ids):
        with pytest.raises(Invalid):
            delete_memories(principal=browser(ana), owner=ana, ids=ids, now=NOON)

    def test_an_id_that_stands_twice_counts_once(self, ana):
        memory = make_memory(ana)
        assert delete(ana, memory, memory).ids == (memory.pk,)


class TestRestore:
    @pytest.mark.database
    @table("age", [timedelta(0), RETENTION - SECOND, RETENTION, RETENTION + SECOND])
    def test_works_while_the_retention_lasts(self, ana, age):
        memory = make_memory(ana)
        delete(ana, memory)
        if age < RETENTION:
            restore(ana, memory, now=NOON + age)
        else:
            with pytest.raises(NotFound):
                restore(ana, memory, now=NOON + age)
        memory.refresh_from_db()
        assert memory.deleted_at == (None if age < RETENTION else NOON)
        assert (memory.updated_at, memory.version) == (NOON, 1)

    def test_follows_the_setting(self, ana, settings):
        settings.MINARA = settings.MINARA.model_copy(update={"fin_profile_memory_soft_delete_retention_days": 2})
        memory = make_memory(ana)
        delete(ana, memory)
        with pytest.raises(NotFound):
            restore(ana, memory, now=NOON + timedelta(days=2, seconds=1))
        restore(ana, memory, now=NOON + timedelta(days=2) - SECOND)

    def test_of_a_live_row_changes_nothing(self, ana):
        memory = make_memory(ana)
        assert restore(ana, memory).ids == ()
        assert not AuditEntry.objects.exists()

    def test_a_key_restores_what_keys_deleted_and_never_what_a_person_did(self, ana):
        memory = make_memory(ana, actor="key:abcd1234")
        act = {"principal": key(ana), "owner": ana, "ids": [memory.pk]}
        delete_memories(**act, now=NOON)
        restore_memories(**act, now=NOON + SECOND)
        delete(ana, memory, now=NOON + 2 * SECOND)
        with pytest.raises(Refused) as caught:
            restore_memories(**act, now=NOON + 3 * SECOND)
        assert caught.value.problem_code == "not_editable"
        assert restore(ana, memory).ids == (memory.pk,)

    def test_leaves_an_audit_row(self, ana):
        memory = make_memory(ana, "Canary", deleted_at=NOON)
        batch = restore(ana, memory)
        entry = AuditEntry.objects.get()
        assert entry.tool_call == "memory_restored"
        removed = {"id": memory.pk, "sha256": sha256("Canary"), "deleted_at": NOON.isoformat()}
        assert entry.details == {"batch": batch.id, "count": 1, "memories": [removed], "change_set": batch.change_set}


@pytest.mark.database
class TestUndo:
    def test_takes_a_delete_back_in_one_go(self, ana):
        memories = make_many(ana, 20)
        kept = Memory.objects.order_by("id").values("id", "deleted_at", "updated_at", "version", "content")
        before = list(kept)
        undone = undo(ana, delete(ana, *memories), now=NOON + SECOND)
        assert undone.changes.count() == 20
        assert list(kept.all()) == before

    def test_takes_a_restore_back(self, ana):
        memories = make_many(ana, 3, deleted_at=NOON)
        undo(ana, restore(ana, *memories), now=NOON + SECOND)
        assert set(states().values()) == {NOON}, "since when they were there before"

    def test_leaves_rows_that_were_deleted_before(self, ana):
        gone, live = make_many(ana, 2)
        delete(ana, gone)
        undo(ana, delete(ana, gone, live, now=NOON + SECOND), now=NOON + 2 * SECOND)
        assert states() == {"Memory number 0": NOON, "Memory number 1": None}

    def test_leaves_rows_that_somebody_touched_since(self, ana):
        one, two = make_many(ana, 2)
        batch = delete(ana, one, two)
        restore(ana, one)
        delete(ana, one, now=NOON + SECOND)
        undo(ana, batch, now=NOON + 2 * SECOND)
        assert states() == {"Memory number 0": NOON + SECOND, "Memory number 1": None}

    def test_works_once(self, ana):
        batch = delete(ana, make_memory(ana))
        undo(ana, batch)
        with pytest.raises(Conflict):
            undo(ana, batch)

    def test_is_over_with_the_retention(self, ana):
        batch = delete(ana, make_memory(ana))
        purge_expired(now=NOON + RETENTION + SECOND)
        with pytest.raises(Conflict):
            undo(ana, batch, now=NOON + RETENTION + SECOND)

    def test_what_an_operator_deleted_of_an_agents_an_owner_does_not_bring_back(self, ana, olga):
        batch = delete(olga, memory := make_memory(ana, category=Category.LESSON), owner=EVERYONE)
        for act, refused in ((partial(undo, ana, batch), Conflict), (partial(restore, ana, memory), Refused)):
            with pytest.raises(refused):
                act()
        undo(olga, batch)
        assert Memory.objects.get().deleted_at is None

    def test_leaves_an_audit_row_of_its_own(self, ana):
        undo(ana, delete(ana, make_memory(ana)))
        kept = AuditEntry.objects.order_by("id").values_list("tool_call", "reasoning")
        assert list(kept) == [("memory_removed", ""), ("memory_restored", "")]


@pytest.mark.database
class TestPurge:
    def test_takes_what_is_past_its_retention_with_all_that_hangs_on_it_and_nothing_else(self, ana, ben):
        expired = make_memory(ana, "One")
        edit_memory(principal=browser(ana), memory_id=expired.pk, changes=Changes(content="Canary"), now=NOON)
        delete(ana, expired)
        kept = [
            make_memory(ana, "Live"),
            make_memory(ben, "Bens"),
            make_memory(ana, "Young", deleted_at=NOON + SECOND),
        ]
        edit_memory(
            principal=browser(ana),
            memory_id=kept[0].pk,
            changes=Changes(content="Live two"),
            now=NOON,
        )
        before = list(Memory.objects.exclude(pk=expired.pk).order_by("id").values())
        assert purge_expired(now=NOON + RETENTION) == 1
        assert list(Memory.objects.order_by("id").values()) == before
        assert set(SearchDocument.objects.values_list("object_id", flat=True)) == {memory.pk for memory in kept}
        assert list(MemoryRevision.objects.values_list("memory_id", flat=True)) == [kept[0].pk]

    def test_waits_for_the_last_second(self, ana):
        make_memory(ana, deleted_at=NOON)
        assert purge_expired(now=NOON + RETENTION - SECOND) == 0
        assert purge_expired(now=NOON + RETENTION) == 1

    def test_leaves_an_audit_row_for_each_owner_with_ids_and_hashes(self, ana, ben):
        memory, other = make_memory(ana, "Canary", deleted_at=NOON), make_memory(ben, deleted_at=NOON)
        purge_expired(now=NOON + RETENTION)
        entries = {entry.owner_id: entry for entry in AuditEntry.objects.all()}
        assert set(entries) == {ana.pk, ben.pk}
        assert entries[ana.pk].tool_call == "memory_purged"
        assert entries[ana.pk].details == {"memories": [{"id": memory.pk, "sha256": sha256("Canary")}]}
        assert entries[ben.pk].details["memories"][0]["id"] == other.pk

    def test_works_in_slices_and_is_safe_to_run_twice(self, ana):
        make_many(ana, 7, deleted_at=NOON)
        assert purge_expired(now=NOON + RETENTION, slice_size=3) == 7
        assert purge_expired(now=NOON + RETENTION, slice_size=3) == 0
        assert AuditEntry.objects.count() == 3


@pytest.mark.database
class TestDeletedBefore:
    WORDS = "Prefers daily charts"

    def noted(self, owner, text=WORDS, **fields):
        return make_memory(owner, text, category=Category.FACT, source=Source.AGENT_RECORDED, actor="key:a", **fields)

    def test_a_row_of_the_same_words_that_no_person_wrote_says_so_also_after_the_purge(self, ana, ben):
        delete(ana, self.noted(ana))
        again, spelled = self.noted(ana), self.noted(ana, "prefers  DAILY charts.")
        others = [make_memory(ana, self.WORDS), self.noted(ben), self.noted(ana, "Prefers weekly charts")]
        for purged in range(2):
            assert find_own_deletions([again, spelled, *others]) == dict.fromkeys([again.pk, spelled.pk], NOON)
            assert purge_expired(now=NOON + RETENTION) == 1 - purged

    def test_what_came_back_or_was_deleted_by_others_is_not_meant(self, ana, olga):
        undo(ana, batch := delete(ana, first := self.noted(ana)))
        delete(olga, second := self.noted(ana), owner=EVERYONE)
        assert find_own_deletions([self.noted(ana)]) == {}
        assert batch.ids == (first.pk,) != (second.pk,)
        delete(ana, first, now=NOON + SECOND)
        assert find_own_deletions([again := self.noted(ana)]) == {again.pk: NOON + SECOND}
