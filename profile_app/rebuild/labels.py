"""Rebuilds in words: what they write, what became of a run, and why one asked nothing."""

from typing import Any

from django.utils.translation import gettext as _, gettext_lazy

from profile_app.rebuild.core import Flow, RunOutcome
from profile_app.rebuild.models import RebuildRun

FLOWS: dict[str, Any] = {
    Flow.SUMMARY: gettext_lazy("Trading summary"),
    Flow.TAGS: gettext_lazy("Tags"),
    Flow.MEMORIES: gettext_lazy("Memories out of conversations"),
}
OUTCOMES: dict[str, Any] = {
    RunOutcome.RUNNING: gettext_lazy("running"),
    RunOutcome.WRITTEN: gettext_lazy("written"),
    RunOutcome.UNCHANGED: gettext_lazy("asked, nothing to change"),
    RunOutcome.SHADOW: gettext_lazy("asked, not used: shadow mode"),
    RunOutcome.FAILED: gettext_lazy("failed"),
    RunOutcome.NOT_ASKED: gettext_lazy("not asked"),
    RunOutcome.LOST: gettext_lazy("cut off before it wrote"),
}
REASONS = {
    "nothing_new": gettext_lazy("there is too little new to read"),
    "off": gettext_lazy("rebuilds are switched off"),
    "no_model": gettext_lazy("no model is set up"),
    "model_not_configured": gettext_lazy("no model is set up"),
    "unknown_model_price": gettext_lazy("the price of the model is not known"),
    "budget_exceeded": gettext_lazy("the budget is used up"),
    "capability_off": gettext_lazy("rebuilds are switched off"),
    "circuit_open": gettext_lazy("calls to the model rest after failures"),
    "answer_invalid": gettext_lazy("the model's answer could not be read"),
    "model_unavailable": gettext_lazy("the model could not be reached"),
}
DROPPED = {
    "wrong": gettext_lazy("called wrong before"),
    "known": gettext_lazy("known already"),
    "no_quote": gettext_lazy("without words of yours that say it"),
    "invalid": gettext_lazy("no valid value"),
    "held": gettext_lazy("held by the guard"),
}
"""Why a part of an answer did not count, or waits."""


def reason_label(code: str) -> str:
    """Return why a run did not ask, or failed; empty where nothing kept it."""
    return str(REASONS.get(code) or _("the model could not be asked (%(code)s)") % {"code": code}) if code else ""


def outcome_label(run: RebuildRun) -> str:
    """Return what became of a run, and why."""
    words = str(OUTCOMES[run.outcome])
    return _("%(what)s: %(why)s") % {"what": words, "why": reason_label(run.reason)} if run.reason else words
