"""One case in parts, as its page shows them: words as their reader may see them, prices, hints, what happened."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from learning_app.cases.models import CASE_KIND, OWNER, CaseHint, TradingCase
from learning_app.cases.pages.labels import bound_label, credit_label, judged_label, why_unjudged
from learning_app.cases.pages.lists import CaseRow
from learning_app.cases.pages.timeline import KINDS, Kind, timeline_of
from learning_app.cases.selectors import hints_of, list_case_reveals, list_outcome_events, list_own_reveals
from learning_app.methodologies.models import LifecycleEvent
from learning_app.methodologies.querysets import trust_rules
from learning_app.vocabulary import LifecycleKind
from minara_site.access.actors import name_actors
from minara_site.access.models import AccessEntry
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.amounts import mask_amounts
from minara_site.kernel.core.excerpt import Segment
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.selectors import find_last_hold
from minara_site.kernel.market.symbols import describe_asset
from minara_site.web.decision_chart import JudgedDecision, load_decision_chart
from minara_site.web.market_labels import hours_label
from minara_site.web.price_chart import PriceChart, price_label


@dataclass(frozen=True, slots=True)
class HintRow:
    """A methodology that was in front of the agent. `name` is empty while the guard holds it; `url` is the reader's."""

    name: str
    url: str
    credit: str
    bound: str
    is_at_bar: bool


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
        credit = credit_label(hint, case, outcomes.get(method.pk))
        rows.append(
            HintRow(
                name_of(hint),
                url,
                credit,
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


def load_chart(case: TradingCase, now: datetime) -> PriceChart | None:
    """Return the instance's prices around a case; its owner's where they judged it, or are the only ones."""
    entry, leave = (case.entry_price, case.entry_price_at), (case.exit_price, case.exit_price_at)
    decision = JudgedDecision(case.asset, case.window.starts_at, case.window_ends_at, entry, leave)
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
    reader, is_support = principal.owner, principal.is_support
    events, reveals = list_outcome_events(case), list_case_reveals(case, viewer=reader if is_support else None)
    reveal = list_own_reveals(reader, case.pk, now=now).order_by("ends_at").last() if is_support else None
    names = {hint.methodology_id: name_of(hint) or _("a held methodology") for hint in hints_of(case)}
    moments = timeline_of(
        case,
        events=events,
        names=names,
        reveals=reveals,
        now=now,
    )
    kinds = [kind for kind in Kind if any(moment.kind == kind for moment in moments)]
    return {
        "title": _("Case %(id)d") % {"id": case.pk},
        "row": CaseRow(case),
        "case": case,
        "is_own": case.owner_id == reader.pk,
        "window": hours_label(case.horizon_hours),
        "chart": load_chart(case, now),
        "symbol": describe_asset(case, now=now),
        "entry_price": price_label(float(case.entry_price)) if case.entry_price is not None else "",
        "exit_price": price_label(float(case.exit_price)) if case.exit_price is not None else "",
        "judged": judged_label(case),
        "why_unjudged": why_unjudged(case),
        "hints": shape_hints(case, events, principal),
        "timeline": [moment for moment in moments if show not in kinds or moment.kind == show],
        "kinds": [(kind, KINDS[kind]) for kind in kinds],
        "shown": show if show in kinds else "",
        "reveals": reveals,
        "hold": find_last_hold(CASE_KIND, case.pk) if case.held_at else None,
        "author": name_actors({case.actor}, reader=reader)[case.actor],
        **text_context(case, principal, reveal, now),
    }


def text_context(
    case: TradingCase,
    principal: Principal,
    reveal: AccessEntry | None,
    now: datetime,
) -> dict[str, Any]:
    """Return the words of a case as this reader may see them: support none of a held one, and amounts when revealed."""
    shown = masked_for(principal.owner, case)
    is_masked = principal.is_support and reveal is None
    decision = pieces_of(shown.decision, is_masked=is_masked)
    trade_ref = pieces_of(shown.trade_ref, is_masked=is_masked) if shown.trade_ref else ()
    return {
        "is_masked": is_masked,
        "has_private": any(is_private for _part, is_private in (*decision, *trade_ref)),
        "reveal": reveal,
        "reveal_seconds": math.ceil((reveal.ends_at - now).total_seconds()) if reveal and reveal.ends_at else 0,
        "is_withheld": principal.is_support and case.held_at is not None,
        "decision": decision,
        "decision_text": shown.decision,
        "trade_ref": trade_ref,
    }
