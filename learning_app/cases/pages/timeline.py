"""What happened with a case, out of every table that says so, oldest first (screens U-12)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from django.utils.translation import gettext as _, gettext_lazy, ngettext, pgettext

from learning_app.cases.models import CASE_KIND, CaseHint, TradingCase
from learning_app.cases.pages.labels import OUTCOMES, bounds_label
from learning_app.cases.selectors import hints_of
from learning_app.methodologies.models import LifecycleEvent
from learning_app.vocabulary import LifecycleKind, OutcomeState
from minara_site.access.models import AccessEntry
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.market.outcome import Direction
from minara_site.web.filters import Text
from minara_site.web.market_labels import DIRECTIONS, pnl_label
from minara_site.web.price_chart import price_label

HASH_CHARS = 12
TONES = {OutcomeState.CONFIRMED_GOOD: "t-good", OutcomeState.CONFIRMED_BAD: "t-bad"}
DECIDED_ON: dict[str, Text] = {
    Decision.RELEASED: gettext_lazy("Released"),
    Decision.DISCARDED: gettext_lazy("Discarded: it stays held"),
    Decision.REPLACED: gettext_lazy("Replaced"),
}
CHANGED: dict[str, Text] = {
    LifecycleKind.GRADUATED: gettext_lazy("Graduated"),
    LifecycleKind.DEMOTED: gettext_lazy("Demoted"),
}


class Kind(StrEnum):
    """What a moment is about."""

    DECISION = "decision"
    OUTCOME = "outcome"
    GUARD = "guard"
    REVEALS = "reveals"


KINDS: dict[Kind, Text] = {
    Kind.DECISION: gettext_lazy("Decision"),
    Kind.OUTCOME: gettext_lazy("Outcome"),
    Kind.GUARD: gettext_lazy("Guard"),
    Kind.REVEALS: gettext_lazy("Reveals"),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """A line of what happened; `tone` is the class of its dot, `note` says more, `quote` is what somebody wrote."""

    kind: Kind
    words: Text
    at: datetime
    tone: str = ""
    note: str = ""
    quote: str = ""


def timeline_of(
    case: TradingCase,
    *,
    events: Sequence[LifecycleEvent],
    names: dict[int, str],
    reveals: Sequence[AccessEntry],
    now: datetime,
) -> list[Moment]:
    """Return every moment of a case; `names` are those of the methodologies. One query."""
    reversed_of = {event.methodology_id: event.pk for event in reversed(events) if is_reversal(event)}
    moments = [
        *decision_moments(case),
        *(guard_moments(case)),
        *outcome_moments(case, now=now),
        *(
            credit_moment(event, names, is_again=event.pk > reversed_of.get(event.methodology_id, event.pk))
            for event in events
        ),
        *(reveal_moment(reveal) for reveal in reveals),
    ]
    return sorted(moments, key=lambda moment: moment.at)


def decision_moments(case: TradingCase) -> Iterator[Moment]:
    """Yield what was fixed at the decision."""
    hints: list[CaseHint] = hints_of(case)
    if hints:
        shown = ngettext("%(n)d methodology", "%(n)d methodologies", len(hints)) % {"n": len(hints)}
        note = _("%(shown)s in front of the agent, hint hash %(hash)s")
        note %= {"shown": shown, "hash": case.hint_hash[:HASH_CHARS]}
        yield Moment(
            Kind.DECISION,
            _("Hints shown"),
            case.decided_at,
            "t-read",
            note,
        )
    yield Moment(
        Kind.DECISION,
        pgettext("timeline", "Decided"),
        case.decided_at,
        "t-person",
        str(DIRECTIONS[Direction(case.direction)]),
    )
    if case.backdated or case.replayed:
        yield Moment(
            Kind.DECISION,
            _("Recorded later than it was decided"),
            case.created_at,
        )


def guard_moments(case: TradingCase) -> Iterator[Moment]:
    """Yield when the guard held its words, and what a person decided. One query."""
    for hold in Hold.objects.filter(kind=CASE_KIND, object_id=case.pk).order_by("pk"):
        yield Moment(Kind.GUARD, _("Held by the guard"), hold.held_at, "t-bad")
        if hold.decision and hold.decided_at:
            yield Moment(
                Kind.GUARD,
                DECIDED_ON[hold.decision],
                hold.decided_at,
                "t-person",
            )


def outcome_moments(case: TradingCase, *, now: datetime) -> Iterator[Moment]:
    """Yield its entry, when its window ends, and what prices said then."""
    if case.entry_price is not None and case.entry_price_at is not None:
        yield Moment(Kind.OUTCOME, _("Entry price"), case.entry_price_at, note=price_label(float(case.entry_price)))
    ended = Moment(Kind.OUTCOME, _("Window over"), case.window_ends_at)
    is_ahead = case.window_ends_at > now
    yield replace(ended, words=_("Window ends"), tone="t-due") if is_ahead else ended
    if case.resolved_at is None:
        return
    now_said = {"outcome_state": case.outcome_state, "pnl_pct": case.pnl_pct}
    since, again = case.resolved_at, ""
    for said in [*case.judged_before, now_said]:
        state, change = OutcomeState(said["outcome_state"]), said["pnl_pct"]
        notes = [again, "" if change is None else pnl_label(change)]
        yield Moment(Kind.OUTCOME, OUTCOMES[state], since, TONES.get(state, ""), _(", ").join(filter(None, notes)))
        if "until" in said:
            since, again = datetime.fromisoformat(said["until"]), _("a price was corrected or came later")


def is_reversal(event: LifecycleEvent) -> bool:
    """Say whether an event takes away an outcome that was counted before."""
    return "reverses" in event.details


def credit_moment(event: LifecycleEvent, names: dict[int, str], *, is_again: bool) -> Moment:
    """Return what an outcome did to a methodology; `is_again`: another one of the case was reversed before."""
    name = names.get(event.methodology_id or 0, "")
    if event.kind in CHANGED:
        return Moment(
            Kind.OUTCOME,
            CHANGED[event.kind],
            event.at,
            note=name,
        )
    words = _("Counted again: a price was corrected or came later") if is_again else _("Credited")
    return Moment(
        Kind.OUTCOME,
        _("No longer counted") if is_reversal(event) else words,
        event.at,
        note=f"{name} {bounds_label(event)}",
    )


def reveal_moment(reveal: AccessEntry) -> Moment:
    """Return who saw the amounts, and why."""
    name = reveal.viewer.get_short_name()
    return Moment(
        Kind.REVEALS,
        _("Amounts revealed"),
        reveal.at,
        "t-person",
        name,
        reveal.reason,
    )
