"""The house: database, migrations, worker, queue, files, index, audit chain."""

import os
from datetime import timedelta

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memory_app.index.derived import derived_tables
from memory_app.index.documents import index_problems, newest_index_problems, orphans
from minara_site.kernel.audit_log.verification import verify_newest
from minara_site.kernel.counts import RowCount
from minara_site.kernel.doctor.core import REVIEW_WAITING, HealthState, Line, Section
from minara_site.kernel.doctor.scope import ReportScope, line_of
from minara_site.kernel.host import read_storage, read_versions
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.selectors import workers_seen
from minara_site.kernel.llm.endpoint import read_models
from minara_site.kernel.market.selectors import load_status
from minara_site.shell.review import review_kinds

MEGABYTE = 1024 * 1024
FAILED_WITHIN = timedelta(days=7)
WAITS_LONG = timedelta(minutes=5)


def instance_section(scope: ReportScope) -> Section:
    """Return how the instance is."""
    kinds = [kind.waiting() for kind in review_kinds().values()]
    workers, queued, late, failed, *reviews = scope.count(
        workers_seen(now=scope.now),
        *runs_to_count(scope),
        *kinds,
    )
    versions = read_versions()
    applied = MigrationRecorder(connections[DEFAULT_DB_ALIAS]).migration_qs.values_list("app", "name")
    waiting = len(MigrationLoader(None).graph.nodes.keys() - set(applied))
    hint = _("Run: minara migrate")
    lines = (
        *(
            Line("minara", _("Minara"), words=versions.minara, is_public=True),
            Line(
                "database",
                _("Database"),
                words=versions.database,
                is_public=True,
            ),
        ),
        line_of_problems(
            "migrations_waiting",
            _("Migrations that wait"),
            waiting,
            hint,
        ),
        worker_line(is_seen=workers.number > 0),
        models_line(),
        *queue_lines(queued, late, failed),
        line_of(
            REVIEW_WAITING,
            _("Items in the review queue"),
            RowCount.together(reviews),
        ),
        *file_lines(),
        index_line(scope),
        audit_chain_line(),
        *price_lines(scope),
    )
    return Section("house", _("Instance"), lines)


def worker_line(*, is_seen: bool) -> Line:
    """Return whether a worker works."""
    words, state, hint = _("seen within the last minute"), HealthState.OK, ""
    if not is_seen:
        words, state = _("not seen within the last minute"), HealthState.BAD
        hint = _("Start one: minara worker")
    return Line(
        "worker",
        _("Worker"),
        words=words,
        state=state,
        hint=hint,
        is_public=True,
    )


def models_line() -> Line:
    """Return which models are asked; nobody has to set one up."""
    models = read_models()
    words = _("none") if models.missing else ", ".join(models.names)
    state = HealthState.WATCH if models.missing and models.is_wanted else HealthState.OK
    return Line(
        "models",
        _("Models"),
        words=words,
        state=state,
        hint=models.missing,
    )


def runs_to_count(scope: ReportScope) -> "tuple[QuerySet[JobRun], ...]":
    """Return the runs that wait, those that wait too long, and those that failed."""
    queued = JobRun.objects.filter(state=RunState.QUEUED).exclude(not_before__gt=scope.now)
    late = queued.filter(created_at__lt=scope.now - WAITS_LONG)
    since = scope.now - FAILED_WITHIN
    failed = JobRun.objects.filter(
        state=RunState.FAILED,
        created_at__gte=since,
        finished_at__gte=since,
    )
    return queued, late, failed


def queue_lines(
    waiting: RowCount,
    waiting_long: RowCount,
    broken: RowCount,
) -> tuple[Line, ...]:
    """Return what waits and what failed."""
    is_late = waiting_long.number > 0
    hint = _("The oldest waits for more than five minutes. Look at the worker, or give it more processes.")
    return (
        Line(
            "runs_waiting",
            _("Runs that wait"),
            waiting.number,
            state=HealthState.WATCH if is_late else HealthState.OK,
            hint=hint if is_late else "",
            is_exact=waiting.is_exact,
        ),
        line_of(
            "runs_failed",
            _("Runs that failed in 7 days"),
            broken,
            watched=True,
            hint=_("Look at them under Jobs; each says what to do."),
        ),
    )


def file_lines() -> tuple[Line, ...]:
    """Return the data folder and the room on its disk."""
    storage = read_storage()
    is_open = os.access(settings.DATA_DIR, os.R_OK | os.W_OK | os.X_OK)
    return (
        Line(
            "data_folder",
            _("Data folder"),
            words=str(settings.DATA_DIR),
            state=HealthState.OK if is_open else HealthState.BAD,
            hint="" if is_open else _("This process cannot write there. Give it the folder, or set MINARA_DATA_DIR."),
        ),
        Line("database_megabytes", _("Database, MB"), (storage.database or 0) // MEGABYTE),
        Line(
            "disk_free_megabytes",
            _("Disk free, MB"),
            storage.disk_free // MEGABYTE,
            state=HealthState.WATCH if storage.is_little else HealthState.OK,
            hint=_("Make room: writes fail when the disk is full.") if storage.is_little else "",
        ),
    )


def index_line(scope: ReportScope) -> Line:
    """Return how far the search index and the triggers are out of step, for a page by the newest rows only."""
    newest_only = scope.most is not None
    problems = newest_index_problems() if newest_only else index_problems()
    hint = _("Run: minara doctor --fix --apply --only search_index")
    if problems and any(orphans(table, newest_only=newest_only) for table in derived_tables()):  # a fix deletes no row
        hint = _("Texts of purged memories are still indexed. Run: minara search rebuild")
    return line_of_problems(
        "search_index_problems",
        _("Search index out of step"),
        len(problems),
        hint,
    )


def audit_chain_line() -> Line:
    """Return whether the newest seal of the audit log fits what it covers; every seal is a job of its own."""
    broken = verify_newest().broken is not None
    hint = _("The newest seal does not fit. Look at the audit log, and compare it with a backup.")
    return line_of_problems(
        "audit_chain_breaks",
        _("Breaks of the audit chain, newest seal"),
        int(broken),
        hint,
    )


def price_lines(scope: ReportScope) -> tuple[Line, ...]:
    """Return how old the newest price of each symbol is, and who said it; nothing while the instance has no prices."""
    status = load_status(now=scope.now)
    if not status.newest and not status.missing:
        return ()
    return (
        Line(
            "prices",
            _("Newest prices"),
            words=status.in_text(scope.now),
            state=HealthState.WATCH if status.late or status.missing else HealthState.OK,
            hint=_("MARKET_SOURCE gives nothing new. Look at the runs of market.fetch, or run: minara market fetch")
            if status.late or status.missing
            else "",
        ),
    )


def line_of_problems(name: str, label: str, count: int, hint: str) -> Line:
    """Return a line whose count must be 0."""
    return Line(
        name,
        label,
        count,
        state=HealthState.BAD if count else HealthState.OK,
        hint=hint if count else "",
    )
