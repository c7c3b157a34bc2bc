"""One methodology in parts, as its page shows them: its bound, the court, where it was right, its cases, its text."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.cases.pages.labels import credit_of
from learning_app.cases.pages.lists import CaseRow
from learning_app.court.core import MAX_CONTROLLED_HOURS
from learning_app.methodologies.block import render_block
from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.core.wilson import wilson_interval
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.querysets import is_court_enforced, trust_rules
from learning_app.methodologies.services.decide import ACTS
from learning_app.methodology_pages.pages.bounds import bound_curve
from learning_app.methodology_pages.pages.evidence import e_label, evidence_curve, replay
from learning_app.methodology_pages.pages.figures import load_figures
from learning_app.methodology_pages.pages.hits import load_hits
from learning_app.methodology_pages.pages.labels import missing_label, why_label, why_not_injected
from learning_app.methodology_pages.pages.lists import MethodologyRow
from learning_app.methodology_pages.selectors import (
    MAX_CASES,
    count_known,
    count_texts,
    find_decision,
    list_case_hints,
    list_curve_events,
    list_observations,
)
from learning_app.vocabulary import HORIZON_HOURS, LifecycleKind, Timeframe
from minara_site.access.access_log import log_listed
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.config import CourtMode
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.guard.selectors import find_last_hold
from minara_site.shell.undo import undo_url
from minara_site.web.filters import Text

USUAL_CALLS = 80
"""So many independent calls half of the methodologies that are .15 better than their controls need to show it."""


@dataclass(frozen=True, slots=True)
class MarkView:
    """A mark: whether the methodology has it, its word, and what it says in a line."""

    has: bool
    word: Text
    meaning: Text


def marks_of(row: Methodology) -> list[MarkView]:
    """Return the three marks."""
    bar = {"uses": settings.MINARA.min_uses, "bar": f"{settings.MINARA.injection_threshold:.2f}"}
    return [
        MarkView(
            not row.quarantine and not row.held_at,
            _("Graduated"),
            _("The rule: %(uses)s uses or more, and the lower bound of what was right reached %(bar)s.") % bar,
        ),
        MarkView(
            row.beats_chance,
            _("Better than chance"),
            _("The evidence reached 20: without skill that ever happens to 1 in 20 at most, however often one looks."),
        ),
        MarkView(
            row.survives_store,
            _("Holds among all methods"),
            _("It also holds beside all the others that were tried: of those with this mark 1 in 10 at most is false."),
        ),
    ]


def court_context(row: Methodology) -> dict[str, Any]:
    """Return what the court has found; empty while it is off. Two queries."""
    if settings.MINARA.methodology_court is CourtMode.OFF:
        return {}
    observations = list_observations(row)
    return {
        "curve": evidence_curve(replay(observations)) if observations else None,
        "hits": load_hits(observations or []),
        "is_too_long": observations is None,
        **count_known(row),
        "usual": USUAL_CALLS,
        "is_too_far": HORIZON_HOURS[Timeframe(row.timeframe)] > MAX_CONTROLLED_HOURS,
        "now": e_label(row.log_evidence or 0.0),
        "most": e_label(row.max_log_evidence or 0.0),
        "marks": marks_of(row),
        "is_enforced": is_court_enforced(),
    }


def page_context(shown: MethodologyRow, principal: Principal) -> dict[str, Any]:
    """Return everything that the page shows, but the lifecycle."""
    row, rules = shown.row, trust_rules()
    owner = principal.reaches(Act.CASES_READ)
    hints = list_case_hints(row, owner=owner)
    log_listed(principal, [hint.case for hint in hints], kind="trading_cases", now=timezone.now())
    events = list_curve_events(row)
    decision = find_decision(row)
    outcomes = sum(event.kind == LifecycleKind.OUTCOME_RECORDED for event in events)
    block = render_block([row])
    lower, upper = wilson_interval(row.times_correct, row.times_used)
    return {
        "undo_url": undo_url(METHODOLOGY_KIND, row, principal, ACTS.values()) if decision else None,
        "title": shown.name,
        "shown": shown,
        "row": row,
        "rules": rules,
        "missing": missing_label(row) if row.quarantine else "",
        "is_above": row.confidence >= rules.injection_threshold,
        "percent": 100 * row.times_correct / row.times_used if row.times_used else None,
        "interval": (f"{lower:.3f}", f"{upper:.3f}"),
        "curve": bound_curve(events, rules),
        "curve_count": outcomes if outcomes < row.times_used else 0,
        "figures": load_figures(row),
        "texts": count_texts(row),
        "court": court_context(row),
        "cases": [(CaseRow(hint.case), credit_of(hint)) for hint in hints],
        "has_more_cases": len(hints) == MAX_CASES,
        "is_of_all": principal.reads_others(Act.CASES_READ),
        "prompt_text": block,
        "tokens": estimate_tokens(block),
        "decision": decision,
        "decided_why": why_label(decision) if decision else "",
        "why_not": "" if shown.is_injected else why_not_injected(row),
        "hold": find_last_hold(METHODOLOGY_KIND, row.pk),
        "is_refused": bool(row.held_at) or shown.is_refused,
        "author": name_actors({row.actor}, reader=principal.owner)[row.actor],
        "may_decide": principal.may(Act.METHODOLOGY_DECIDE),
    }
