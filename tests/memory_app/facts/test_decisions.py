"""Conflicts, decisions and undo: two facts of one owner at a time, each decision one event, nothing that cannot be
taken back."""

from datetime import timedelta

import pytest

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import DecisionKind
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import list_conflicts
from memory_app.facts.services import consolidate_pending, find_conflicts, replace_corrected, undo_event
from memory_app.memories.core import ConflictState
from memory_app.memories.models import FactConflict, Memory
from memory_app.memories.services import Draft, delete_memories, restore_memories, write_memory
from minara_site.console.quarantine.services import hold_again
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import EVERYONE
from tests.console.quarantine.one_hold import release_hold
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.facts.factories import DAILY, WEEKLY, decide, make_conflict, make_fact
from tests.memory_app.memories.factories import browser, make_memory

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(hours=2)


def states(*facts):
    return [Memory.objects.values_list("fact_state", flat=True).get(pk=fact.pk) for fact in facts]


@pytest.mark.database
class TestFinding:
    def test_finds_a_pair_once_and_notes_it(self, ana):
        conflict = make_conflict(ana)
        assert (conflict.older.content, conflict.newer.content, conflict.leaves.content) == (WEEKLY, DAILY, WEEKLY)
        event = ConsolidationEvent.objects.get(kind=EventKind.CONFLICT_FOUND)
        assert (event.fact_id, event.other_id, event.decider) == (conflict.older_id, conflict.newer_id, Decider.RULE)
        assert find_conflicts(now=LATER) == 0
        Memory.objects.update(compared_at=None)
        assert find_conflicts(now=LATER) == 0
        assert FactConflict.objects.count() == 1

    def test_never_across_owners_and_never_with_a_pending_fact_or_a_lesson(self, ana, ben):
        make_fact(ana, WEEKLY)
        make_fact(ben, DAILY)
        consolidate_pending(now=NOON)
        make_fact(ana, "prefers monthly charts", minutes=1)
        make_memory(ana, "prefers monthly charts", category=Category.LESSON)
        assert find_conflicts(now=NOON) == 0

    def test_goes_on_where_the_run_before_stopped(self, ana):
        for number, word in enumerate(("weekly", "daily", "monthly")):
            make_fact(ana, f"prefers {word} charts", minutes=number)
        consolidate_pending(now=NOON)
        assert [find_conflicts(now=NOON, most=1) for _run in range(4)] == [0, 1, 2, 0]

    def test_compares_one_that_comes_back_with_what_settled_meanwhile(self, ana):
        conflict = make_conflict(ana)
        event = decide(conflict, DecisionKind.SUPERSEDE)
        monthly = make_fact(ana, "prefers monthly charts", minutes=60)
        consolidate_pending(now=LATER)
        find_conflicts(now=LATER)
        undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        assert find_conflicts(now=LATER) == 1
        assert FactConflict.objects.filter(older=conflict.older, newer=monthly).exists()

    @table("column", ["held_at", "deleted_at"])
    def test_compares_one_that_is_gone_when_it_is_back(self, ana, column):
        weekly = make_fact(ana, WEEKLY)
        make_fact(ana, DAILY, minutes=1)
        consolidate_pending(now=NOON)
        Memory.objects.filter(pk=weekly.pk).update(**{column: LATER})
        assert find_conflicts(now=LATER) == 0
        Memory.objects.filter(pk=weekly.pk).update(**{column: None})
        assert find_conflicts(now=LATER) == 1

    def test_compares_one_from_the_trash_with_what_settled_meanwhile(self, ana, olga):
        weekly = make_fact(ana, WEEKLY)
        consolidate_pending(now=NOON)
        assert find_conflicts(now=NOON) == 0
        delete_memories(principal=browser(olga), owner=EVERYONE, ids=[weekly.pk], now=NOON)
        make_fact(ana, DAILY, minutes=1)
        consolidate_pending(now=NOON)
        assert find_conflicts(now=NOON) == 0
        restore_memories(principal=browser(olga), owner=EVERYONE, ids=[weekly.pk], now=LATER)
        assert find_conflicts(now=LATER) == 1


class TestDeciding:
    @pytest.mark.database
    @table(
        ("kind", "expected", "event_kind", "state"),
        [
            (DecisionKind.SUPERSEDE, ["retired", "settled"], EventKind.SUPERSEDED, ConflictState.RESOLVED),
            (DecisionKind.KEEP_OLDER, ["settled", "retired"], EventKind.SUPERSEDED, ConflictState.RESOLVED),
            (DecisionKind.KEEP_BOTH, ["settled", "settled"], EventKind.KEPT_BOTH, ConflictState.DISMISSED),
        ],
    )
    def test_each_is_one_event_and_one_audit_row_and_can_be_taken_back(self, ana, kind, expected, event_kind, state):
        conflict = make_conflict(ana)
        before = ConsolidationEvent.objects.count()
        stamps = list(Memory.objects.order_by("pk").values_list("updated_at", flat=True))
        event = decide(conflict, kind)
        conflict.refresh_from_db()
        assert (states(conflict.older, conflict.newer), event.kind, conflict.state) == (expected, event_kind, state)
        assert ConsolidationEvent.objects.count() == before + 1
        assert AuditEntry.objects.filter(details__event=event.pk).count() == 1
        undone = undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        conflict.refresh_from_db()
        assert (states(conflict.older, conflict.newer), conflict.state) == (["settled", "settled"], "open")
        assert undone.undoes == event
        assert list_conflicts(owner=ana).count() == 1
        assert list(Memory.objects.order_by("pk").values_list("updated_at", flat=True)) == stamps
        with pytest.raises(Conflict):
            undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)

    @pytest.mark.database
    @table(("kind", "facts", "older", "newer", "reason"), [
        *((kind, "on", {}, {}, "unknown_kind") for kind in ("delete", "", "supersede; drop table memories")),
        *(("supersede", facts, {}, {}, "outside_the_pair") for facts in ("vn", "ov", "no")),
        ("supersede", "on", {"source": Source.USER_MANUAL}, {}, "protected"),
        *(("supersede", "on", {}, gone, "not_settled")
          for gone in ({"deleted_at": NOON}, {"held_at": NOON}, {"fact_state": "pending"})),
    ])  # fmt: skip
    def test_what_is_refused_to_anybody_changes_nothing(self, ana, ben, kind, facts, older, newer, reason):
        """The facts that are named: the older and the newer of the pair, or a victim of another owner."""
        conflict, victim = make_conflict(ana), make_fact(ben, "holds ETH")
        consolidate_pending(now=NOON)
        Memory.objects.filter(pk=conflict.older_id).update(**older)
        Memory.objects.filter(pk=conflict.newer_id).update(**newer)
        before = states(victim, conflict.older, conflict.newer)
        named = {"o": conflict.older_id, "n": conflict.newer_id, "v": victim.pk}
        for decider in Decider:
            event = decide(conflict, kind, decider=decider, ids=[named[fact] for fact in facts])
            assert (event.kind, event.reason) == (EventKind.REFUSED, reason)
        assert states(victim, conflict.older, conflict.newer) == before
        assert list_conflicts(owner=ana).exists() is not bool({"deleted_at", "held_at"} & newer.keys())

    @pytest.mark.database
    def test_a_pair_is_decided_once(self, ana):
        conflict = make_conflict(ana)
        decide(conflict, "supersede")
        assert decide(conflict, "keep_older").reason == "decided"
        assert states(conflict.older, conflict.newer) == ["retired", "settled"]

    def test_a_pair_of_somebody_else_is_not_there(self, ana, ben):
        conflict = make_conflict(ana)
        with pytest.raises(NotFound):
            decide(conflict, "supersede", by=ben)


class TestUndo:
    def test_a_repetition_comes_back_and_stays(self, ana):
        make_fact(ana, "holds ETH")
        again = make_fact(ana, "holds ETH", minutes=1)
        consolidate_pending(now=NOON)
        event = ConsolidationEvent.objects.get(kind=EventKind.DEDUPLICATED)
        undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        consolidate_pending(now=LATER)
        assert states(again) == ["settled"]
        assert AuditEntry.objects.filter(tool_call="memory_unretired").count() == 1

    @table("fields", [{"deleted_at": NOON}, {"held_at": NOON}])
    def test_is_refused_while_the_fact_itself_is_gone(self, ana, fields):
        conflict = make_conflict(ana)
        event = decide(conflict, "supersede")
        Memory.objects.filter(pk=conflict.older_id).update(**fields)
        with pytest.raises(Conflict):
            undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)

    @pytest.mark.database
    @table("fields", [{"deleted_at": NOON}, {"held_at": NOON}, None])
    def test_a_fact_comes_back_when_what_replaced_it_is_gone(self, ana, fields):
        conflict = make_conflict(ana)
        event = decide(conflict, "supersede")
        newer = Memory.objects.filter(pk=conflict.newer_id)
        newer.delete() if fields is None else newer.update(**fields)
        undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        assert states(conflict.older) == ["settled"]
        assert not list_conflicts(owner=ana).exists()
        with pytest.raises(Conflict) as caught:
            undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        assert caught.value.problem_code == "undone"

    def test_only_decisions_are_undone_and_only_ones_own(self, ana, ben):
        conflict = make_conflict(ana)
        event = decide(conflict, "supersede")
        settled = ConsolidationEvent.objects.filter(kind=EventKind.SETTLED).first()
        for owner, pk in ((ben, event.pk), (ana, settled.pk)):
            with pytest.raises(NotFound):
                undo_event(principal=browser(owner), owner=owner, event_id=pk, now=LATER)


class TestCorrection:
    def correct(self, owner, memory, text="prefers monthly charts"):
        provenance = Provenance(Source.USER_MANUAL, f"user:{owner.pk}", f"memory:{memory.pk}")
        draft = Draft(Category.PERSONALIZATION, text, provenance)
        return write_memory(owner_id=owner.pk, draft=draft, now=LATER)

    @table("is_settled", [True, False])
    def test_a_fact_gives_way_to_what_its_owner_says(self, ana, is_settled):
        fact = make_fact(ana, WEEKLY)
        if is_settled:
            consolidate_pending(now=NOON)
        correction = self.correct(ana, fact)
        event = ConsolidationEvent.objects.get(kind=EventKind.SUPERSEDED)
        assert (event.fact_id, event.other_id, event.decider) == (fact.pk, correction.pk, Decider.PERSON)
        assert states(fact) == ["retired"]
        undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        assert states(fact) == ["settled" if is_settled else "pending"]

    def test_a_held_correction_retires_the_fact_once_it_is_released(self, ana, olga):
        fact = make_fact(ana, WEEKLY)
        correction = self.correct(ana, fact, "prefers\u200b monthly")
        hold = Hold.objects.get(object_id=correction.pk)
        release_hold(principal=browser(olga), hold_id=hold.pk, now=LATER)
        event = ConsolidationEvent.objects.get(kind=EventKind.SUPERSEDED)
        assert (event.fact_id, event.other_id, states(fact)) == (fact.pk, correction.pk, ["retired"])
        undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        replace_corrected([correction], now=LATER)
        assert states(fact) == ["pending"]

    def test_a_correction_that_is_held_again_gives_the_fact_back_until_its_next_release(self, ana, olga):
        fact = make_fact(ana, WEEKLY)
        hold = Hold.objects.get(object_id=self.correct(ana, fact, "prefers\u200b monthly").pk)
        for _time in range(2):
            release_hold(principal=browser(olga), hold_id=hold.pk, now=LATER)
            assert states(fact) == ["retired"]
            [hold] = hold_again(principal=browser(olga), owner=EVERYONE, hold_ids=[hold.pk], now=LATER)
            assert states(fact) == ["pending"]

    def test_a_held_correction_changes_nothing(self, ana):
        fact = make_fact(ana, WEEKLY)
        assert self.correct(ana, fact, "prefers\u200b monthly").held_at
        assert states(fact) == ["pending"]
        assert not ConsolidationEvent.objects.exists()
