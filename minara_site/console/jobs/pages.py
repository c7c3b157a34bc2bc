"""The list of runs: its columns and filters, and what a row shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy

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
from minara_site.web.filters import Text, choice, dates
from minara_site.web.labels import enumeration
from minara_site.web.lists import Column, Empty, ListSpec, newest_first
from minara_site.web.moments import number_label, span_label

COUNTS: dict[str, Text] = {each.value: label for each, label in ENDED.items()} | {
    "added": gettext_lazy("links added"),
    "applied": gettext_lazy("marked outcomes applied"),
    "below": gettext_lazy("below the score"),
    "broken": gettext_lazy("what is broken"),
    "bytes": gettext_lazy("bytes"),
    "closed": gettext_lazy("closed"),
    "opened": gettext_lazy("opened"),
    "changed": gettext_lazy("changed meanwhile"),
    "changed_meanwhile": gettext_lazy("changed meanwhile"),
    "conflicts": gettext_lazy("conflicts found"),
    "corrected": gettext_lazy("prices corrected"),
    "credited": gettext_lazy("outcomes counted"),
    "decided": gettext_lazy("decided"),
    "deduplicated": gettext_lazy("retired as repeated"),
    "deleted": gettext_lazy("deleted"),
    "demoted": gettext_lazy("demoted"),
    "dropped": gettext_lazy("left to another run"),
    "embedded": gettext_lazy("embedded"),
    "entries": gettext_lazy("entries"),
    "files": gettext_lazy("files"),
    "flagged": gettext_lazy("flagged"),
    "folder_problems": gettext_lazy("problems in the folder"),
    "forgotten": gettext_lazy("deleted"),
    "frozen": gettext_lazy("paused: markets under stress"),
    "held": gettext_lazy("held"),
    "in_shadow": gettext_lazy("shadow mode, nothing written"),
    "invalid": gettext_lazy("answers that could not be used"),
    "invalid_answers": gettext_lazy("answers that could not be used"),
    "judged": gettext_lazy("checked"),
    "known": gettext_lazy("already here"),
    "left_to_a_person": gettext_lazy("left to a person"),
    "memories": gettext_lazy("memories"),
    "merged": gettext_lazy("added to one that was there"),
    "new": gettext_lazy("new"),
    "not_asked": gettext_lazy("no model asked"),
    "off": gettext_lazy("switched off"),
    "outdated": gettext_lazy("out of date"),
    "passed_over": gettext_lazy("skipped"),
    "pending": gettext_lazy("pending, to be embedded"),
    "problems": gettext_lazy("folders with a problem"),
    "proposed": gettext_lazy("proposed"),
    "purged": gettext_lazy("purged"),
    "quarantined_by_judge": gettext_lazy("quarantined"),
    "read": gettext_lazy("turns read"),
    "reason": gettext_lazy("why it stopped"),
    "recovering": gettext_lazy("recovering"),
    "rejected": gettext_lazy("rejected"),
    "removed": gettext_lazy("links removed"),
    "repeated": gettext_lazy("proposed again"),
    "resolved": gettext_lazy("cases judged"),
    "rest": gettext_lazy("more left for the next run"),
    "restored": gettext_lazy("restored"),
    "result": gettext_lazy("how it ended"),
    "retired": gettext_lazy("sessions ended"),
    "role_memory": gettext_lazy("decisions"),
    "seals": gettext_lazy("seals"),
    "settled": gettext_lazy("settled"),
    "shadow": gettext_lazy("shadow mode, nothing written"),
    "started": gettext_lazy("runs started"),
    "stopped": gettext_lazy("why it stopped"),
    "short": gettext_lazy("too few tool calls"),
    "stored": gettext_lazy("stored"),
    "strays": gettext_lazy("leftover files deleted"),
    "survivors": gettext_lazy("marked: survives the store"),
    "symbols": gettext_lazy("symbols"),
    "tags": gettext_lazy("tags changed"),
    "updated": gettext_lazy("updated"),
    "withdrawn": gettext_lazy("withdrawn"),
    "written": gettext_lazy("written"),
}
"""Names in the results of jobs; what is not here reads as a word already."""
ARGUMENTS: dict[str, Text] = {
    "dry_run": gettext_lazy("Dry run"),
    "fixes": gettext_lazy("Repairs"),
    "ids": gettext_lazy("Entries"),
    "owner_id": gettext_lazy("Owner"),
    "role": gettext_lazy("Decision role"),
    "role_id": gettext_lazy("Decision role"),
    "transfer_id": gettext_lazy("Export or import"),
    "trigger": gettext_lazy("Trigger"),
}
ENDS: dict[str, Text] = (
    {each.value: label for each, label in TRIGGERS.items()}
    | RESULTS
    | {SweepResult.DONE: gettext_lazy("done"), SweepResult.CONTINUED: gettext_lazy("continued by another run")}
)


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
        sorts=(newest_first("created_at"),),
        filters=(
            choice(
                "job",
                gettext_lazy("Job"),
                [(n, n) for n in sorted(load_jobs())],
            ),
            choice(
                "state",
                gettext_lazy("State"),
                [(state.value, state_of(state).word) for state in RunState],
            ),
            *dates("created_at", gettext_lazy("Requested after"), gettext_lazy("Requested before")),
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
        return _("%(done)s of %(total)s") % {"done": number_label(self.run.done), "total": number_label(self.run.total)}

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
    def arguments(self) -> list[tuple[Text, Any]]:
        """Return what the run works on, name by name."""
        return [(ARGUMENTS.get(name, name), value_label(value)) for name, value in self.run.arguments.items()]


def shape_runs(runs: Iterable[JobRun], *, reader: User) -> list[RunRow]:
    """Return runs as the pages show them. Two queries at most."""
    runs = list(runs)
    names = name_actors({run.requested_by for run in runs}, reader=reader)
    return [
        RunRow(
            run,
            requester_label(run.requested_by) or names[run.requested_by],
        )
        for run in runs
    ]


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
    """Return a value of a result or an argument in words, several with commas between them."""
    if isinstance(value, list):
        return enumeration(str(value_label(each)) for each in value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, str):
        return fixes()[value].label if value in fixes() else ENDS.get(value, value)
    return value


def duration_label(span: timedelta) -> str:
    """Return a span with the precision that it needs: "0.4 s", "12 s", "3 min"."""
    seconds = max(span.total_seconds(), 0)
    if seconds >= 60:  # noqa: PLR2004 - seconds of a minute
        return span_label(span)
    return _("%(seconds)s s") % {"seconds": number_label(seconds, 0 if seconds >= 10 else 1)}  # noqa: PLR2004
