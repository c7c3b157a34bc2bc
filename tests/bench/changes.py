"""Undoing an act on many rows beside the bare statements of as many, another owner's writes meanwhile, and the size."""

import statistics
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import approve
from learning_app.vocabulary import PreferenceState
from minara_site.access.models import User
from minara_site.kernel.changes import services
from minara_site.kernel.changes.models import Change, ChangeSet
from minara_site.kernel.changes.selectors import plan_undo
from minara_site.kernel.guard.core import RULES
from tests.bench.figures import Figure, percentile

COUNT, FEW = 20_000, 600
ROUNDS = 3
MAX_RATIO, MAX_BYTES_SQLITE, MAX_BYTES_POSTGRESQL = 4.0, 300, 360
MAX_P95_MS, MAX_MS, MAX_P95_RATIO = 100, 1_000, 2.0
KIND = "preference"


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure on the engine of this process."""
    count, rounds = (FEW, 1) if small else (COUNT, ROUNDS)
    owner, other = (User.objects.create(username=name) for name in ("many", "other"))
    fill(owner, count)
    ratios = [measure(count) for _round in range(rounds)]
    ratio = statistics.median(ours / bare for ours, bare in ratios)
    beside = ", ".join(f"{ours:.2f} s beside {bare:.2f} s" for ours, bare in ratios)
    figures = [Figure("plan and apply beside bare statements", ratio, "x", "at most 4", ratio <= MAX_RATIO, beside)]
    size, most = bytes_a_change(), MAX_BYTES_SQLITE if is_sqlite() else MAX_BYTES_POSTGRESQL
    figures.append(Figure("bytes a change, indexes included", size, "B", f"at most {most}", size <= most))
    return [*figures, *writes_meanwhile(other, count)]


def is_sqlite() -> bool:
    return connection.vendor == "sqlite"


def fill(owner: User, count: int) -> None:
    """Make proposals of one owner."""
    now = timezone.now()
    common = {"owner": owner, "dimension": "venue", "kind": "soft_preference", "source": "agent", "actor": "key:bench"}
    stamps = {"created_at": now, "updated_at": now, "rules_version": RULES.version}
    rows = (Preference(statement=f"Prefers venue {number}.", **common, **stamps) for number in range(count))
    Preference.objects.bulk_create(rows, batch_size=1_000)


def reject_all(now: Any) -> ChangeSet:
    """Reject every proposal as one act."""
    with transaction.atomic():
        rows = list(Preference.objects.filter(actor="key:bench").order_by("pk"))
        watched = services.watch(KIND, rows)
        for row in rows:
            row.state, row.decided_by, row.decided_at, row.updated_at = PreferenceState.REJECTED, "user:1", now, now
        decided = {"state": "rejected", "decided_by": "user:1", "decided_at": now, "updated_at": now}
        Preference.objects.filter(actor="key:bench").update(**decided)
        made = services.record("preference_rejected", watched, actor="user:1", at=now)
    assert made is not None
    return made


def measure(count: int) -> tuple[float, float]:
    """Return the seconds of planning and applying the undo of an act, and of the bare statements of as many rows."""
    now = timezone.now()
    made = reject_all(now)
    begun = time.perf_counter()
    with transaction.atomic():
        plan = plan_undo([made.pk], actor="user:1", now=now + timedelta(seconds=1), lock=True)
        undone = services.apply_plan(plan, act="undone", actor="user:1", undoes=made, in_one=True)
    ours = time.perf_counter() - begun
    assert undone.changes.count() == count
    rows = list(Preference.objects.filter(actor="key:bench").values_list("pk", "owner_id"))
    begun = time.perf_counter()
    with transaction.atomic():
        Preference.objects.filter(actor="key:bench").update(state="proposed", decided_by="", decided_at=None)
        bare = ChangeSet.objects.create(act="bare", actor="user:1", at=now)
        values = ["rejected", "user:1", 1_764_364_353_123_456, 1, 1_764_364_353_123_456]
        Change.objects.bulk_create(
            [
                Change(set=bare, kind=KIND, key=str(pk), owner_id=owner_id, before=values, after=values)
                for pk, owner_id in rows
            ],
            batch_size=500,
        )
    seconds = time.perf_counter() - begun
    bare.changes.all().delete()
    return ours, seconds


def bytes_a_change() -> float:
    """Return the bytes that the table of changes and its indexes take for each row."""
    with connection.cursor() as cursor:
        if is_sqlite():
            cursor.execute("VACUUM")
            cursor.execute("SELECT SUM(pgsize) FROM dbstat WHERE name LIKE 'changes%'")
        else:
            cursor.execute("VACUUM FULL changes")
            cursor.execute("SELECT pg_total_relation_size('changes')")
        return float(cursor.fetchone()[0]) / Change.objects.count()


def writes_meanwhile(other: User, count: int) -> list[Figure]:
    """Approve preferences of another owner one by one, alone and while a job undoes the act."""
    alone = [approve_one(other) for _number in range(100)]
    made, now = reject_all(timezone.now()), timezone.now()
    with transaction.atomic():
        plan = plan_undo([made.pk], actor="user:1", now=now, lock=True)
        undone = services.store_set(plan.steps, act="undone", actor="user:1", at=now, undoes=made, state="running")
    code = f"import django; django.setup(); from tests.bench import changes; changes.carry_out({undone.pk})"
    job, beside = subprocess.Popen([sys.executable, "-c", code]), []
    while job.poll() is None:
        beside.append(approve_one(other))
        time.sleep(0.005)
    assert job.returncode == 0
    assert undone.changes.count() == count
    p95, longest, usual = percentile(beside, 0.95), max(beside), percentile(alone, 0.95)
    told = f"{len(beside)} writes; alone p95 {usual:.1f} ms"
    if is_sqlite():
        return [
            Figure("another owner's write meanwhile, p95", p95, "ms", f"at most {MAX_P95_MS}", p95 <= MAX_P95_MS, told),
            Figure("the longest of them", longest, "ms", f"at most {MAX_MS}", longest <= MAX_MS, told),
        ]
    ratio = p95 / usual
    return [Figure("another owner's write meanwhile, p95", ratio, "x", "at most 2 alone", ratio <= MAX_P95_RATIO, told)]


def carry_out(set_id: int) -> None:
    """Do what the job does, in a process of its own."""
    services.apply_set(set_id, now=timezone.now())


def approve_one(other: User) -> float:
    """Return the milliseconds of one approval of a new proposal."""
    now = timezone.now()
    stamps = {"created_at": now, "updated_at": now, "rules_version": RULES.version}
    row = Preference.objects.create(
        owner=other,
        dimension="venue",
        kind="soft_preference",
        source="agent",
        actor="key:other",
        statement="Prefers venue.",
        **stamps,
    )
    begun = time.perf_counter()
    approve(preference_id=row.pk, owner=other, actor=f"user:{other.pk}", now=now)
    return (time.perf_counter() - begun) * 1000
