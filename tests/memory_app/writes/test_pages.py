"""`/ops/writes/`: look, then do exactly that, then undo it."""

import re
from datetime import timedelta
from html import unescape
from urllib.parse import unquote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from learning_app.learnings.services.change import set_deleted
from learning_app.learnings.services.store import LearningDraft, store_learning
from memory_app.memories.core import State
from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, Draft, edit_memory, write_memories
from memory_app.user_profile.services import set_entry
from memory_app.writes.models import WriteRollback
from minara_site.access.models import AccessEntry, ApiKey
from minara_site.access.policy import Scope
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.kit.api import agent_of
from tests.kit.page import text_of
from tests.kit.tables import table
from tests.memory_app.writes.core.test_anomalies import minja
from tests.memory_app.writes.factories import agent, person, roll, unroll, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
BAD = "key:bad00000"
MAX_QUERIES = 15
FINDING_THE_FIRST_WRITE = 2


def hidden_plan(page: str) -> str:
    """Return the hash that the form carries."""
    return re.search(r'name="plan" value="([0-9a-f]{64})"', page)[1]


def since(minutes: int = 60) -> str:
    return (timezone.now() - timedelta(minutes=minutes)).isoformat()


@pytest.mark.database
def test_writers_stand_with_what_they_did(operator_page, ana):
    now = timezone.now()
    bad = agent(ana, "bad00000")
    mine = write(agent(ana, "old00000"), "trail stops by 8%", now=now - timedelta(days=3), typed=True)
    write(bad, "held\u200b", now=now - timedelta(hours=2))
    write(bad, "new", now=now - timedelta(hours=1))
    edit_memory(principal=bad, memory_id=mine.pk, changes=Changes(content="poison"), now=now)
    set_entry(owner=ana, key="zone", value="x", actor=BAD, now=now)
    drafts = [
        Draft(
            Category.FACT,
            f"fact {n}",
            Provenance(Source.USER_EXPLICIT, "command:import"),
        )
        for n in range(3)
    ]
    told = {"actor": "command:import", "tool_call": "memory_import", "details": {"run": "r1"}}
    write_memories(owner_id=ana.pk, drafts=drafts, now=now, **told)
    page = text_of(operator_page.get("/ops/writes/"))
    found = re.findall(r'<span class="cell-sub mono">(.*?)</span></td>\s*(.*?)</tr>', page, re.DOTALL)
    cells_of = {name: re.findall(r'class="n" data-label="([^"]+)">([\d,]+)<', cells) for name, cells in found}
    figures = {name: {label: int(count) for label, count in cells if count != "0"} for name, cells in cells_of.items()}
    assert figures == {"import:r1": {"Written": 3}, BAD: {"Written": 2, "Edited": 1, "Profile": 1, "Held": 1}}
    assert "user:" not in figures
    week = text_of(operator_page.get("/ops/writes/?window=week"))
    assert "key:old00000" in week
    assert "No one wrote" not in text_of(operator_page.get("/ops/writes/?window=nonsense"))
    rows = text_of(operator_page.get("/ops/writes/rows/?writer=import:r1"))
    assert re.findall(r"fact \d", rows) == ["fact 2", "fact 1", "fact 0"]
    assert "poison" not in rows


def test_the_link_of_a_writer_leads_to_all_that_it_wrote(operator_page, ana):
    now, bad = timezone.now(), Principal(ana, ana.role, frozenset({Scope.LEARNING_WRITE}), key_prefix="bad00000")
    stored = LearningDraft("n", "scan the curve pools", [{"tool_name": "a", "args": {}}], "as written")
    learning = store_learning(owner_id=ana.pk, draft=stored, actor="job:night", now=now - timedelta(days=21)).row
    set_deleted(principal=bad, owner=ana, uids=[learning.uid], is_deleted=True, now=now - timedelta(days=20))
    write(bad, "ten days old", now=now - timedelta(days=10))
    write(bad, "an hour old", now=now - timedelta(hours=1))
    draft = Draft(Category.FACT, "imported", Provenance(Source.USER_EXPLICIT, "command:import"))
    told = {"actor": "command:import", "tool_call": "memory_import", "details": {"run": "r1"}}
    write_memories(owner_id=ana.pk, drafts=[draft], now=now - timedelta(days=3), **told)
    faults = {}
    for path, writer, wanted in (
        ("/ops/writes/", BAD, {"Written": 2, "Deletions of learnings": 1}),
        (f"/ops/writes/rows/?writer={BAD}", BAD, {"Written": 2, "Deletions of learnings": 1}),
        ("/ops/writes/?window=week", "import:r1", {"Written": 1}),
        ("/ops/writes/rows/?writer=import:r1", "import:r1", {"Written": 1}),
    ):
        links = re.findall(r'href="(/ops/writes/roll-back/[^"]*)"', text_of(operator_page.get(path)))
        link = next(each for each in map(unescape, links) if unquote(each).partition("writer=")[2].startswith(writer))
        plan = operator_page.get(link).context["view"]
        found = {str(effect.title): count for effect, _result, count in plan.effects}
        faults |= {} if found == wanted else {path: found}
    assert faults == {}


def test_a_value_that_waits_is_left_to_the_queue(operator_page, ana):
    set_entry(owner=ana, key="zone", value="turned \u202earound", actor=BAD, now=timezone.now())
    page = text_of(operator_page.get("/ops/writes/roll-back/", {"writer": BAD, "since": since()}))
    assert "Nothing left to undo" in page
    assert re.search(r"zone.*its new value waits in the queue of held texts", page, re.DOTALL)


def test_an_empty_instance_says_so_calmly(operator_page):
    page = text_of(operator_page.get("/ops/writes/"))
    for words in ("All normal", "No one wrote in this period", "Nothing was rolled back yet"):
        assert words in page


@pytest.mark.database
def test_a_burst_is_seen_within_one_page_load_and_leads_to_its_rows(operator_page, ana):
    now = timezone.now()
    for number, text in enumerate(minja(200)):
        write(agent(ana, "bad00000"), text, now=now - timedelta(seconds=200 - number))
    write(agent(ana, "bad00000"), "BTC reached its weekly resistance", now=now)
    for path in ("/ops/writes/", "/"):
        with CaptureQueriesContext(connection) as queries:
            page = text_of(operator_page.get(path))
        assert "200 memories that say nearly the same" in page
        assert "201 writes within an hour" in page
        assert "All normal" not in page
        if path != "/":
            assert len(queries) <= MAX_QUERIES
    rows_url = re.search(r'href="(/ops/writes/rows/[^"]*similar)"', page)[1].replace("&amp;", "&")
    undo_url = re.search(r'href="(/ops/writes/roll-back/[^"]*)"', page)[1].replace("&amp;", "&")
    assert "weekly resistance" not in text_of(operator_page.get(rows_url))
    assert ">200<" in text_of(operator_page.get(rows_url))
    assert re.search(r"201</span>", text_of(operator_page.get(undo_url)))


@pytest.mark.database
def test_look_confirm_result_undo(operator_page, ana, olga):
    now = timezone.now()
    bad = agent(ana, "bad00000")
    mine = write(agent(ana, "old00000"), "trail stops by 8%", now=now - timedelta(days=2), typed=True)
    edit_memory(principal=bad, memory_id=mine.pk, changes=Changes(content="trail stops by 80%"), now=now)
    added = write(bad, "<b>poison</b>", now=now)
    set_entry(owner=ana, key="zone", value="moon", actor=BAD, now=now)

    page = text_of(operator_page.get("/ops/writes/roll-back/", {"writer": BAD, "since": since()}))
    assert "&lt;b&gt;poison" in page
    assert "into the trash" in page
    edited = text_of(
        operator_page.get(
            "/ops/writes/roll-back/",
            {"writer": BAD, "since": since(), "show": "edited"},
        )
    )
    assert re.search(r"<del>80%?</del>", edited)
    assert Memory.objects.live().count() == 2
    assert AccessEntry.objects.filter(viewer=olga, owner=ana, kind="memories").exists()

    lost = write(bad, "ana took it", now=now, typed=True)
    edit_memory(principal=person(ana), memory_id=lost.pk, changes=Changes(content="mine now"), now=now)
    page = text_of(operator_page.get("/ops/writes/roll-back/", {"writer": BAD, "since": since()}))
    apply_url = re.search(r'href="(/ops/writes/roll-back/apply/[^"]*)"', page)[1].replace("&amp;", "&")
    page = text_of(operator_page.get(apply_url))
    form = {"plan": hidden_plan(page), "reason": "stolen key", "word": BAD}
    refused = text_of(operator_page.post(apply_url, form | {"word": "key:other"}), 422)
    assert "exactly as it is written here" in refused
    assert re.findall(r'name="(\w+)"[^>]* autofocus', refused) == ["word"]
    assert "is required" in text_of(operator_page.post(apply_url, form | {"reason": ""}), 422)
    assert Memory.objects.live().count() == 3

    answer = operator_page.post(apply_url, form)
    record = WriteRollback.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/ops/writes/{record.pk}/")
    page = text_of(operator_page.get(answer["Location"]))
    assert "stolen key" in page
    assert re.search(rf"memory {lost.pk}</a>: its text was changed afterwards, by ana", page)
    assert Memory.objects.get(pk=mine.pk).content == "trail stops by 8%"
    assert Memory.objects.get(pk=added.pk).state == State.DELETED
    assert "stolen key" in text_of(operator_page.get("/memories/trash/?owner=ana"))
    assert "Rolled 3 rows back" in text_of(operator_page.get("/"))

    undo_url = f"/ops/writes/{record.pk}/undo/"
    page = text_of(operator_page.get(undo_url))
    answer = operator_page.post(undo_url, {"plan": hidden_plan(page), "reason": "it was ours", "word": BAD})
    assert answer.status_code == 303
    assert Memory.objects.get(pk=mine.pk).content == "trail stops by 80%"
    assert "Undone by you" in text_of(operator_page.get(f"/ops/writes/{record.pk}/"))
    assert f"roll-back {record.pk}" in text_of(operator_page.get(answer["Location"]))
    assert text_of(operator_page.get(undo_url), 409)


@pytest.mark.database
def test_a_burst_of_retracts_is_seen_and_taken_back(operator_page, ana, olga):
    now, bad = timezone.now(), agent_of(ana)
    key = f"key:{ApiKey.objects.get().prefix}"
    rows = [write(agent(ana, "old00000"), f"lesson {text}", now=now - timedelta(days=2)) for text in minja(110)]
    for row in rows[:10]:
        assert bad.tool("memory_retract", {"id": row.pk, "reason": "gone"}).status_code == 200
    ids = [row.pk for row in rows[10:]]
    assert bad.post("/v1/memory/bulk", {"action": "delete", "ids": ids}).status_code == 200
    page = text_of(operator_page.get("/ops/writes/"))
    assert "110 writes within an hour" in page
    rollback = roll(olga, key, now - timedelta(hours=1), timezone.now())
    assert Memory.objects.live().count() == 110
    unroll(olga, rollback, timezone.now())
    assert Memory.objects.live().count() == 0


def test_a_write_after_the_preview_is_a_conflict_that_shows_the_new_plan(operator_page, ana):
    write(agent(ana, "bad00000"), "one", now=timezone.now())
    address = {"writer": BAD, "since": since()}
    page = text_of(operator_page.get("/ops/writes/roll-back/", address))
    apply_url = re.search(r'href="(/ops/writes/roll-back/apply/[^"]*)"', page)[1].replace("&amp;", "&")
    plan = hidden_plan(text_of(operator_page.get(apply_url)))
    write(agent(ana, "bad00000"), "two, meanwhile", now=timezone.now())
    page = text_of(operator_page.post(apply_url, {"plan": plan, "reason": "stolen key", "word": BAD}), 409)
    assert "two, meanwhile" in page
    assert "stolen key" in page
    assert hidden_plan(page) != plan
    assert not WriteRollback.objects.exists()
    assert text_of(operator_page.get(apply_url), 409)  # the address names the plan of before
    answer = operator_page.post(apply_url, {"plan": hidden_plan(page), "reason": "stolen key", "word": BAD})
    assert answer.status_code == 303
    assert not Memory.objects.live().exists()


def test_a_record_of_older_versions_names_what_it_left_unchanged(operator_page):
    left = [
        {"why": "edited_since", "memory": 7, "owner": None, "key": "", "by": "job:night"},
        {"why": "changed_since", "memory": None, "owner": 1, "key": "zone", "by": ""},
    ]
    counts = {"created": 2, "edited": 0, "deleted": 0, "restored": 0, "profile": 1, "unretired": 0, "left": 2}
    now = timezone.now()
    record = WriteRollback.objects.create(
        writer=BAD,
        since=now,
        actor="job:x",
        at=now,
        counts=counts,
        left=left,
    )
    page = text_of(operator_page.get(f"/ops/writes/{record.pk}/"))
    assert '<a href="/memories/7/">memory 7</a>: its text was changed afterwards, by the job night' in page
    assert '<span class="mono">zone</span>: its value was changed afterwards' in page
    assert record.total == 3


@table(
    ("query", "status"),
    [
        ("", 422),
        ("?writer=key:nobody00", 200),
        ("?writer=%00", 422),
        ("?writer=x&since=yesterday", 422),
        ("?writer=x&since=9999-12-31T23:59:59", 422),
        ("?writer=x&since=2026-06-12T10:00", 200),
        ("?writer=import:x&from=99999999999&show=dance", 200),
        ("?writer=x&since=0001-01-01T00:00:00%2B23:59", 422),
    ],
)
def test_any_address_of_a_preview_is_answered(operator_page, query, status):
    text_of(operator_page.get(f"/ops/writes/roll-back/{query}"), status)
    if status == 422:
        assert operator_page.get(f"/ops/writes/roll-back/apply/{query}")["Location"] == "/ops/writes/"
    text_of(
        operator_page.get(f"/ops/writes/rows/{query}"),
        200 if "writer=" in query and "%00" not in query else 422,
    )


@pytest.mark.database
def test_pages_ask_the_database_few_times(operator_page, ana, ben):
    now = timezone.now()
    for who in (ana, ben):
        for number in range(12):
            write(agent(who, "bad00000"), f"text {number} {who}", now=now)
            set_entry(owner=who, key=f"k{number}", value="x", actor=BAD, now=now)
    for path in (
        "/ops/writes/",
        f"/ops/writes/rows/?writer={BAD}",
        f"/ops/writes/roll-back/?writer={BAD}",
        f"/ops/writes/roll-back/?writer={BAD}&show=profile",
    ):
        with CaptureQueriesContext(connection) as queries:
            text_of(operator_page.get(path))
        assert len(queries) <= MAX_QUERIES + FINDING_THE_FIRST_WRITE * ("/roll-back/" in path), path


@pytest.mark.database
def test_reading_stops_at_a_bound_and_says_so(operator_page, olga, monkeypatch):
    now = timezone.now()
    AuditEntry.objects.bulk_create(
        AuditEntry(
            at=now - timedelta(minutes=number),
            actor=BAD,
            tool_call="memory_write",
            details={"id": number},
        )
        for number in range(1_300)
    )
    assert "1,300" in text_of(operator_page.get("/ops/writes/"))
    monkeypatch.setattr("memory_app.writes.selectors.writers.MAX_READ", 1_000)
    page = text_of(operator_page.get("/ops/writes/"))
    assert "1,000" in page
    assert "Counted from" in page
