"""The purge as the worker runs it."""

import json
from datetime import timedelta

import pytest

from memory_app.memories import tasks
from memory_app.memories.models import Memory
from memory_app.memories.services import purge_expired
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Unavailable
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import Cancelled, cancel_run, claim_run
from minara_site.kernel.jobs.table import find_job
from tests.kit.clock import NOON
from tests.kit.site import Site
from tests.memory_app.memories.factories import make_many

RACERS = "tests.memory_app.memories.racers"


def test_runs_every_half_hour():
    job = find_job("memories.purge_expired")
    assert job.every == timedelta(minutes=30)
    assert not job.settles


@pytest.mark.database
@pytest.mark.processes
def test_leaves_no_word_behind_and_is_safe_to_run_twice(site: Site) -> None:
    """On SQLite not even in the bytes of the files; PostgreSQL overwrites its own in time."""
    word = "quokkawhisper"
    site.call(f"{RACERS}:write_and_edit", word)
    assert traces(site, word)
    assert json.loads(site.call(f"{RACERS}:purge_now")) == {"purged": 42, "again": 0, "problems": []}
    assert traces(site, word) == []


def traces(site: Site, word: str) -> list[str]:
    """Return the files, or on PostgreSQL the tables, in which a word stands."""
    if not site.url:
        files = [path for path in site.folder.iterdir() if path.is_file()]
        return [path.name for path in files if word.encode() in path.read_bytes()]
    tables = (
        "memories",
        "memory_revisions",
        "search_document",
        "audit_log",
        "session_snapshots",
        "holds",
        "search_log",
    )
    return [table for table in tables if site.query(f"SELECT 1 FROM {table} t WHERE t::text LIKE '%{word}%' LIMIT 1")]


@pytest.mark.database
@pytest.mark.django_db
def test_a_purge_that_died_before_cleaning_is_cleaned_by_the_next_run(ana, monkeypatch):
    cleaned = []
    monkeypatch.setattr(tasks, "optimize_index", lambda: cleaned.append("index"))
    monkeypatch.setattr(tasks.db, "checkpoint", lambda *_alias: True)
    record_audit(now=NOON, actor="job:memories.purge_expired", tool_call="memory_purged", owner_id=ana.pk)
    assert tasks.purge(now=NOON + timedelta(minutes=30)) == {"purged": 0}
    assert cleaned == ["index"]
    JobRun.objects.create(
        job=tasks.PURGE,
        state=RunState.SUCCEEDED,
        created_at=NOON,
        finished_at=NOON + timedelta(minutes=30),
    )
    tasks.purge(now=NOON + timedelta(minutes=60))
    assert cleaned == ["index"]


@pytest.mark.django_db
def test_a_reader_in_the_way_makes_the_purge_try_again(ana, monkeypatch):
    monkeypatch.setattr(tasks.db, "checkpoint", lambda *_alias: False)
    record_audit(now=NOON, actor="job:memories.purge_expired", tool_call="memory_purged", owner_id=ana.pk)
    with pytest.raises(Unavailable):
        tasks.purge(now=NOON + timedelta(minutes=30))


@pytest.mark.database
@pytest.mark.django_db
def test_a_purge_says_how_far_it_is_and_stops_between_two_slices_when_asked(ana):
    make_many(ana, 5, deleted_at=NOON)
    later = NOON + timedelta(days=31)
    run = JobRun.objects.create(job=tasks.PURGE, created_at=later, enqueued_at=later)
    claim = claim_run(run.pk, worker="host:1:2", now=later)
    assert not cancel_run(run.pk, now=later)
    with pytest.raises(Cancelled):
        purge_expired(now=later, slice_size=2, claim=claim)
    assert Memory.objects.count() == 3
    JobRun.objects.update(cancel_requested_at=None)
    assert purge_expired(now=later, slice_size=2, claim=claim) == 3
    assert JobRun.objects.values_list("done", "total").get() == (3, 3)
