"""Load and remove the demo. One transaction each: it stands whole or not at all.

Rows carry the dates of the story; the audit log says what truly happened: a demo was loaded, now.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Model

from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services import Draft, delete_permanently, write_memories
from memory_app.search.models import SearchLogEntry
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.selectors import list_entries
from memory_app.user_profile.services import MAX_ENTRIES, set_entry
from minara_site.access.models import AccessEntry, User
from minara_site.access.policy import Role
from minara_site.access.users import grant_role, lock_operators, refuse_last_operator
from minara_site.console.demo.content import DAY, DEFAULT_PERSON, MEI_PERSON, DemoMemory, DemoPerson, DemoSession
from minara_site.console.demo.history import delete_history, find_conflict, keep_searches, sweep_facts
from minara_site.console.demo.roles import load_roles, remove_roles
from minara_site.console.models import DemoObject
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.conversations import services as conversations
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.conversations.services import NewTurn, ToolCall
from minara_site.kernel.core.vocabulary import Provenance, Source
from minara_site.kernel.events import memory_written, send_after_commit
from profile_app.prompt import services as prompts
from profile_app.prompt.models import SessionSnapshot

MEI, OLGA = "demo-mei", "demo-olga"
MARKED: dict[str, Any] = {  # by table, in the order of removal
    "access_log": AccessEntry,
    "sessions": Session,
    "user_profile": UserProfileEntry,
    "user_profile_revisions": UserProfileRevision,
    "search_log": SearchLogEntry,
    "access_user": User,
}
AGENT_KEY = "key:demo"
BEFORE_AN_EDIT = timedelta(days=1)
BETWEEN_TURNS = timedelta(minutes=3)


@dataclass(frozen=True, slots=True)
class Story:
    """The load in progress: its moment, who asked for it, and whose data are told."""

    owner: User
    now: datetime
    actor: str

    def ago(self, hours: float) -> datetime:
        """Return the moment that lies this many hours back."""
        return self.now - timedelta(hours=hours)


def is_demo_loaded() -> bool:
    """Say whether any demo row is there."""
    return DemoObject.objects.exists() or bool(Memory.objects.filter(is_demo=True).exists())


def load_demo(*, now: datetime, actor: str) -> int:
    """Load the demo into the user `default` and a second owner; return how many memories came, 0 when it is there."""
    with transaction.atomic():
        default: User = User.objects.select_for_update().get(is_default=True)
        if is_demo_loaded():
            return 0
        mei = make_user(MEI, "Mei Chen", now=now, language="zh-hans", time_zone="Asia/Shanghai")
        olga = make_user(OLGA, "Olga Petrova", now=now)
        grant_role(olga, Role.OPERATOR)
        people = ((default, DEFAULT_PERSON), (mei, MEI_PERSON))
        written = sum(write_person(Story(owner, now, actor), person) for owner, person in people)
        add_access_rows(default, olga, now=now)
        for owner, person in people:
            sweep_facts(owner, person.memories, now=now)
            find_conflict(owner, *person.conflict)
            mark("search_log", *keep_searches(owner, person.searches, actor=AGENT_KEY, now=now))
        load_roles([(owner, person.decisions) for owner, person in people], now=now)
    return written


def make_user(name: str, display_name: str, *, now: datetime, **fields: Any) -> User:
    """Make somebody who cannot sign in."""
    user = User(username=name, display_name=display_name, date_joined=now, **fields)
    user.set_unusable_password()
    user.save(force_insert=True)
    mark("access_user", user)
    return user


def mark(table: str, *rows: Model) -> None:
    """Remember rows of a table as the demo's."""
    DemoObject.objects.bulk_create(DemoObject(table=table, object_id=str(row.pk)) for row in rows)


def write_person(story: Story, person: DemoPerson) -> int:
    """Write one owner's memories, profile and sessions in the order of the story, so that each prompt fits its time."""
    have = set(list_entries(owner=story.owner).values_list("key", flat=True))
    for key, value in person.profile.items():
        if key not in have and len(have) < MAX_ENTRIES:  # what the owner has said stays
            have.add(key)
            made = set_entry(owner=story.owner, key=key, value=value, actor=story.actor, now=story.now)
            mark("user_profile", made.entry)
            mark(
                "user_profile_revisions",
                *UserProfileRevision.objects.for_owner(story.owner).filter(key=key, replaced_at=story.now),
            )
    waiting = sorted(person.memories, key=lambda memory: -memory.hours_ago)
    for session in sorted(person.sessions, key=lambda each: -each.hours_ago):
        write(story, [memory for memory in waiting if memory.hours_ago > session.hours_ago])
        waiting = [memory for memory in waiting if memory.hours_ago <= session.hours_ago]
        hold_session(story, session)
    write(story, waiting)
    return len(person.memories)


def write(story: Story, memories: Sequence[DemoMemory]) -> None:
    """Store memories with their dates, then their earlier texts and deletions."""
    write_memories(
        owner_id=story.owner.pk,
        drafts=[draft_of(story, memory) for memory in memories],
        now=story.now,
        actor=story.actor,
        tool_call="demo_loaded",
    )
    ids = dict(Memory.objects.for_owner(story.owner).filter(is_demo=True).values_list("content", "pk"))
    for memory in memories:
        if memory.before:
            add_history(story, memory, ids[memory.text])
        if memory.deleted_hours_ago is not None:
            Memory.objects.filter(pk=ids[memory.text]).update(deleted_at=story.ago(memory.deleted_hours_ago))


def draft_of(story: Story, memory: DemoMemory) -> Draft:
    """Return the draft of a memory, written by whoever its source says."""
    by_owner = memory.source is Source.USER_MANUAL or memory.origin
    return Draft(
        category=memory.category,
        content=memory.text,
        provenance=Provenance(memory.source, f"user:{story.owner.pk}" if by_owner else AGENT_KEY, memory.origin),
        fact_type=memory.fact_type,
        tickers=memory.tickers,
        written_at=story.ago(memory.hours_ago),
        is_demo=True,
    )


def add_history(story: Story, memory: DemoMemory, pk: int) -> None:
    """Give a memory its earlier texts, a day apart."""
    edited_at = story.ago(memory.hours_ago)
    edits = [edited_at - BEFORE_AN_EDIT * back for back in reversed(range(len(memory.before)))]
    MemoryRevision.objects.bulk_create(
        MemoryRevision(
            memory_id=pk, version=version, content=text, actor=f"user:{story.owner.pk}", replaced_at=replaced_at
        )
        for version, (text, replaced_at) in enumerate(zip(memory.before, edits, strict=True), start=1)
    )
    Memory.objects.filter(pk=pk).update(version=len(memory.before) + 1, created_at=edits[0] - BEFORE_AN_EDIT)


def hold_session(story: Story, session: DemoSession) -> None:
    """Store a session with its frozen prompt and turns, then move it to its time."""
    snapshot = prompts.start_session(owner=story.owner, title=session.title, actor=story.actor, now=story.now)
    began_at = story.ago(session.hours_ago)
    said_at = began_at
    for number, turn in enumerate(session.turns, start=1):
        said_at = began_at + BETWEEN_TURNS * number
        calls = [ToolCall(name, args, ok) for name, args, ok in turn.tools]
        stored = conversations.record_turn(
            owner=story.owner,
            session_id=snapshot.pk,
            turn=NewTurn(turn.user, turn.assistant, calls, turn.completed),
            actor=story.actor,
            now=story.now,
        )
        Turn.objects.filter(pk=stored.pk).update(created_at=said_at)
    if session.is_over:
        prompts.end_session(owner=story.owner, session_id=snapshot.pk, actor=story.actor, now=story.now)
        SessionSnapshot.objects.filter(pk=snapshot.pk).update(wiped_at=said_at)
    SessionSnapshot.objects.filter(pk=snapshot.pk).update(frozen_at=began_at)
    moved = Session.objects.filter(pk=snapshot.pk)
    moved.update(created_at=began_at, last_active_at=said_at, ended_at=said_at if session.is_over else None)
    mark("sessions", snapshot.session)


def add_access_rows(owner: User, viewer: User, *, now: datetime) -> None:
    """Write that an operator of the demo opened the owner's data twice."""
    newest = Memory.objects.for_owner(owner).filter(is_demo=True).live().order_by("-updated_at").values_list("pk")[:1]
    rows = [("memory", str(newest.get()[0]), 26.0), ("prompt", "", 3 * DAY)]
    for kind, object_id, hours in rows:
        at = now - timedelta(hours=hours)
        mark(
            "access_log",
            AccessEntry.objects.create(at=at, viewer=viewer, owner=owner, kind=kind, object_id=object_id),
        )


def remove_demo(*, now: datetime, actor: str) -> int:
    """Remove every demo row and what hangs on it; return how many memories went.

    Raises Conflict when somebody of the demo was made the last operator.
    """
    with transaction.atomic():
        lock_operators()
        User.objects.select_for_update().get(is_default=True)
        if not is_demo_loaded():
            return 0
        people = list(User.objects.filter(username__in=(MEI, OLGA)))
        for user in people:
            refuse_last_operator(user)
        memories = list(Memory.objects.filter(is_demo=True))
        ids = [memory.pk for memory in memories]
        delete_history(ids)
        delete_permanently(ids)
        remove_roles()
        for table, model in MARKED.items():
            marked = DemoObject.objects.filter(table=table).values_list("object_id", flat=True)
            model.objects.filter(pk__in=list(marked)).delete()
        SearchLogEntry.objects.filter(owner_id__in=[user.pk for user in people]).delete()
        DemoObject.objects.all().delete()
        record_audit(now=now, actor=actor, tool_call="demo_removed", details={"count": len(ids)})
        publish_removed(memories)
    return len(memories)


def publish_removed(memories: Sequence[Memory]) -> None:
    """Publish, for each owner who stays, that these memories went."""
    for owner_id in User.objects.filter(pk__in={memory.owner_id for memory in memories}).values_list("pk", flat=True):
        gone = tuple(memory.pk for memory in memories if memory.owner_id == owner_id)
        send_after_commit(memory_written, owner_id=owner_id, memory_ids=gone)
