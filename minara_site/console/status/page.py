"""The status in words: sections of facts, each with how good it is and, where it is not, what to do."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from minara_site.console.status.selectors import Judged, Queue, Ran, Status
from minara_site.kernel.backup.selectors import LastBackup
from minara_site.kernel.db import is_sqlite
from minara_site.kernel.host import Storage
from minara_site.kernel.jobs.models import RunState
from minara_site.kernel.jobs.queue import get_runner_name
from minara_site.kernel.jobs.selectors import SEEN_WITHIN
from minara_site.kernel.llm.endpoint import Models
from minara_site.web.filters import Text
from minara_site.web.lists import total_label

GOOD, WATCH, BAD = "good", "watch", "bad"
MUCH_LOG = 256 * 1024 * 1024
WAITS_LONG_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Fact:
    """One line: what, how much, how good (empty where nothing can be wrong), what to do, and when it was."""

    label: Text
    value: Text
    tone: str = ""
    hint: Text = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Facts that belong together."""

    name: str
    title: Text
    facts: list[Fact]


def sections_of(status: Status, *, now: datetime) -> list[Section]:
    """Return the page."""
    runs = status.versions
    versions = (
        ("Minara", runs.minara),
        ("Python", runs.python),
        ("Django", runs.django),
        (_("Database"), runs.database),
    )
    return [
        Section("work", _("Work"), [*work_facts(status.queue, now), models_fact(status.models)]),
        Section("memory", _("Memory"), memory_facts(status.judged, status.index_problems)),
        Section("storage", _("Storage"), storage_facts(status.storage, status.waiting_migrations, status.last_backup)),
        Section("versions", _("Versions"), [Fact(label, value) for label, value in versions]),
    ]


def work_facts(queue: Queue, now: datetime) -> list[Fact]:
    """Return who works, and what waits."""
    works = bool(queue.workers.number)
    since = queue.waiting_since
    waits_long = since is not None and (now - since).total_seconds() > WAITS_LONG_SECONDS
    start = _("No worker was seen within the last minute. Start one: minara worker")
    return [
        Fact(_("Workers"), total_label(queue.workers), GOOD if works else BAD, "" if works else start, queue.seen_at),
        runner_fact(queue.broker_seen_at, now),
        Fact(
            _("Runs that wait"),
            total_label(queue.waiting),
            WATCH if waits_long else GOOD,
            _("The oldest waits for more than five minutes. Look at the worker, or give it more processes.")
            if waits_long
            else "",
            since,
        ),
        Fact(_("Runs now"), total_label(queue.running)),
        Fact(_("Failed in 7 days"), total_label(queue.failed), WATCH if queue.failed.number else GOOD),
    ]


def runner_fact(seen_at: datetime | None, now: datetime) -> Fact:
    """Return what brings runs to workers, and whether it answered lately; the schedule asks it at each tick."""
    answers = seen_at is not None and now - seen_at < SEEN_WITHIN
    hint = _("It did not answer the schedule within the last minute. Runs wait until it does; nothing is lost.")
    return Fact(
        _("Job runner"),
        get_runner_name(),
        GOOD if answers else BAD,
        "" if answers else hint,
        seen_at,
    )


def models_fact(models: Models) -> Fact:
    """Return which models are asked; without one, what needs none works."""
    if not models.missing:
        return Fact(_("Models"), ", ".join(models.names), GOOD)
    return Fact(
        _("Models"),
        _("none"),
        WATCH if models.is_wanted else "",
        models.missing,
    )


def memory_facts(judged: Judged, index_problems: list[str]) -> list[Fact]:
    """Return what the guard and the search index say."""
    stale, holds = judged.stale, judged.open_holds
    rebuild = _("%(problem)s. Run: minara search rebuild")
    return [
        Fact(_("Rules of the guard"), judged.rules_version),
        Fact(
            _("Judged by older rules"),
            total_label(stale),
            WATCH if stale.number else GOOD,
            _("Judged by another rule set. No prompt takes one before it is judged again.") if stale.number else "",
        ),
        Fact(_("Texts on hold"), total_label(holds), WATCH if holds.number else GOOD),
        Fact(
            _("Search index, newest memories"),
            _("in step") if not index_problems else _("differs: %(n)d") % {"n": len(index_problems)},
            BAD if index_problems else GOOD,
            rebuild % {"problem": index_problems[0]} if index_problems else "",
        ),
    ]


def storage_facts(
    storage: Storage,
    waiting_migrations: int,
    last_backup: LastBackup,
) -> list[Fact]:
    """Return what is stored, and where room ends."""
    bounds = _(
        "Warns below a tenth of the disk or 2 GB, whichever is less; red below a hundredth or 100 MB, "
        "when writes are about to fail."
    )
    make_room = _("Make room in %(folder)s. %(bounds)s")
    facts = [
        Fact(
            _("Migrations"),
            _("all applied") if not waiting_migrations else _("%(n)d wait") % {"n": waiting_migrations},
            BAD if waiting_migrations else GOOD,
            _("Run: minara migrate") if waiting_migrations else "",
        ),
        Fact(_("Database"), size_label(storage.database)),
        Fact(
            _("Free on the disk of the data folder"),
            _("%(free)s of %(total)s")
            % {"free": filesizeformat(storage.disk_free), "total": filesizeformat(storage.disk_total)},
            BAD if storage.is_ending else WATCH if storage.is_little else GOOD,
            make_room % {"folder": settings.DATA_DIR, "bounds": bounds} if storage.is_little else bounds,
        ),
        backup_fact(last_backup),
    ]
    return facts + (file_facts(storage) if is_sqlite() else [])


def file_facts(storage: Storage) -> list[Fact]:
    """Return what only SQLite has."""
    is_much = (storage.write_ahead_log or 0) > MUCH_LOG
    hint = _("A reader that never ends keeps it from being written back. Start the web server again.")
    return [
        Fact(
            _("Write-ahead log"),
            size_label(storage.write_ahead_log),
            WATCH if is_much else GOOD,
            hint if is_much else "",
        ),
        Fact(_("Queue"), size_label(storage.queue)),
    ]


def backup_fact(last: LastBackup) -> Fact:
    """Return the last backup; without a folder none is made by itself, which is quiet."""
    folder = settings.MINARA.minara_backup_dir
    hint = str(folder) if folder else _("The schedule is off. Set MINARA_BACKUP_DIR, or run: minara backup FILE")
    tone = "" if folder is None else GOOD if last.made_at else WATCH
    if last.error or last.is_late:
        tone, hint = BAD, last.error or _("Two were due since. Check that a worker runs, and read the runs of the job.")
    return Fact(
        _("Last backup"),
        size_label(last.size) if last.made_at else _("none yet"),
        tone,
        hint,
        last.made_at,
    )


def size_label(size: int | None) -> str:
    """Return bytes as people read them."""
    return _("unknown") if size is None else filesizeformat(size)


def tone_of(ran: Ran) -> str:
    """Return how good a job's last run is."""
    if ran.last is None:
        return WATCH
    return BAD if ran.last.state == RunState.FAILED else GOOD
