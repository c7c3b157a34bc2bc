"""The list of runs: its columns and filters, and what a row shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.doctor.pages import count_labels
from memory_app.doctor.selectors import fixes
from memory_app.roles.core import Trigger
from memory_app.roles.core.sweep import SweepResult
from memory_app.roles.labels import ENDED, RESULTS, TRIGGERS
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.console.jobs.selectors import UNDER_WAY
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import OVER, is_dropped
from minara_site.kernel.jobs.table import Job, find_job, load_jobs
from minara_site.web.badges import state_of
from minara_site.web.filters import Text
from minara_site.web.keyset import Order
from minara_site.web.labels import enumeration
from minara_site.web.lists import Column, Empty, Filter, FilterKind, ListSpec, Sort
from minara_site.web.moments import number_label, span_label

COUNTS: dict[str, Text] = {each.value: label for each, label in ENDED.items()} | {
    "applied": gettext_lazy("marked outcomes applied"),
    "changed": gettext_lazy("changed meanwhile"),
    "deleted": gettext_lazy("deleted"),
    "dropped": gettext_lazy("left to another run"),
    "embedded": gettext_lazy("embedded"),
    "outdated": gettext_lazy("out of date"),
    "pending": gettext_lazy("pending"),
    "purged": gettext_lazy("purged"),
    "reason": gettext_lazy("why it stopped"),
    "result": gettext_lazy("how it ended"),
    "started": gettext_lazy("runs started"),
    "stopped": gettext_lazy("why it stopped"),
}
"""Names in the results of jobs; what is not here reads as a word already."""
ENDS: dict[str, Text] = RESULTS | {
    SweepResult.DONE: gettext_lazy("done"),
    SweepResult.CONTINUED: gettext_lazy("continued by another run"),
}


def runs_spec() -> ListSpec:
    """Return the list; the jobs to choose from are known only once every app is loaded."""
    return ListSpec(
        name="runs",
        caption=gettext_lazy("Runs"),
        row="console/jobs/_row.html",
        columns=(
            Column(gettext_lazy("Run")),
            Column(gettext_lazy("State")),
            Column(gettext_lazy("Requested by")),
            Column(gettext_lazy("Requested"), numeric=True),
            Column(gettext_lazy("Duration"), numeric=True),
        ),
        sorts=(Sort("newest", gettext_lazy("newest first"), Order("created_at")),),
        filters=(
            Filter("job", gettext_lazy("Job"), FilterKind.CHOICE, "job", choices=[(n, n) for n in sorted(load_jobs())]),
            Filter(
                "state",
                gettext_lazy("State"),
                FilterKind.CHOICE,
                lookup="state",
                choices=[(state.value, state_of(state).word) for state in RunState],
            ),
            Filter("after", gettext_lazy("Requested after"), FilterKind.DATE, lookup="created_at__gte"),
            Filter("before", gettext_lazy("Requested before"), FilterKind.DATE, lookup="created_at__lt"),
        ),
        empty=Empty(
            "jobs",
            gettext_lazy("No runs yet"),
            gettext_lazy("The schedule asks for the first ones within seconds once a worker runs: minara worker"),
        ),
        has_actions=False,
    )


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the pages show it."""

    run: JobRun
    requester: Text

    @property
    def pk(self) -> int:
        return int(self.run.pk)

    @property
    def job(self) -> Job | None:
        """Return the job, if this version has it."""
        return find_job(self.run.job)

    @property
    def is_under_way(self) -> bool:
        return self.run.state in UNDER_WAY

    @property
    def is_stopping(self) -> bool:
        """Whether it runs and was asked to stop."""
        return self.run.state == RunState.RUNNING and self.run.cancel_requested_at is not None

    @property
    def can_cancel(self) -> bool:
        """Whether a person can still stop it: before it begins, or while it looks for that."""
        stops = self.run.state == RunState.QUEUED or bool(self.job and self.job.reports)
        return self.is_under_way and not self.is_stopping and stops

    @property
    def can_retry(self) -> bool:
        return self.run.state in OVER and self.run.state != RunState.SUCCEEDED

    @property
    def progress(self) -> str:
        """Return how far it is, in words; empty when it did not say."""
        if self.run.done is None or self.run.total is None:
            return ""
        return _("%(done)s of %(total)s") % {
            "done": number_label(self.run.done),
            "total": number_label(self.run.total),
        }

    @property
    def percent(self) -> str:
        """Return how far it is, for the width of a bar."""
        return f"{100 * (self.run.done or 0) / max(self.run.total or 0, 1):.1f}"

    @property
    def took(self) -> str:
        """Return how long it ran; empty while it does, or when it never began."""
        if self.run.started_at is None or self.run.finished_at is None:
            return ""
        return duration_label(self.run.finished_at - self.run.started_at)

    @property
    def is_dropped(self) -> bool:
        """Whether it did nothing because another run was at work."""
        return is_dropped(self.run.result)

    @property
    def counts(self) -> list[tuple[Text, Any]]:
        """Return what the job counted, name by name."""
        counted = (self.run.result or {}).items()
        return [(count_label(name, self.run), value_label(value)) for name, value in counted]

    @property
    def arguments(self) -> list[tuple[str, Any]]:
        """Return what the run works on, name by name."""
        return [(name, value_label(value)) for name, value in self.run.arguments.items()]


def shape_runs(runs: Iterable[JobRun], *, reader: User) -> list[RunRow]:
    """Return runs as the pages show them. Two queries at most."""
    runs = list(runs)
    names = name_actors({run.requested_by for run in runs}, reader=reader)
    return [RunRow(run, requester_label(run.requested_by) or names[run.requested_by]) for run in runs]


def requester_label(requester: str) -> str:
    """Return in words what asked for a run; empty for a person, a key or another job."""
    kind, _colon, name = requester.partition(":")
    match kind:
        case "schedule":
            return _("the schedule")
        case "role" | "event" if name in set(Trigger):
            return _("a role, %(trigger)s") % {"trigger": TRIGGERS[Trigger(name)]}
        case "event" | "topic":
            return _("what was written")
        case "upgrade":
            return _("the upgrade")
    return ""


def count_label(name: str, run: JobRun) -> Text:
    """Return what a job counted in words; of the doctor with the fix that counted it."""
    fix, _dot, what = name.rpartition(".")
    if fix not in fixes():
        return COUNTS.get(what, what.replace("_", " "))
    label = count_labels(fix, run).get(what, what.replace("_", " "))
    return _("%(name)s: %(text)s") % {"name": fixes()[fix].label, "text": label}


def value_label(value: Any) -> Any:
    """Return a value of a result, the end of a reflection in words, several values with commas between them."""
    if isinstance(value, list):
        return enumeration(str(value_label(each)) for each in value)
    return ENDS.get(value, value) if isinstance(value, str) else value


def duration_label(span: timedelta) -> str:
    """Return a span with the precision that it needs: "0.4 s", "12 s", "3 min"."""
    seconds = max(span.total_seconds(), 0)
    if seconds >= 60:  # noqa: PLR2004 - seconds of a minute
        return span_label(span)
    return _("%(seconds)s s") % {"seconds": number_label(seconds, 0 if seconds >= 10 else 1)}  # noqa: PLR2004
