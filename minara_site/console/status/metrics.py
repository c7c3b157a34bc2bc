"""The state of the instance for a scraper, in the text format of Prometheus (version 0.0.4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from minara_site.console.status.selectors import Status
from minara_site.kernel.host import peak_memory, processor_seconds
from minara_site.kernel.llm.selectors import WindowStatus
from profile_app.rebuild.health import Ages

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True)
class Sample:
    """One number, with what tells it from others of its name."""

    value: float
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metric:
    """A name, what it means, and its numbers; without any it is left out."""

    name: str
    help: str
    samples: list[Sample]
    kind: str = "gauge"


def written(metrics: Iterable[Metric]) -> str:
    """Return the metrics as text."""
    return "".join(f"{line}\n" for metric in metrics if metric.samples for line in lines_of(metric))


def lines_of(metric: Metric) -> Iterator[str]:
    """Yield the lines of one metric."""
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for sample in metric.samples:
        labels = ",".join(f'{name}="{value.translate(ESCAPES)}"' for name, value in sample.labels.items())
        yield f"{metric.name}{{{labels}}} {sample.value}" if labels else f"{metric.name} {sample.value}"


def one(
    name: str,
    text: str,
    value: float | None,
    kind: str = "gauge",
) -> Metric:
    """Return a metric of one number, or of none."""
    return Metric(
        name,
        text,
        [] if value is None else [Sample(value)],
        kind,
    )


def metrics_of(status: Status) -> list[Metric]:
    """Return every metric; a count that stopped is one above its bound."""
    versions, storage, queue, judged = status.versions, status.storage, status.queue, status.judged
    info = {
        "version": versions.minara,
        "python": versions.python,
        "django": versions.django,
    }
    seen = queue.seen_at.timestamp() if queue.seen_at else None
    oldest = queue.waiting_since.timestamp() if queue.waiting_since else None
    runs = {"queued": queue.waiting, "running": queue.running}
    return [
        Metric(
            "minara_info",
            "What runs.",
            [Sample(1, {**info, "database": versions.database})],
        ),
        one("minara_workers", "Workers seen within the last minute.", queue.workers.number),
        one("minara_worker_seen_timestamp_seconds", "When a worker was last seen.", seen),
        Metric(
            "minara_job_runs",
            "Runs that are not over, counted up to 10000.",
            [Sample(count.number, {"state": state}) for state, count in runs.items()],
        ),
        one("minara_job_runs_oldest_timestamp_seconds", "Since when the oldest run waits.", oldest),
        one("minara_job_runs_failed", "Runs that failed within 7 days, counted up to 10000.", queue.failed.number),
        Metric(
            "minara_job_success_timestamp_seconds",
            "When a job of the schedule last succeeded.",
            [
                Sample(
                    ran.succeeded_at.timestamp(),
                    {"job": ran.job.name},
                )
                for ran in status.jobs
                if ran.succeeded_at
            ],
        ),
        one("minara_holds_open", "Texts that wait for a decision, counted up to 10000.", judged.open_holds.number),
        # the name is as it was first published, when memories alone were judged
        one("minara_memories_stale", "Stored texts judged by older rules, counted up to 10000.", judged.stale.number),
        one("minara_index_problems", "Problems of the search index, newest memories.", len(status.index_problems)),
        one("minara_migrations_waiting", "Migrations that wait.", status.waiting_migrations),
        one("minara_database_bytes", "Size of the database, its write-ahead log included.", storage.database),
        one("minara_write_ahead_log_bytes", "Size of the write-ahead log.", storage.write_ahead_log),
        one("minara_backup_age_seconds", "Age of the last backup.", status.last_backup.age_seconds),
        one("minara_disk_free_bytes", "Free space on the disk of the data folder.", storage.disk_free),
        one("minara_process_memory_peak_bytes", "Most memory of the answering process.", peak_memory()),
        one(
            "minara_process_cpu_seconds_total",
            "Processor time of the answering process.",
            processor_seconds(),
            "counter",
        ),
    ]


def budget_metrics(standings: Iterable[WindowStatus]) -> list[Metric]:
    """Return what model calls have cost and may cost in the running day and month, in USD."""
    rows = [
        (
            each.totals,
            {"category": each.window.category, "window": each.window.span.value},
        )
        for each in standings
    ]
    return [
        Metric(
            "minara_budget_spent_usd",
            "What model calls have cost in the running UTC day or month.",
            [Sample(float(totals.spent), labels) for totals, labels in rows],
        ),
        Metric(
            "minara_budget_reserved_usd",
            "What model calls under way may cost at worst.",
            [Sample(float(totals.reserved), labels) for totals, labels in rows],
        ),
        Metric(
            "minara_budget_cap_usd",
            "What both may come to.",
            [Sample(float(totals.cap), labels) for totals, labels in rows if totals.cap is not None],
        ),
    ]


def activity_metrics(ages: Ages) -> list[Metric]:
    """Return how far own accounts and rebuilds are behind."""
    return [
        one(
            "minara_sync_lag_seconds",
            "Since the last success of the own account that was not read for longest, of those that a source reads.",
            ages.sync_lag,
        ),
        Metric(
            "minara_rebuild_age_seconds",
            "Age of the newest rebuild that wrote something, among the last 10000 runs.",
            [Sample(age, {"flow": flow}) for flow, age in ages.written.items()],
        ),
        Metric(
            "minara_rebuild_due_seconds",
            "For how long the owner waits whose rebuild is due for longest, 0 where none is due.",
            [Sample(age, {"flow": flow}) for flow, age in ages.due.items()],
        ),
    ]
