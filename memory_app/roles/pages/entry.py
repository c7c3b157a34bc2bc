"""One decision in parts, as its page shows them: inputs, evidence, prices, model calls, what happened when."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.core import Status
from memory_app.roles.core.declarations import Manual, MemoryRole, PriceDelta
from memory_app.roles.decision_chart import ONE_MINUTE, is_late, window_of
from memory_app.roles.due import ready_at
from memory_app.roles.labels import CLASSES, probe_label
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.result import ProbeResult
from memory_app.roles.selectors import subject_of
from minara_site.kernel.core.assets import group_of
from minara_site.kernel.governance.models import ShadowDecision
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.market.outcome import Outcome, largest_gap
from minara_site.web.filters import Text
from minara_site.web.market_labels import hours_label, pnl_label
from minara_site.web.moments import cost_label, span_label
from minara_site.web.price_chart import price_label

MAX_CALLS = 20
MAX_INPUT_CHARS = 1_200


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input of a decision; `is_plain` is a single text, else it is JSON."""

    name: str
    text: str
    is_plain: bool


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """Something that the stages read besides the outcome; `at` is None where no time belongs to it."""

    kind: str
    label: str
    at: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """A model call about a decision: which stage asked, what it cost."""

    usage: LlmUsage
    stage: Text

    @property
    def tokens(self) -> int:
        """Return how many tokens went in and came out."""
        usage = self.usage
        return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens

    @property
    def cost(self) -> str:
        """Return what it cost; a call is worth fractions of a cent."""
        return cost_label(self.usage.cost_usd)


@dataclass(frozen=True, slots=True)
class Moment:
    """A line of what happened; `tone` is the class of its dot, `note` says more."""

    words: Text
    at: datetime
    tone: str = ""
    note: str = ""


def list_inputs(inputs: Mapping[str, Any]) -> list[InputRow]:
    """Return the inputs in the order of their names, each as a text."""
    return list_texts(dict(sorted(inputs.items())))


def list_texts(values: Mapping[str, Any]) -> list[InputRow]:
    """Return values by name, each as a text."""
    return [
        InputRow(str(name), value, is_plain=True)
        if isinstance(value, str)
        else InputRow(
            str(name),
            json.dumps(value, ensure_ascii=False),
            is_plain=not isinstance(value, dict | list),
        )
        for name, value in values.items()
    ]


def list_evidence(evidence: Any) -> list[EvidenceRow]:
    """Return the evidence in the order in which the stages read it; what is no evidence is left out."""
    rows = [each for each in evidence if isinstance(each, dict)] if isinstance(evidence, list) else []
    return [
        EvidenceRow(
            str(row.get("kind", "")),
            str(row.get("label", "")),
            moment_of(row.get("at")),
            str(row.get("text", "")),
        )
        for row in rows
    ]


def moment_of(text: object) -> datetime | None:
    """Return an ISO time, None for what is none."""
    try:
        found = parse_datetime(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def list_calls(entry: RoleMemory) -> list[CallRow]:
    """Return the model calls about a decision, the first one first, repairs and failed tries among them. One query."""
    usage = LlmUsage.objects.filter(subject=subject_of(entry.pk)).order_by("ts", "id")[:MAX_CALLS]
    calls = []
    for each in usage:
        is_second = "lesson" in each.task or "stage2" in each.task
        stage = _("Stage 2, the lesson") if is_second else _("Stage 1, the class")
        calls.append(
            CallRow(
                each,
                _("%(stage)s, asked again") % {"stage": stage} if each.is_repair else stage,
            )
        )
    return calls


def shadow_of(entry: RoleMemory) -> ShadowDecision | None:
    """Return what the reflection would have written while it was in shadow. One query."""
    return ShadowDecision.objects.filter(
        capability=ROLE_REFLECTION.name,
        subject=subject_of(entry.pk),
    ).first()


def probe_rows(entry: RoleMemory, role: MemoryRole | None) -> list[tuple[Text, Text]]:
    """Return how the outcome is found: the probe, its window, and how late its prices may be."""
    if role is None:
        return []
    probe = role.reflection_policy.outcome_probe
    rows: list[tuple[Text, Text]] = [(_("How the outcome is found"), probe_label(probe))]
    if isinstance(probe, PriceDelta):
        window = timedelta(hours=probe.window_hours)
        group = group_of(entry.asset) if entry.asset else None
        hours = probe.tolerance_hours or largest_gap(window, group).total_seconds() / 3600
        rows.append(
            (
                _("Tolerance"),
                _("a price at most %(span)s later") % {"span": hours_label(hours)},
            )
        )
    return rows


def late_labels(entry: RoleMemory, role: MemoryRole | None) -> list[str]:
    """Return how long after the start and the end of its window the two prices came; empty where at once."""
    begins_at, ends_at = window_of(entry, role)
    began = _("%(span)s after its arrival") if is_late(entry, begins_at) else _("%(span)s after the decision")
    places = (
        (entry.entry_price_at, begins_at, began),
        (entry.exit_price_at, ends_at, _("%(span)s after the window's end")),
    )
    return [
        words % {"span": span_label(at - since)} if at and at - since >= ONE_MINUTE else ""
        for at, since, words in places
    ]


def corrected_label(found: ProbeResult | None) -> str:
    """Return which prices stand where others judged a decision; `found` is what its probe says by them, if anything."""
    quotes = (found.entry_quote, found.exit_quote) if found else ()
    said = {"prices": " → ".join(price_label(float(quote.price)) for quote in quotes if quote) or "—"}
    return _("The price was corrected since: it is now %(prices)s. Outcome and lesson stay.") % said


def is_waiting(entry: RoleMemory, role: MemoryRole | None, now: datetime) -> bool:
    """Say whether a person has to say what came of a decision, now."""
    if role is None or not isinstance(role.reflection_policy.outcome_probe, Manual):
        return False
    is_open = entry.status == Status.PENDING and not (entry.outcome or entry.mark or entry.held_at)
    return is_open and ready_at(entry, role.reflection_policy) <= now


def is_undoable(entry: RoleMemory, now: datetime) -> bool:
    """Say whether a person marked the outcome and can still undo that."""
    return entry.mark_effective_at is not None and entry.mark_effective_at > now


def timeline_of(
    entry: RoleMemory,
    role: MemoryRole | None,
    now: datetime,
) -> Sequence[Moment]:
    """Return what happened with a decision, and while it waits what comes next, oldest first."""
    moments = [Moment(_("Decided"), entry.decided_at, "t-person")]
    if entry.is_backdated:
        moments.append(Moment(_("Recorded later than it was decided"), entry.created_at))
    if entry.held_at:
        moments.append(Moment(_("Held by the guard"), entry.held_at, "t-bad"))
    if entry.outcome and entry.outcome_at:
        tone = {Outcome.RIGHT: "t-good", Outcome.WRONG: "t-bad"}.get(Outcome(entry.outcome), "")
        note = "" if entry.pnl_pct is None else pnl_label(entry.pnl_pct)
        moments.append(Moment(_("Outcome known"), entry.outcome_at, tone, note))
    if entry.reflected_at:
        badge = CLASSES.get(entry.classification) if entry.classification else None  # type: ignore[call-overload]
        moments.append(
            Moment(
                _("Reflected"),
                entry.reflected_at,
                "t-read",
                str(badge.word) if badge else "",
            )
        )
    if entry.mark_effective_at:
        moments.append(
            Moment(
                _("The marked outcome takes effect"),
                entry.mark_effective_at,
                "t-due",
            )
        )
    elif entry.status == Status.PENDING and role is not None:
        if (ready := ready_at(entry, role.reflection_policy)) > now:
            moments.append(Moment(_("May be judged"), ready, "t-due"))
        over = entry.decided_at + timedelta(hours=role.reflection_policy.max_age_hours)
        moments.append(Moment(_("Skipped when it is not judged by then"), over, "t-due"))
    return sorted(moments, key=lambda moment: moment.at)
