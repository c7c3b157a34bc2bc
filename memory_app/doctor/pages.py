"""The doctor's runs in words: what a dry run saw, what an applied one did."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.doctor.fixes.names import FixName
from memory_app.doctor.selectors import fixes
from minara_site.kernel.doctor.core import HealthState
from minara_site.kernel.doctor.fixes import UNKNOWN_COST, is_left
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.web.filters import Text
from minara_site.web.moments import cost_label

IDS, COST = "ids", "cost_usd"
STATE_WORDS: dict[HealthState, str | Promise] = {
    HealthState.OK: gettext_lazy("Healthy"),
    HealthState.WATCH: gettext_lazy("Needs attention"),
    HealthState.BAD: gettext_lazy("Needs repair"),
}
TONES = {HealthState.OK: "good", HealthState.WATCH: "watch", HealthState.BAD: "bad"}
COUNT_WORDS: dict[str, str | Promise] = {
    "pending": gettext_lazy("pending, to be embedded"),
    "failed": gettext_lazy("failed"),
    "embedded": gettext_lazy("embedded"),
    "skipped": gettext_lazy("skipped"),
    "changed": gettext_lazy("changed meanwhile, left for the next run"),
    "left": gettext_lazy("left to the next run, which is asked for"),
    "dropped": gettext_lazy("left to another run"),
    "added": gettext_lazy("edges to add"),
    "memories": gettext_lazy("memories that lack one"),
    "decisions": gettext_lazy("decisions that lack one"),
    "documents": gettext_lazy("documents to write"),
    "triggers": gettext_lazy("triggers to restore"),
    "index": gettext_lazy("problems of the index"),
    "demoted": gettext_lazy("methodologies to quarantine"),
    "due": gettext_lazy("decisions that are due"),
    "roles": gettext_lazy("roles with such decisions"),
    "right": gettext_lazy("were right: nothing to learn"),
    "lesson": gettext_lazy("taught a lesson"),
    "no_lesson": gettext_lazy("were classified and taught none"),
    "unknown": gettext_lazy("have no known outcome yet"),
    "shadowed": gettext_lazy("shadow mode, nothing written"),
}
DONE_WORDS: dict[str, str | Promise] = {
    "added": gettext_lazy("edges added"),
    "documents": gettext_lazy("documents written"),
    "triggers": gettext_lazy("triggers restored"),
    "index": gettext_lazy("problems of the index mended"),
    "demoted": gettext_lazy("methodologies quarantined"),
}


REFLECTED_WORDS: dict[str, str | Promise] = {
    "skipped": gettext_lazy("too old, skipped"),
    "failed": gettext_lazy("failed, tried again later"),
    "left": gettext_lazy("left: no model could be asked"),
    "dropped": gettext_lazy("roles left to another run that is at work"),
}


@dataclass(frozen=True, slots=True)
class FixView:
    """A fix of a run: what it would do or did, as pairs of count and words, some ids, and what it may cost in words.

    One that `is_left` did nothing, because another run was at work.
    """

    title: Text
    summary: Text
    counts: list[tuple[int, Text]]
    ids: list[str]
    cost: str = ""
    is_left: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do, or was nothing."""
        return not self.counts


@dataclass(frozen=True, slots=True)
class RunView:
    """A run of the doctor's job."""

    run: JobRun
    fixes: list[FixView]

    @property
    def is_applied(self) -> bool:
        """Whether it changes anything."""
        return bool(self.run.arguments.get("apply"))

    @property
    def is_under_way(self) -> bool:
        """Whether it waits or works."""
        return self.run.state in {RunState.QUEUED, RunState.RUNNING}

    @property
    def is_done(self) -> bool:
        """Whether it came to its end."""
        return self.run.state == RunState.SUCCEEDED

    @property
    def is_empty(self) -> bool:
        """Whether none of its fixes has anything to do."""
        return all(fix.is_empty for fix in self.fixes)

    @property
    def title(self) -> str:
        return _("Repair") if self.is_applied else _("Dry run")

    @property
    def names(self) -> str:
        """Return its fixes in words."""
        return _(", ").join(
            str(fixes()[name].label if name in fixes() else name) for name in self.run.arguments.get("names", ())
        )


def shown_run(run: JobRun) -> RunView:
    """Return a run as the pages show it."""
    names = [name for name in run.arguments.get("names", ()) if name in fixes()]
    return RunView(run, [shown_fix(name, run) for name in names])


def shown_fix(name: str, run: JobRun) -> FixView:
    """Return what a run says of one fix; counts of nothing are left out."""
    words = count_labels(name, run)
    own = [(key.partition("."), value) for key, value in (run.result or {}).items()]
    found = {what: value for (fix, _dot, what), value in own if fix == name}
    ids, cost = str(found.pop(IDS, "")), str(found.pop(COST, ""))
    counts = [(count, words.get(what, what)) for what, count in found.items() if count]
    fix = fixes()[name]
    return FixView(
        fix.label,
        fix.summary,
        counts,
        ids.split(", ") if ids else [],
        cost_sentence(cost),
        is_left(found),
    )


def count_labels(name: str, run: JobRun) -> dict[str, str | Promise]:
    """Return what the counts of a fix are called, of a dry run or of a repair."""
    words = COUNT_WORDS | DONE_WORDS if run.arguments.get("apply") else COUNT_WORDS
    return words | REFLECTED_WORDS if name == FixName.REFLECT_PENDING else words


def cost_sentence(cost: str) -> str:
    """Return what a fix that asks a model may cost, empty for one that asks none."""
    if cost == UNKNOWN_COST:
        return _("What asking the model costs is not known: it has no price in the table.")
    return _("Asking the model costs about %(cost)s.") % {"cost": cost_label(Decimal(cost))} if cost else ""
