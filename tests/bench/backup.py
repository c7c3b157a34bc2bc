"""What a backup costs those who write meanwhile: the same writes at the same pace, without one and beside it."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

from minara_site.kernel.audit_log.models import AuditEntry
from tests.bench.figures import Figure, percentile

ROWS, FEW_ROWS = 400_000, 10_000
ROUNDS, FEW_ROUNDS = 5, 2
PER_SECOND = 1_000
AT_MOST = 1.5
SLICE = 5_000
INSERT = """INSERT INTO audit_log (at, actor, tool_call, reasoning, request_id, details)
    VALUES ('2026-01-01', 'bench', 'bench', '', '', '{}')"""


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Write while a backup is made and for as many writes without one, in turn; compare the 95th percentiles."""
    fill(FEW_ROWS if small else ROWS)
    target = scratch / "backups" / "bench.zip"
    target.parent.mkdir()
    alone: list[float] = []
    beside: list[float] = []
    backup_seconds = []
    for _each in range(FEW_ROUNDS if small else ROUNDS):
        process = subprocess.Popen(
            [sys.executable, str(settings.BASE_DIR / "manage.py"), "backup", str(target), "--replace"],
            stdout=subprocess.DEVNULL,
        )
        begun = time.perf_counter()
        found = write_while(lambda process=process: process.poll() is None)  # type: ignore[misc]
        backup_seconds.append(time.perf_counter() - begun)
        assert process.returncode == 0
        beside += found
        left = iter(found)
        alone += write_while(lambda left=left: next(left, None) is not None)  # type: ignore[misc]
    megabytes = Path(settings.DATABASES["default"]["NAME"]).stat().st_size / 1e6
    p95_alone, p95_beside = percentile(alone, 0.95), percentile(beside, 0.95)
    return [
        Figure(
            name=f"p95 of a write beside a backup, {PER_SECOND:,} writes/s",
            value=p95_beside / p95_alone,
            unit="x alone",
            bound=f"at most {AT_MOST}",
            ok=p95_beside <= AT_MOST * p95_alone,
            reference=f"{p95_beside * 1000:.2f} ms beside {p95_alone * 1000:.2f} ms alone, the longest "
            f"{max(beside) * 1000:.0f} and {max(alone) * 1000:.0f} ms; {len(beside):,} writes each",
        ),
        Figure(
            name=f"backup of {megabytes:,.0f} MB, its process's start included",
            value=sorted(backup_seconds)[len(backup_seconds) // 2],
            unit="s",
            reference=f"{target.stat().st_size / 1e6:,.0f} MB in the file; {len(beside) / sum(backup_seconds):,.0f} writes/s meanwhile",
        ),
    ]


def fill(rows: int) -> None:
    """Write rows of ordinary length."""
    for start in range(0, rows, SLICE):
        AuditEntry.objects.bulk_create(
            AuditEntry(at=timezone.now(), actor="bench", tool_call="bench", reasoning=f"{start} " + "because " * 20)
            for _row in range(SLICE)
        )


def write_while(goes_on: Callable[[], bool]) -> list[float]:
    """Commit a row each thousandth of a second, or as soon as the one before is done; return the seconds of each."""
    taken: list[float] = []
    with connection.cursor() as cursor:
        due = time.perf_counter()
        while goes_on():
            due = max(due + 1 / PER_SECOND, time.perf_counter() - 1)
            time.sleep(max(due - time.perf_counter(), 0))
            begun = time.perf_counter()
            cursor.execute(INSERT)
            taken.append(time.perf_counter() - begun)
    return taken
