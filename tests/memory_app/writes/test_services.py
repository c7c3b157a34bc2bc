"""Rolling back what a writer wrote, and undoing it: the promise of trust P-07."""

import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.index.documents import index_problems
from memory_app.memories.core import State
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.selectors import get_history, retention
from memory_app.memories.services import (
    Changes,
    Draft,
    delete_memories,
    edit_memory,
    purge_expired,
    restore_memories,
    write_memories,
)
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import remove_entry, set_entry
from memory_app.writes.models import RolledBackMemory, WriteRollback
from memory_app.writes.selectors.plans import preview_roll_back
from memory_app.writes.services import roll_back
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.rollback import UNCHANGED
from minara_site.kernel.unchanged import UnchangedReason
from tests.memory_app.edges.factories import edges_of
from tests.memory_app.writes.factories import agent, person, profiles, roll, standing, unroll, write

pytestmark = [pytest.mark.django_db, pytest.mark.database]
MINUTE = timedelta(minutes=1)
BAD = "key:bad00000"


def edit(who: Principal, memory_id: int, text: str, now: datetime, **changes: Any) -> None:
    edit_memory(principal=who, memory_id=memory_id, changes=Changes(content=text, **changes), now=now)


class Mixed:
    """Many writes by five actors, in a random order that is the same each time."""

    def __init__(self, ana: Any, ben: Any, since: datetime) -> None:
        self.dice = random.Random(7)
        self.clock = since
        self.ana, self.ben = ana, ben
        self.bad = agent(ana, "bad00000")
        self.others = [agent(ana, "good0000"), person(ana), person(ben)]
        self.typed = {
            who.pk: [
                write(
                    person(who),
                    f"{who} typed {n}",
                    now=since - MINUTE * (n + 1),
                    typed=True,
                ).pk
                for n in range(400)
            ]
            for who in (ana, ben)
        }
        self.writes = 0
        for who in (ana, ben):
            gone = self.typed[who.pk][:60]
            delete_memories(principal=person(who), owner=who, ids=gone, now=since - MINUTE)
            for number in range(8):
                set_entry(owner=who, key=f"k{number}", value=f"v{number}", actor=f"user:{who.pk}", now=since - MINUTE)

    def tick(self) -> datetime:
        self.clock += timedelta(seconds=1)
        return self.clock

    def bulk(self, who: Principal, count: int) -> None:
        """Import memories for this writer."""
        provenance, said = Provenance(Source.USER_EXPLICIT, who.actor, "import:a.md:1"), f"{who.actor} imported"
        drafts = [Draft(Category.FACT, f"{said} {self.writes + n}", provenance) for n in range(count)]
        told = {"actor": who.actor, "tool_call": "memory_import", "now": self.tick()}
        write_memories(owner_id=who.owner.pk, drafts=drafts, **told)
        self.writes += count

    def act(self, who: Principal, rows: list[int]) -> None:
        """Do one of the acts that a writer has, on rows that nobody else touches."""
        live = list(Memory.objects.filter(pk__in=rows).live().values_list("pk", flat=True))
        gone = sorted(set(rows) - set(live))
        chance = self.dice.random()
        if chance < 0.5:
            text = f"{who.actor} wrote again {self.writes}"
            edit(who, self.dice.choice(live), text, self.tick(), tickers=("BTC",), fact_type="habit")
        elif chance < 0.65:
            rows.append(write(who, f"{who.actor} said {self.writes}", now=self.tick(), typed=True).pk)
        elif chance < 0.75 and len(live) > 60:
            chosen = self.dice.sample(live, 4)
            delete_memories(principal=who, owner=who.owner, ids=chosen, now=self.tick())
            self.writes += 3
        elif chance < 0.85 and gone:
            restore_memories(principal=who, owner=who.owner, ids=self.dice.sample(gone, 1), now=self.tick())
        elif chance < 0.95:
            mine = {"key:bad00000": range(3), "key:good0000": range(3, 6)}.get(who.actor, range(6, 8))
            key = f"k{self.dice.choice(mine)}"
            set_entry(
                owner=who.owner,
                key=key,
                value=f"{who.actor} {self.writes}",
                actor=who.actor,
                now=self.tick(),
            )
        else:
            entry = {"owner": who.owner, "key": f"new-{who.key_prefix or who.owner.pk}", "actor": who.actor}
            set_entry(**entry, value=str(self.writes), now=self.tick())
            remove_entry(**entry, now=self.tick())
        self.writes += 1

    def run(self, count: int) -> None:
        """Write until there are so many."""
        shares = {
            who.actor: self.typed[who.owner.pk][place % 3 * 130 : place % 3 * 130 + 130]
            for place, who in enumerate([self.bad, *self.others])
        }
        while self.writes < count:
            who = self.dice.choice([self.bad, *self.others])
            if self.dice.random() < 0.025:
                self.bulk(who, self.dice.randint(50, 300))
            else:
                self.act(who, shares[who.actor])


@pytest.mark.parametrize("count", [1_500, pytest.param(5_000, marks=pytest.mark.soak)])
def test_mixed_writes_roll_back_and_return_byte_by_byte(ana, ben, olga, now, count):
    since = now - timedelta(hours=12)
    mixed = Mixed(ana, ben, since)
    before, before_profiles = standing(), {row for row in profiles() if row[1] in {"k0", "k1", "k2"}}
    mixed.run(count)
    after, after_profiles = standing(), profiles()
    others_profiles = {row for row in after_profiles if row[0] == ben.pk or row[1] not in {"k0", "k1", "k2"}}
    touched = {pk for pk, row in after.items() if pk in before and row != before[pk] and row["actor"] == BAD}
    assert len(touched) > 20

    with CaptureQueriesContext(connection) as queries:
        rollback = roll(olga, BAD, since, now)
    assert len(queries) < 50 + sum(rollback.counts.values()) / 10

    back = standing()
    steps = dict(RolledBackMemory.objects.values_list("memory_id", "done"))
    assert rollback.counts["left"] == 0
    done = {kind for kind, count in rollback.counts.items() if count}
    assert done == {"created", "edited", "deleted", "restored", "profile"}
    for pk, row in back.items():
        if steps.get(pk) == "created":
            assert row == {**after[pk], "deleted_at": now}
        elif pk in steps:
            assert row == before[pk]
        else:
            assert row == after[pk]
    assert not any(row["actor"] == BAD and row["deleted_at"] is None for row in back.values())
    assert {row for row in profiles() if row[0] == ana.pk and row[1] in {"k0", "k1", "k2"}} == {
        row for row in before_profiles if row[0] == ana.pk
    }
    assert {row for row in profiles() if row[0] == ben.pk or row[1] not in {"k0", "k1", "k2"}} == others_profiles

    unroll(olga, rollback, now + MINUTE)
    assert standing() == after
    assert profiles() == after_profiles
    assert index_problems() == []


class TestWhatOthersDid:
    def test_rows_that_somebody_else_changed_since_are_left_alone(self, ana, olga, now):
        bad, since = agent(ana, "bad00000"), now - 9 * MINUTE
        mine = write(person(ana), "trail stops by 8%", now=since - MINUTE, typed=True)
        taken = write(bad, "typed by the key", now=since, typed=True)
        deleted = write(bad, "deleted by ana", now=since, typed=True)
        lone = write(bad, "nobody else touched it", now=since)
        edit(bad, mine.pk, "trail stops by 80%", now - 8 * MINUTE)
        edit(person(ana), mine.pk, "trail stops by 9%", now - 7 * MINUTE)
        edit(person(ana), taken.pk, "mine now", now - 7 * MINUTE)
        delete_memories(principal=person(ana), owner=ana, ids=[deleted.pk], now=now - 6 * MINUTE)
        set_entry(owner=ana, key="zone", value="bad", actor=BAD, now=since)
        set_entry(owner=ana, key="zone", value="good", actor="user:1", now=now - 5 * MINUTE)
        before = standing()

        rollback = roll(olga, BAD, since, now)

        assert {kind: count for kind, count in rollback.counts.items() if count} == {"created": 1, "left": 4}
        assert {(each.get("memory"), each.get("key", "")): each["why"] for each in rollback.left} == {
            (mine.pk, ""): UnchangedReason.EDITED_SINCE,
            (taken.pk, ""): UnchangedReason.EDITED_SINCE,
            (deleted.pk, ""): UnchangedReason.MOVED_SINCE,
            (None, "zone"): UnchangedReason.CHANGED_SINCE,
        }
        assert standing() == before | {lone.pk: {**before[lone.pk], "deleted_at": now}}
        assert UserProfileEntry.objects.get(key="zone").value == "good"

    def test_a_value_that_waits_is_named_as_long_as_it_waits(self, ana, olga, now):
        for key, actor in (("new", BAD), ("zone", "key:good0000"), ("zone", BAD)):
            set_entry(owner=ana, key=key, value="turned \u202earound", actor=actor, now=now - MINUTE)
        plan = preview_roll_back(writer=BAD, since=now - MINUTE, now=now)
        assert plan.is_empty
        assert [(row.reason, row.object_id) for _kind, row in plan.items(UNCHANGED)] == [(UnchangedReason.WAITS, "new")]
        set_entry(owner=ana, key="new", value="mine", actor="user:1", now=now)
        assert not preview_roll_back(writer=BAD, since=now - MINUTE, now=now).items(UNCHANGED)

    def test_writes_of_before_the_moment_and_of_others_stay(self, ana, olga, now):
        bad = agent(ana, "bad00000")
        early = write(bad, "the day before", now=now - timedelta(days=1))
        other = write(agent(ana, "good0000"), "another key", now=now - MINUTE)
        late = write(bad, "just now", now=now - MINUTE)
        roll(olga, BAD, now - 2 * MINUTE, now)
        states = {early.pk: State.LIVE, other.pk: State.LIVE, late.pk: State.DELETED}
        assert {row.pk: row.state for row in Memory.objects.all()} == states

    def test_an_undo_leaves_alone_what_changed_since(self, ana, olga, now):
        bad, since = agent(ana, "bad00000"), now - 9 * MINUTE
        one, two = (write(person(ana), f"text {n}", now=since - MINUTE, typed=True) for n in range(2))
        edit(bad, one.pk, "poison", since)
        edit(bad, two.pk, "poison", since)
        rollback = roll(olga, BAD, since, now)
        edit(person(ana), one.pk, "ana's newest", now + MINUTE)
        undone = unroll(olga, rollback, now + 2 * MINUTE)
        assert undone.counts["edited"] == undone.counts["left"] == 1
        assert list(Memory.objects.order_by("pk").values_list("content", flat=True)) == ["ana's newest", "poison"]


class TestPlan:
    def test_a_plan_that_is_out_of_date_changes_nothing(self, ana, olga, now):
        bad = agent(ana, "bad00000")
        write(bad, "one", now=now - 3 * MINUTE)
        since = now - 5 * MINUTE
        sha256 = preview_roll_back(writer=BAD, since=since, now=now).sha256
        assert preview_roll_back(writer=BAD, since=since, now=now + MINUTE).sha256 == sha256
        write(bad, "two", now=now - MINUTE)
        with pytest.raises(Conflict) as caught:
            roll_back(principal=person(olga), writer=BAD, since=since, sha256=sha256, reason="x", now=now)
        assert caught.value.problem_code == "stale"
        assert Memory.objects.live().count() == 2
        assert not WriteRollback.objects.exists()

    def test_nothing_to_take_back_is_refused(self, olga, now):
        with pytest.raises(Invalid):
            roll(olga, "key:nobody00", now, now)

    def test_a_roll_back_is_undone_once_and_an_undo_never(self, ana, olga, now):
        write(agent(ana, "bad00000"), "one", now=now - MINUTE)
        rollback = roll(olga, BAD, now - MINUTE, now)
        undone = unroll(olga, rollback, now)
        for each in (rollback, undone):
            with pytest.raises(Conflict):
                unroll(olga, each, now)

    def test_after_an_undo_it_can_be_rolled_back_again(self, ana, olga, now):
        bad, since = agent(ana, "bad00000"), now - 9 * MINUTE
        mine = write(person(ana), "before", now=since - MINUTE, typed=True)
        edit(bad, mine.pk, "poison", since)
        added = write(bad, "added", now=since)
        before = standing()
        for number in range(2):
            rollback = roll(olga, BAD, since, now + number * MINUTE)
            assert (rollback.counts["edited"], rollback.counts["created"], rollback.counts["left"]) == (1, 1, 0)
            assert Memory.objects.get(pk=mine.pk).content == "before"
            unroll(olga, rollback, now + number * MINUTE)
            assert standing() == before
        assert Memory.objects.get(pk=added.pk).version == 1
        assert Memory.objects.get(pk=mine.pk).version == 6

    def test_one_run_of_an_import_is_taken_back_alone(self, ana, olga, now):
        def load(run: str, text: str) -> None:
            provenance = Provenance(Source.USER_EXPLICIT, "command:import")
            drafts = [Draft(Category.FACT, f"{text} {n}", provenance) for n in range(3)]
            told = {"actor": "command:import", "now": now - MINUTE, "details": {"run": run}}
            write_memories(owner_id=ana.pk, drafts=drafts, tool_call="memory_import", **told)
            set_entry(owner=ana, key=run, value="v", **told)

        load("first", "one")
        load("second", "two")
        rollback = roll(olga, "import:second", now - MINUTE, now)
        assert (rollback.counts["created"], rollback.counts["profile"]) == (3, 1)
        assert {row.content[:3] for row in Memory.objects.live()} == {"one"}
        assert list(UserProfileEntry.objects.values_list("key", flat=True)) == ["first"]


class TestTraces:
    def test_the_log_names_ids_and_hashes_and_no_text(self, ana, ben, olga, now):
        ids = [write(agent(ana, "bad00000"), f"poison {n}", now=now - MINUTE).pk for n in range(3)]
        set_entry(owner=ana, key="zone", value="poison", actor=BAD, now=now - MINUTE)
        rollback = roll(olga, BAD, now - MINUTE, now, reason="key was stolen")
        [entry] = AuditEntry.objects.filter(tool_call="write_rollback")
        assert (entry.actor, entry.owner_id, entry.reasoning) == (f"user:{olga.pk}", ana.pk, "key was stolen")
        assert entry.details == {
            "rollback": rollback.pk,
            "writer": BAD,
            "batch": rollback.batch,
            "plan_sha256": rollback.plan_sha256,
            "ids": [[ids[0], ids[-1]]],
            "keys": ["zone"],
            "count": 4,
            **{key: [] for key in ("methodologies", "deployments", "learnings", "preferences", "documents")},
        }
        unroll(olga, rollback, now)
        assert AuditEntry.objects.get(tool_call="write_rollback_undone").details["rollback"] == rollback.pk

    def test_it_stands_in_the_history_as_an_edit(self, ana, olga, now):
        mine = write(person(ana), "before", now=now - 9 * MINUTE, typed=True)
        edit(agent(ana, "bad00000"), mine.pk, "poison", now - MINUTE)
        rollback = roll(olga, BAD, now - MINUTE, now)
        newest, *_older = get_history(Memory.objects.get(pk=mine.pk))
        assert (newest.version, newest.content, newest.before) == (3, "before", "poison")
        assert newest.reason == f"Roll-back {rollback.pk}"

    def test_what_is_derived_from_a_text_goes_with_it(self, ana, olga, now):
        row = write(person(ana), "long BTC", now=now - 9 * MINUTE, typed=True)
        edit(agent(ana, "bad00000"), row.pk, "sold ETH", now - MINUTE)
        Memory.objects.filter(pk=row.pk).update(embedding_state="embedded")
        roll(olga, BAD, now - 5 * MINUTE, now)
        assert edges_of(row) == {"holds ticker BTC"}
        assert Memory.objects.get(pk=row.pk).embedding_state == "pending"

    def test_a_purge_takes_what_a_roll_back_kept(self, ana, olga, now):
        mine = write(person(ana), "before", now=now - 9 * MINUTE, typed=True)
        edit(agent(ana, "bad00000"), mine.pk, "poison", now - MINUTE)
        write(agent(ana, "bad00000"), "poison", now=now - MINUTE)
        roll(olga, BAD, now - MINUTE, now)
        purge_expired(now=now + retention())
        assert RolledBackMemory.objects.count() == 1
        assert MemoryRevision.objects.filter(content="poison").count() == 1


def test_what_comes_back_is_judged_by_the_rules_of_today(ana, olga, now):
    bad, since = agent(ana, "bad00000"), now - 9 * MINUTE
    row = write(agent(ana, "old00000"), "trail stops", now=since - MINUTE, typed=True)
    gone = write(agent(ana, "old00000"), "old notes", now=since - MINUTE, typed=True)
    hidden = "trail\u200b stops"  # stored before any rule knew it
    Memory.objects.filter(pk=row.pk).update(content=hidden, rules_version="older")
    Memory.objects.filter(pk=gone.pk).update(content="old\u200b notes", rules_version="older")
    set_entry(owner=ana, key="zone", value="before", actor="user:1", now=since - MINUTE)
    UserProfileEntry.objects.update(value="be\u200bfore")
    edit(bad, row.pk, "poison", since)
    delete_memories(principal=bad, owner=ana, ids=[gone.pk], now=since)
    set_entry(owner=ana, key="zone", value="poison", actor=BAD, now=since)

    rollback = roll(olga, BAD, since, now)

    assert Memory.objects.get(pk=row.pk).content == hidden
    assert {each.state for each in Memory.objects.all()} == {State.HELD}
    entry = UserProfileEntry.objects.get(key="zone")
    assert (entry.value, entry.held_value) == ("", "be\u200bfore")
    assert Hold.objects.open().count() == 3
    unroll(olga, rollback, now + MINUTE)
    assert (Memory.objects.get(pk=row.pk).content, Memory.objects.get(pk=row.pk).state) == ("poison", State.LIVE)
    assert Memory.objects.get(pk=gone.pk).state == State.DELETED
    entry.refresh_from_db()
    assert (entry.value, entry.held_value) == ("poison", "")
    assert not Hold.objects.open().filter(kind="user_profile").exists()


def test_a_held_row_goes_to_the_trash_and_comes_back_held(ana, olga, now):
    row = write(agent(ana, "bad00000"), "poi\u200bson", now=now - MINUTE)
    assert row.state == State.HELD
    rollback = roll(olga, BAD, now - MINUTE, now)
    assert Memory.objects.get(pk=row.pk).state == State.DELETED
    assert not Hold.objects.open().exists()
    unroll(olga, rollback, now)
    assert Memory.objects.get(pk=row.pk).state == State.HELD
    assert Hold.objects.open().count() == 1
