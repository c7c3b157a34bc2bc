"""Editing: the allow-list, versions, history, reverting, and the rule of `updated_at`."""

from datetime import timedelta
from functools import partial
from itertools import pairwise, product

import pytest

from memory_app.memories.core import content_hash, is_editable
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.selectors import get_history
from memory_app.memories.services import Changes, edit_memory, revert_memory
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.errors import Conflict, Invalid, NotFound, Refused
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.memories.factories import browser, key, make_memory

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(hours=1)


def edit(user, memory, *, now=LATER, expected_version=None, reason="", **fields):
    options = {"now": now, "expected_version": expected_version, "reason": reason}
    return edit_memory(principal=browser(user), memory_id=memory.pk, changes=Changes(**fields), **options)


@pytest.mark.database
def test_keeps_what_it_said_before(ana):
    memory = make_memory(ana, "Trail BTC by 5%", tickers=["BTC"])
    edited = edit(ana, memory, content="Trail BTC by 8%", reason="too tight")
    assert (edited.content, edited.version, edited.updated_at) == ("Trail BTC by 8%", 2, LATER)
    assert edited.created_at == NOON
    assert edited.content_hash == content_hash("personalization", "Trail BTC by 8%")
    before = MemoryRevision.objects.get()
    assert (before.version, before.content, before.tickers) == (1, "Trail BTC by 5%", ["BTC"])
    assert (before.replaced_at, before.reason) == (LATER, "too tight")


def test_audit_row_holds_id_version_and_hash_and_no_text(ana):
    memory = make_memory(ana, "Canary one")
    edit(ana, memory, content="Canary two", reason="why not")
    entry = AuditEntry.objects.get()
    assert (entry.tool_call, entry.reasoning) == ("memory_edited", "why not")
    assert (entry.actor, entry.owner_id) == (f"user:{ana.pk}", ana.pk)
    assert set(entry.details) == {"id", "version", "sha256"}
    assert (entry.details["id"], entry.details["version"]) == (memory.pk, 2)
    assert "Canary" not in str(entry.details)


@table("fields", [{"fact_type": "risk"}, {"tickers": ("ETH",)}])
def test_updated_at_stays_when_only_the_label_changes(ana, fields):
    edited = edit(ana, make_memory(ana), **fields)
    assert (edited.version, edited.updated_at) == (2, NOON)


@pytest.mark.database
def test_an_edit_that_changes_nothing_keeps_the_version(ana):
    memory = make_memory(ana, "Same", tickers=["BTC"])
    edited = edit(ana, memory, content="  Same ", tickers=("btc",), fact_type="")
    assert (edited.version, edited.updated_at) == (1, NOON)
    assert not AuditEntry.objects.exists()
    assert not MemoryRevision.objects.exists()


@table(("category", "source"), list(product(Category, Source)))
def test_only_what_the_owner_typed_may_be_changed(ana, category, source):
    memory = make_memory(ana, "Before", category=category, source=source)
    allowed = (category, source) == (Category.PERSONALIZATION, Source.USER_MANUAL)
    assert is_editable(category=category, source=source) is allowed
    if allowed:
        assert edit(ana, memory, content="After").content == "After"
    else:
        with pytest.raises(Refused) as caught:
            edit(ana, memory, content="After")
        assert caught.value.problem_code == "not_editable"
        assert Memory.objects.get().content == "Before"
        assert not AuditEntry.objects.exists()


@table("actor", ["user:1", "command:import", "job:profile.rebuild"])
def test_a_key_changes_only_what_keys_wrote(ana, actor):
    memory = make_memory(ana, "Before", actor=actor)
    by_key = partial(
        edit_memory,
        principal=key(ana),
        memory_id=memory.pk,
        changes=Changes(content="After"),
        now=LATER,
    )
    with pytest.raises(Refused) as caught:
        by_key()
    assert (caught.value.problem_code, Memory.objects.get().content) == ("not_editable", "Before")
    Memory.objects.update(actor="key:another1")
    assert by_key().actor == "key:abcd1234"
    edit(ana, memory, content="Mine")
    with pytest.raises(Refused):
        by_key()


def test_a_row_without_source_may_not_be_changed(ana):
    memory = make_memory(ana, "Before")
    Memory.objects.update(source=None)
    with pytest.raises(Refused):
        edit(ana, memory, content="After")


def test_an_operator_cannot_write_into_another_owners_text(ana, olga):
    memory = make_memory(ana, "Before")
    with pytest.raises(NotFound):
        edit(olga, memory, content="After")
    assert Memory.objects.get().content == "Before"


@pytest.mark.database
def test_a_stale_version_changes_nothing_and_brings_the_current_row(ana):
    memory = make_memory(ana, "One")
    edit(ana, memory, content="Two", expected_version=1)
    with pytest.raises(Conflict) as caught:
        edit(ana, memory, content="Three", expected_version=1)
    assert (caught.value.current["content"], caught.value.current["version"]) == ("Two", 2)
    with pytest.raises(Conflict):
        edit(ana, memory, content="Three", expected_version=9)
    assert Memory.objects.get().content == "Two"
    assert AuditEntry.objects.count() == 1


@table("content", ["", "   ", "x" * 4001, "a\0b", "a\udc00"])
def test_a_text_that_cannot_be_stored_changes_nothing(ana, content):
    with pytest.raises(Invalid):
        edit(ana, make_memory(ana, "Before"), content=content)
    assert Memory.objects.get().version == 1
    assert not MemoryRevision.objects.exists()


@pytest.mark.database
def test_history_shows_every_version_with_its_change_newest_first(ana):
    memory = make_memory(ana, "Trail BTC by 5%")
    edit(ana, memory, content="Trail BTC by 8%")
    edited = edit(ana, memory, content="Trail BTC and ETH by 8%", now=LATER + timedelta(hours=1))
    history = get_history(edited)
    assert [entry.version for entry in history] == [3, 2, 1]
    assert [entry.is_current for entry in history] == [True, False, False]
    assert [entry.written_at for entry in history] == [LATER + timedelta(hours=1), LATER, NOON]
    assert history[2].changes == ()
    for newer, older in pairwise(history):
        after = "".join(text for op, text in newer.changes if op != "delete")
        before = "".join(text for op, text in newer.changes if op != "insert")
        assert (after, before) == (newer.content, older.content)


@pytest.mark.database
def test_history_of_a_row_that_changed_since_it_was_read_tells_no_version_twice(ana):
    read = make_memory(ana, "One")
    edit(ana, read, content="Two")
    assert [(entry.version, entry.content) for entry in get_history(read)] == [(1, "One")]


@pytest.mark.database
def test_reverting_is_a_new_version(ana):
    memory = make_memory(ana, "One", tickers=["BTC"], fact_type="risk")
    edit(ana, memory, content="Two", tickers=(), fact_type="")
    reverted = revert_memory(
        principal=browser(ana),
        memory_id=memory.pk,
        version=1,
        now=LATER + timedelta(hours=1),
    )
    assert (reverted.content, reverted.tickers, reverted.fact_type, reverted.version) == ("One", ["BTC"], "risk", 3)
    assert reverted.updated_at == LATER + timedelta(hours=1)
    assert [entry.content for entry in get_history(reverted)] == ["One", "Two", "One"]
    entry = AuditEntry.objects.order_by("id").last()
    assert (entry.tool_call, entry.reasoning) == ("memory_reverted", "version:1")


def test_there_is_no_version_that_never_was(ana):
    with pytest.raises(NotFound):
        revert_memory(principal=browser(ana), memory_id=make_memory(ana).pk, version=1, now=LATER)


@pytest.mark.database
def test_reverting_asks_for_the_version_that_was_read(ana):
    memory = make_memory(ana, "One")
    edit(ana, memory, content="Two")
    with pytest.raises(Conflict):
        revert_memory(principal=browser(ana), memory_id=memory.pk, version=1, now=LATER, expected_version=1)
