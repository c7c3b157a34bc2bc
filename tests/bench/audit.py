"""An audit pass over a large learning loop, against reading the same rows bare; a writer beside it; the page.

The reference fetches every column of the rows that the pass reads, kind by kind, with the engine's own cursor and looks
at none of them. Memory is the peak of the process while the pass runs.
"""

import json
import statistics
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone

from learning_app.audit.models import AuditReport
from learning_app.audit.services.run import Yielding, run_pass
from learning_app.cases.models import CronRun, TradingCase
from learning_app.methodologies.models import Methodology
from minara_site.access.models import OPERATORS_GROUP, User
from tests.bench.figures import Figure, timed
from tests.bench.learning import peak_mb, reset_peak
from tests.bench.pages import PLAIN_FILES
from tests.kit.clock import NOON
from tests.learning_app.rows import build_case, build_methodology

METHODS, ROWS = 10_000, 1_000_000
KINDS = (
    *("outcome_recorded",) * 8,
    *("reflection_adjusted",) * 6,
    *("deduplicated", "created", "graduated", "graduated", "demoted", "quarantined"),
)
STATES = (*("confirmed_good",) * 5, *("confirmed_bad",) * 3, "inconclusive", "pending")
MAX_RATIO, MAX_MEMORY_RATIO, MAX_WRITER_RATIO, MAX_PAGE_RATIO, MAX_QUERIES = 4.0, 1.5, 2.0, 1.5, 20
WRITES, ROUNDS = 2_000, 25
FIRST_METHODS, FIRST_ROWS = 20, 400  # of the page's reports


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Audit a loop of a tenth of the size, then the whole one; let a writer work beside passes; open the page."""
    (scratch / "static").mkdir()
    methods, rows = (400, 8_000) if small else (METHODS, ROWS)
    page = page_figures(small=small)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA mmap_size = 0")  # else pages of the file count as memory of the process
    fill(FIRST_METHODS, methods // 10, rows // 10 - FIRST_ROWS)
    _seconds, little = measure()
    fill(methods // 10, methods, rows - rows // 10)
    seconds, much = measure()
    bare = timed(read_bare)
    alone, beside = write_alone(scratch, small=small), write_beside(scratch, small=small)
    return [
        Figure(
            f"a pass over {methods:,} methodologies, {rows:,} events and {rows:,} cases, against reading them bare",
            seconds / bare,
            "x",
            bound=f"at most {MAX_RATIO:g}",
            ok=small or seconds / bare <= MAX_RATIO,
            reference=f"{seconds:.2f} s, bare {bare:.2f} s",
        ),
        Figure(
            "memory of that pass against a tenth of the rows",
            much / little,
            "x",
            bound=f"at most {MAX_MEMORY_RATIO:g}",
            ok=small or much / little <= MAX_MEMORY_RATIO,
            reference=f"peak {much:.0f} MB, {little:.0f} MB",
        ),
        Figure(
            "writes beside passes, against writes alone",
            beside / alone,
            "x",
            bound=f"at most {MAX_WRITER_RATIO:g}",
            ok=small or beside / alone <= MAX_WRITER_RATIO,
            reference=f"{beside:.2f} s, alone {alone:.2f} s for {WRITES:,} writes",
        ),
        *page,
    ]


def fill(first: int, methods: int, rows: int) -> None:
    """Make the methodologies from `first` up to so many, and so many events and cases more, over thirty days."""
    owner = User.objects.get(is_default=True)
    made = (build_methodology(number + 1, correct=15, used=20, quarantine=0) for number in range(first, methods))
    Methodology.objects.bulk_create(made, batch_size=2_000)
    sample = build_case(owner)
    sample.save()
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
    at = f"strftime('%Y-%m-%d %H:%M:%f', '{NOON:%Y-%m-%d %H:%M:%S}', '-' || (i * 7919 % 2592000) || ' seconds')"
    day_before = at.replace("seconds')", "seconds', '-1 day')")
    state = case_of(STATES, "i")
    changed = {
        "decided_at": day_before,
        "window_ends_at": at,
        "outcome_state": state,
        "resolved_at": f"CASE WHEN {state} = 'pending' THEN NULL ELSE {at} END",
    }
    copied = [field.column for field in TradingCase._meta.fields if field.column not in {*changed, "id"}]
    with connection.cursor() as cursor:
        cursor.execute(
            f"{numbers} INSERT INTO methodology_lifecycle_events (methodology_id, kind, at, actor, reason_text, details,"
            f" confidence, times_used, times_correct, quarantine, is_demo) SELECT 1 + i * 31 % {methods},"
            f" {case_of(KINDS, 'i / 97')}, {at}, 'bench',"
            " CASE i % 3 WHEN 0 THEN 'flag: it fails in a chop' ELSE 'recovery: it holds' END,"
            " '{\"correct\": true}', 0.6, 20, 15, 0, 0 FROM n"
        )
        cursor.execute(
            f"{numbers} INSERT INTO methodology_cases ({', '.join([*changed, *copied])})"
            f" SELECT {', '.join([*changed.values(), *(f'c.{name}' for name in copied)])}"
            f" FROM n, methodology_cases c WHERE c.id = {sample.pk}"
        )
        cursor.execute("ANALYZE")
    sample.delete()
    CronRun.objects.get_or_create(started_at=NOON, ended_at=NOON, requested_by="bench", is_ok=True)


def case_of(values: tuple[str, ...], number: str) -> str:
    """Return SQL that takes one value after the other."""
    cases = " ".join(f"WHEN {place} THEN '{value}'" for place, value in enumerate(values))
    return f"(CASE ({number}) % {len(values)} {cases} END)"


def measure() -> tuple[float, float]:
    """Return the seconds and the peak memory in MB of a pass."""
    reset_peak()
    seconds = timed(audit)
    return seconds, peak_mb()


def audit(now: datetime = NOON) -> None:
    """Run a pass."""
    run_pass(now=now, requested_by="bench", yielding=Yielding(left=0))


def read_bare() -> None:
    """Fetch every row of the three tables with the engine's cursor."""
    with connection.cursor() as cursor:
        for table in ("methodologies", "methodology_lifecycle_events", "methodology_cases"):
            cursor.execute(f"SELECT * FROM {table}")
            while cursor.fetchmany(2_000):
                pass


def write_alone(scratch: Path, *, small: bool) -> float:
    """Return the seconds that a process takes for its writes."""
    return json.loads(start_writer(scratch, small=small).communicate()[0])


def write_beside(scratch: Path, *, small: bool) -> float:
    """Return the seconds that it takes for them while passes run one after another."""
    writer = start_writer(scratch, small=small)
    number = 0
    while writer.poll() is None:
        number += 1
        audit(NOON + timedelta(minutes=number))
    assert writer.stdout
    return json.loads(writer.stdout.read())


def start_writer(scratch: Path, *, small: bool) -> subprocess.Popen[str]:
    """Start a process that writes on the same file."""
    count = 50 if small else WRITES
    return subprocess.Popen([sys.executable, "-c", WRITER, str(count)], stdout=subprocess.PIPE, text=True)


WRITER = """
import json, sys, time
import django
django.setup()
from learning_app.methodologies.models import LifecycleEvent, Methodology
from django.db import transaction
from tests.kit.clock import NOON
begun = time.perf_counter()
for number in range(int(sys.argv[1])):
    with transaction.atomic():
        Methodology.objects.filter(pk=1).update(times_seen=number + 1)
        LifecycleEvent.objects.create(methodology_id=1, kind="deduplicated", at=NOON, actor="bench")
print(json.dumps(time.perf_counter() - begun))
"""


def page_figures(*, small: bool) -> list[Figure]:
    """Open the audit before its first report, and with a report a day for a year."""
    operator = User.objects.create_user("bench-operator", password="bench")
    operator.groups.add(Group.objects.get(name=OPERATORS_GROUP))
    with override_settings(STORAGES=PLAIN_FILES, ALLOWED_HOSTS=["*"], SECURE_SSL_REDIRECT=False):
        client = Client()
        client.force_login(operator)
        empty = open_page(client)
        fill(0, FIRST_METHODS, FIRST_ROWS)
        audit()
        report, now = AuditReport.objects.get(), timezone.now()
        for days in range(365, -1, -1):
            report.pk, report.created_at = None, now - timedelta(days=days)
            report.composite = report.scores["cron_health"] = 40 + days * 17 % 55
            report.save(force_insert=True)
        with CaptureQueriesContext(connection) as asked:
            client.get("/audit/")
        queries = len(asked)
        full = open_page(client)
    return [
        Figure(
            "the audit with a report a day for a year, against the empty one",
            full / empty,
            "x",
            bound=f"at most {MAX_PAGE_RATIO:g}",
            ok=small or full / empty <= MAX_PAGE_RATIO,
            reference=f"{full:.1f} ms, empty {empty:.1f} ms",
        ),
        Figure("queries of that page", queries, "", bound=f"at most {MAX_QUERIES}", ok=queries <= MAX_QUERIES),
    ]


def open_page(client: Client) -> float:
    """Return the median milliseconds of the page."""
    client.get("/audit/")
    return statistics.median(timed(lambda: client.get("/audit/")) for _ in range(ROUNDS)) * 1000
