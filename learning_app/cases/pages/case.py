"""One case in parts, as its page shows them: words as their reader may see them, prices, hints, what happened."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.translation import gettext as _

from learning_app.cases.models import CASE_KIND, OWNER, CaseHint, TradingCase
from learning_app.cases.pages.labels import Credit, bound_label, credit_of, judged_label, why_unjudged
from learning_app.cases.pages.lists import CaseRow
from learning_app.cases.pages.timeline import KINDS, Kind, timeline_of
from learning_app.cases.selectors import CASE_REVEALS, hints_of, list_outcome_events
from learning_app.court.core import MAX_CONTROLLED_HOURS
from learning_app.methodologies.models import LifecycleEvent
from learning_app.methodologies.querysets import trust_rules
from learning_app.notes.forms import NoteForm
from learning_app.notes.selectors import find_note
from learning_app.vocabulary import LifecycleKind
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.amounts import mask_amounts
from minara_site.kernel.core.excerpt import Segment
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.selectors import find_last_hold
from minara_site.kernel.market.outcome import WHILE_CLOSED
from minara_site.kernel.market.selectors import find_price
from minara_site.kernel.market.symbols import describe_asset
from minara_site.shell.reveals import reveal_context
from minara_site.web.decision_chart import JudgedDecision, load_decision_chart
from minara_site.web.filters import Text
from minara_site.web.market_labels import hours_label
from minara_site.web.moments import span_label
from minara_site.web.price_chart import PriceChart, price_label

ONE_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class HintRow:
    """A methodology that was in front of the agent. `name` is empty while the guard holds it; `url` is the reader's."""

    name: str
    url: str
    credit: Credit
    bound: str
    is_at_bar: bool


class PriceRow(NamedTuple):
    """A price around a window, how it is named, and how long before or after its end it was."""

    label: Text
    price: str
    at: datetime
    lag: str


def shape_hints(
    case: TradingCase,
    events: Sequence[LifecycleEvent],
    principal: Principal,
) -> list[HintRow]:
    """Return the hints of a case as they were shown. No query."""
    outcomes = {event.methodology_id: event for event in events if event.kind == LifecycleKind.OUTCOME_RECORDED}
    may_open, bar = principal.may(Act.METHODOLOGIES_READ), trust_rules().injection_threshold
    rows = []
    for hint in hints_of(case):
        method = hint.methodology
        is_open = may_open and (principal.is_operator or not method.held_at)
        url = reverse("methodologies:one", args=[method.uid]) if is_open else ""
        rows.append(
            HintRow(
                name_of(hint),
                url,
                credit_of(hint, outcomes.get(method.pk)),
                bound_label(method.confidence),
                method.confidence >= bar,
            )
        )
    return rows


def name_of(hint: CaseHint) -> str:
    """Return the name of a hinted methodology, its secrets masked; empty while the guard holds it."""
    return "" if hint.methodology.held_at else mask(hint.methodology.name)


def pieces_of(text: str, *, is_masked: bool) -> tuple[Segment, ...]:
    """Return a text in pieces; those that are marked stay out of the page."""
    return mask_amounts(text) if is_masked else ((text, False),)


def is_late(case: TradingCase) -> bool:
    """Say whether its window began when it arrived, later than it was decided."""
    return case.window.starts_at - case.decided_at >= ONE_MINUTE


def load_prices(case: TradingCase) -> list[PriceRow]:
    """Return the last price before the window, and the two that judged it. One query."""
    window = case.window
    whose = case.owner_id if case.judged_by == OWNER or case.is_demo else None
    before = find_price(case.asset, at=window.starts_at, owner_id=whose, tolerance=WHILE_CLOSED)
    earlier, later = _("%(span)s before the decision"), _("%(span)s after the decision")
    if is_late(case):
        earlier, later = _("%(span)s before its arrival"), _("%(span)s after its arrival")
    end = _("%(span)s after the window's end")
    found = [
        (_("Entry price"), case.entry_price, case.entry_price_at, window.starts_at, later),
        (_("Exit price"), case.exit_price, case.exit_price_at, window.ends_at, end),
    ]
    if before and before.at != case.entry_price_at:
        found.insert(0, (_("Price before"), before.price, before.at, window.starts_at, earlier))
    return [
        PriceRow(label, price_label(float(price)), at, lag_label(at, since, words))
        for label, price, at, since, words in found
        if price is not None and at is not None
    ]


def lag_label(at: datetime, since: datetime, words: str) -> str:
    """Return how far from a moment something was, as these words say it: "12 min after the decision"."""
    lag = abs(at - since)
    if lag < timedelta(seconds=1):
        return _("exact")
    span = span_label(lag, days_from=3) if lag >= ONE_MINUTE else _("%(seconds)s s") % {"seconds": lag.seconds}
    return words % {"span": span}


def load_chart(case: TradingCase, now: datetime) -> PriceChart | None:
    """Return the instance's prices around a case; its owner's where they judged it, or are the only ones."""
    entry, leave = (case.entry_price, case.entry_price_at), (case.exit_price, case.exit_price_at)
    began = _("Arrived") if is_late(case) else ""
    decision = JudgedDecision(case.asset, case.window.starts_at, case.window_ends_at, entry, leave, began=began)
    chart = None if case.judged_by == OWNER else load_decision_chart(decision, now=now)
    return chart or load_decision_chart(replace(decision, owner_id=case.owner_id), now=now)


def page_context(
    case: TradingCase,
    principal: Principal,
    *,
    show: str,
    now: datetime,
) -> dict[str, Any]:
    """Return everything that the page of a case shows this reader; `show` keeps one kind of moments."""
    reader, events = principal.owner, list_outcome_events(case)
    seen = reveal_context(principal, CASE_REVEALS, case.pk, now=now)
    names = {hint.methodology_id: name_of(hint) or _("a held methodology") for hint in hints_of(case)}
    moments = timeline_of(
        case,
        events=events,
        names=names,
        reveals=seen["reveals"],
        now=now,
    )
    kinds = [kind for kind in Kind if any(moment.kind == kind for moment in moments)]
    return {
        "title": _("Case %(id)d") % {"id": case.pk},
        "row": CaseRow(case),
        "case": case,
        "is_own": case.owner_id == reader.pk,
        "note_form": NoteForm(note=find_note(principal, "case", case.pk)),
        "window": hours_label(case.horizon_hours),
        "chart": load_chart(case, now),
        "symbol": describe_asset(case, now=now),
        "prices": load_prices(case),
        "chance": None if case.chance is None else 100 * case.chance,
        "max_controlled_hours": MAX_CONTROLLED_HOURS,
        "judged": judged_label(case),
        "why_unjudged": why_unjudged(case),
        "hints": shape_hints(case, events, principal),
        "timeline": [moment for moment in moments if show not in kinds or moment.kind == show],
        "kinds": [(kind, KINDS[kind]) for kind in kinds],
        "shown": show if show in kinds else "",
        "hold": find_last_hold(CASE_KIND, case.pk) if case.held_at else None,
        "author": name_actors({case.actor}, reader=reader)[case.actor],
        **seen,
        **text_context(case, principal, is_masked=seen["is_masked"]),
    }


def text_context(case: TradingCase, principal: Principal, *, is_masked: bool) -> dict[str, Any]:
    """Return the words of a case as this reader may see them: support none of a held one, and amounts when revealed."""
    shown = masked_for(principal.owner, case)
    decision = pieces_of(shown.decision, is_masked=is_masked)
    trade_ref = pieces_of(shown.trade_ref, is_masked=is_masked) if shown.trade_ref else ()
    return {
        "has_private": any(is_private for _part, is_private in (*decision, *trade_ref)),
        "is_withheld": principal.is_support and case.held_at is not None,
        "decision": decision,
        "decision_text": shown.decision,
        "trade_ref": trade_ref,
    }
