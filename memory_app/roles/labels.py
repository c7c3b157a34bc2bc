"""Role memory in words: states, outcomes, classes, triggers, probes, and why an entry has no lesson."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never

from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from memory_app.roles.core import Classification, SkipReason, Status, Trigger
from memory_app.roles.core.declarations import (
    Custom,
    Manual,
    MemoryRole,
    NewsSnapshot,
    OnchainSnapshot,
    OutcomeProbe,
    PostHocProbe,
    PriceDelta,
    RefetchSource,
)
from memory_app.roles.core.sweep import Ended, SweepResult
from memory_app.roles.due import ready_at
from memory_app.roles.models import RoleMemory
from minara_site.kernel.market.outcome import Outcome
from minara_site.web.badges import Badge
from minara_site.web.filters import Text
from minara_site.web.labels import sentences
from minara_site.web.market_labels import hours_label, pnl_label
from minara_site.web.moments import age, day_and_time

STATUSES: dict[Status, Text] = {
    Status.PENDING: pgettext_lazy("decision", "Pending"),
    Status.REFLECTED: gettext_lazy("Reflected"),
    Status.SKIPPED: gettext_lazy("Skipped"),
}
OUTCOMES: dict[Outcome, Text] = {
    Outcome.RIGHT: gettext_lazy("Right"),
    Outcome.WRONG: gettext_lazy("Wrong"),
    Outcome.UNCLEAR: gettext_lazy("Unclear"),
}
OUTCOME_SHAPES: dict[Outcome, str] = {
    Outcome.RIGHT: "active",
    Outcome.WRONG: "failed",
    Outcome.UNCLEAR: "retired",
}
CLASSES: dict[Classification, Badge] = {
    Classification.LOGIC_ERROR: Badge("cls-logic_error", "branch", "logic_error"),
    Classification.MISSING_DATA: Badge("cls-missing_data", "missing", "missing_data"),
    Classification.EXOGENOUS: Badge("cls-exogenous", "bolt", "exogenous"),
    Classification.VARIANCE: Badge("cls-variance", "wave", "variance"),
}
CLASS_LABELS: dict[Classification, Text] = {
    Classification.LOGIC_ERROR: gettext_lazy("error in the reasoning"),
    Classification.MISSING_DATA: gettext_lazy("missing data"),
    Classification.EXOGENOUS: gettext_lazy("outside event"),
    Classification.VARIANCE: gettext_lazy("random variation"),
}
CLASS_MEANINGS: dict[Classification, Text] = {
    Classification.LOGIC_ERROR: gettext_lazy(
        "Wrong, and the error lies in the agent's reasoning. It teaches a lesson."
    ),
    Classification.MISSING_DATA: gettext_lazy(
        "Wrong, because the agent did not fetch evidence that was there. It teaches a lesson."
    ),
    Classification.EXOGENOUS: gettext_lazy(
        "Wrong, because of something no one could have known. It teaches no lesson."
    ),
    Classification.VARIANCE: gettext_lazy("Within the noise: skill and luck look alike. It teaches no lesson."),
}
TRIGGERS: dict[Trigger, Text] = {
    Trigger.CRON: gettext_lazy("on a schedule"),
    Trigger.ON_NEW_WRITE: gettext_lazy("when a decision is recorded"),
    Trigger.ON_PRICE_FETCH: gettext_lazy("when a price arrives"),
    Trigger.MANUAL: gettext_lazy("by hand"),
}
SKIPPED_WORDS: dict[SkipReason, Text] = {
    SkipReason.TOO_OLD: gettext_lazy("Expired: the outcome was not known in time."),
    SkipReason.NO_PRICE: gettext_lazy("No price was close enough to the decision or to the end of its window."),
}
CLOSED_WORDS: dict[Classification, Text] = {
    Classification.EXOGENOUS: gettext_lazy("What decided it could not have been known. Such a case teaches no rule."),
    Classification.VARIANCE: gettext_lazy("The move lies within the noise: skill and luck look alike here."),
    Classification.LOGIC_ERROR: gettext_lazy("No lesson: none came of the second stage, or it was discarded."),
    Classification.MISSING_DATA: gettext_lazy("No lesson: none came of the second stage, or it was discarded."),
}
RESULTS: dict[str, Text] = {
    SweepResult.DROPPED: gettext_lazy("not started: one was already running"),
    SweepResult.STOPPED: gettext_lazy("stopped"),
    SweepResult.OFF: gettext_lazy("switched off"),
    SweepResult.LOST: gettext_lazy("another sweep took its place"),
}
ENDED: dict[Ended, Text] = {
    Ended.RIGHT: gettext_lazy("right"),
    Ended.LESSON: gettext_lazy("with a lesson"),
    Ended.NO_LESSON: gettext_lazy("without a lesson"),
    Ended.UNKNOWN: gettext_lazy("not known yet"),
    Ended.SKIPPED: gettext_lazy("skipped"),
    Ended.FAILED: gettext_lazy("failed"),
    Ended.CHANGED: gettext_lazy("changed meanwhile"),
    Ended.LEFT: gettext_lazy("waiting for the model"),
    Ended.SHADOWED: gettext_lazy("shadow mode, nothing written"),
}
DECIDED: dict[str, Text] = {
    "outcome": gettext_lazy("Outcome"),
    "pnl_pct": gettext_lazy("P&L"),
    "class": gettext_lazy("Class"),
    "narrative": gettext_lazy("Narrative"),
    "lesson": gettext_lazy("Lesson"),
}
EVERY_DAY = {"*"}


def probe_label(probe: OutcomeProbe) -> str:
    """Return how the outcome of a role's decisions is found."""
    match probe:
        case PriceDelta():
            return _("price of the asset over %(window)s") % {"window": hours_label(probe.window_hours)}
        case Custom():
            return _("the probe %(id)s") % {"id": probe.probe_id}
        case Manual():
            return _("marked by a person")
        case _:
            assert_never(probe)


def evidence_label(probe: PostHocProbe) -> str:
    """Return what a role's reflection is shown besides the outcome."""
    match probe:
        case RefetchSource():
            return _("what the tool %(tool)s answers for the time of the decision") % {"tool": probe.tool}
        case NewsSnapshot():
            return _("headlines about the asset until the outcome")
        case OnchainSnapshot():
            return _("on-chain figures of the asset until the outcome")
        case _:
            assert_never(probe)


def cron_label(expression: str) -> str:
    """Return when a schedule falls due, in words where that is short, else the expression; times are UTC."""
    minute, hour, *rest = expression.split()
    clock = {"time": f"{int(hour):02d}:{int(minute):02d}"} if hour.isdigit() and minute.isdigit() else None
    if clock and set(rest) == EVERY_DAY:
        return _("every day at %(time)s UTC") % clock
    if minute.isdigit() and {hour, *rest} == EVERY_DAY:
        return _("every hour at minute %(minute)d") % {"minute": int(minute)}
    if minute.isdigit() and hour.startswith("*/") and set(rest) == EVERY_DAY:
        return _("every %(hours)s hours at minute %(minute)d") % {"hours": hour[2:], "minute": int(minute)}
    if minute.startswith("*/") and {hour, *rest} == EVERY_DAY:
        return _("every %(minutes)s minutes") % {"minutes": minute[2:]}
    return expression


def shadow_texts(decision: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reflection in shadow decided, by label; what it left empty is left out."""
    texts = decided_texts(decision)
    return {str(label): texts[name] for name, label in DECIDED.items() if texts.get(name) not in (None, "")}


def decided_texts(decision: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reflection in shadow decided: outcome, class and change in percent as people say them."""
    texts = dict(decision)
    if texts.get("outcome") in set(Outcome):
        texts["outcome"] = str(OUTCOMES[Outcome(texts["outcome"])])
    if texts.get("class") in set(Classification):
        label = CLASS_LABELS[Classification(texts["class"])]
        texts["class"] = _("%(text)s (%(code)s)") % {"text": label, "code": texts["class"]}
    if isinstance(texts.get("pnl_pct"), int | float):
        texts["pnl_pct"] = pnl_label(texts["pnl_pct"])
    return texts


def why_no_lesson(entry: RoleMemory, role: MemoryRole | None, now: datetime) -> str:
    """Return in words why agents read no lesson of this entry; empty when they may. `role` is None once undeclared."""
    if entry.lesson:
        held = _("The guard holds the lesson. No agent reads it until an operator has released it.")
        return held if entry.lesson_held_at or entry.held_at else ""
    if entry.held_at:
        return _("The guard holds this decision. It is judged once an operator has released it.")
    if entry.status == Status.SKIPPED:
        return str(SKIPPED_WORDS.get(SkipReason(entry.skip_reason), "")) if entry.skip_reason else _("It was skipped.")
    if entry.status == Status.REFLECTED:
        if entry.outcome == Outcome.RIGHT:
            return _("It was right: there is nothing to mend, so no model was asked.")
        return str(CLOSED_WORDS[Classification(entry.classification)]) if entry.classification else ""
    return marked_label(entry.mark) if entry.mark else why_pending(entry, role, now)


def marked_label(mark: Mapping[str, Any]) -> str:
    """Return what a person just said came of an entry."""
    marked = _("Marked as right.") if mark["outcome"] == Outcome.RIGHT else _("Marked as wrong.")
    return sentences(marked, _("Takes effect in a moment."))


def why_pending(entry: RoleMemory, role: MemoryRole | None, now: datetime) -> str:
    """Return what a pending entry waits for."""
    if role is None:
        return _("Its role is no longer declared, so nothing judges it any more.")
    if (ready := ready_at(entry, role.reflection_policy)) > now:
        waits = {
            "moment": day_and_time(ready, timezone.get_current_timezone()),
            "span": age(ready, now),
        }
        return _("Too young to be judged. It waits until %(moment)s, %(span)s.") % waits
    if entry.last_error:
        why = _("The last try failed: %(error)s.") % {"error": entry.last_error.rstrip(".")}
        if entry.last_error == SkipReason.NO_PRICE:
            why = str(SKIPPED_WORDS[SkipReason.NO_PRICE])
        again = _("The next reflection tries again.")
        if entry.next_try_at and entry.next_try_at > now:
            again = _("The next try comes %(span)s.") % {"span": age(entry.next_try_at, now)}
        return sentences(why, again)
    if entry.outcome:
        return _("Its outcome is known; the reflection is still to come.")
    if isinstance(role.reflection_policy.outcome_probe, Manual):
        return _("A person has to mark the outcome.")
    return _("It is due. The next reflection of its role looks for its outcome.")
