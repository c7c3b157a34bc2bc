"""Reads of trading cases."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.cases.models import CASE_KIND, CaseHint, CaseQuerySet, CronRun, TradingCase
from learning_app.methodologies.models import LifecycleEvent
from minara_site.access.reveals import Reveals
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.guard.selectors import find_refused as find_refused_texts
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number

SAME_BET = "same_bet"
"""Why a case does not count whose block counts by another one."""
DAY_FORMS = ("%Y-%m-%d", "%d %b %Y", "%d %B %Y", "%Y/%m/%d", "%Y年%m月%d日")
CASE_REVEALS = Reveals(kind="case_reveal", begun="case_revealed", ended="case_reveal_ended")


def list_cases(*, owner: Owner) -> CaseQuerySet:
    """Return the cases of an owner with their hints, unordered."""
    rows: CaseQuerySet = TradingCase.objects.for_owner(owner).select_related("control")
    return rows.prefetch_related("hint_rows__methodology", "hint_rows__block", "hint_rows__own_block")


def list_rows(owner: Owner) -> CaseQuerySet:
    """Return the cases of an owner as lists show them: without their words, hints only counted."""
    return TradingCase.objects.for_owner(owner).defer("decision").prefetch_related("hint_rows")


def get_case(*, owner: Owner, case_id: int) -> TradingCase:
    """Return one case with its hints. Raises NotFound also for another owner's."""
    return or_not_found(list_cases(owner=owner).filter(pk=case_id).first(), _("There is no such trading case."))


def find_refused(cases: Sequence[TradingCase]) -> set[int]:
    """Return the ids of cases whose words no agent reads: held ones, and those that today's rules refuse."""
    held = {case.pk for case in cases if case.held_at}
    return held | find_refused_texts(CASE_KIND, [case for case in cases if case.pk not in held])


def hints_of(case: TradingCase) -> list[CaseHint]:
    """Return the hints of a case as they were shown."""
    return sorted(case.hint_rows.all(), key=lambda hint: hint.position)


def search_cases(rows: "QuerySet[TradingCase]", text: str) -> "QuerySet[TradingCase]":
    """Keep the cases that a text names: by id ("4182", "#4182"), id of the trade, asset in any spelling, or day."""
    found = Q(trade_ref__in={text, text.upper(), text.lower()})
    number = parse_number(text.removeprefix("#"))
    if number is not None:
        found |= Q(pk=number)
    if day := day_of(text):
        found |= Q(decided_at__gte=day, decided_at__lt=day + timedelta(days=1))
    elif symbol := normalise_symbol(text):
        found |= Q(asset=symbol)
    return rows.filter(found)


def day_of(text: str) -> datetime | None:
    """Return when the day of a text ("2026-11-25", "25 Nov 2026") begins in the reader's zone, None when it is none."""
    day = None
    for form in DAY_FORMS:
        with suppress(ValueError):
            day = datetime.strptime(text, form).date()  # noqa: DTZ007 - the zone is the reader's, below
    is_usable = day is not None and date.min.year < day.year < date.max.year  # a zone could push it out of range
    return timezone.make_aware(datetime.combine(day, time.min)) if day and is_usable else None


def list_outcome_events(case: TradingCase) -> list[LifecycleEvent]:
    """Return what the outcome of a case did to methodologies, oldest first. One query."""
    return list(LifecycleEvent.objects.filter(case_id=case.pk).order_by("pk"))


def newest_run() -> CronRun | None:
    """Return the last heartbeat of the learning cron."""
    return CronRun.objects.order_by("-ended_at", "-pk").first()


def case_record(case: TradingCase, symbol: dict[str, Any] | None, *, is_refused: bool) -> dict[str, Any]:
    """Return a case as API and tools answer it (contract); what the guard refuses is there without its words.

    `symbol` is what its asset was read as.
    """
    hints = hints_of(case)
    return {
        "id": case.pk,
        "asset": case.asset,
        "asset_text": case.asset_text or case.asset,
        "symbol": symbol,
        "decision": "" if is_refused else case.decision,
        "direction": case.direction,
        "horizon_hours": case.horizon_hours,
        "outcome_state": case.outcome_state,
        "hints": [hint.methodology.uid for hint in hints],
        "hint_hash": case.hint_hash,
        "attribution_model": case.attribution_model,
        "trade_ref": None if is_refused else case.trade_ref or None,
        "entry": price_record(case.entry_price, case.entry_price_at),
        "exit": price_record(case.exit_price, case.exit_price_at),
        "gap": case.gap or None,
        "credits": [credit_record(hint) for hint in hints],
        "control": control_record(case),
        "regime": case.regime,
        "replayed": case.replayed,
        "backdated": case.backdated,
        "judged_by": case.judged_by or None,
        "decided_at": case.decided_at,
        "received_at": case.created_at,
        "window_ends_at": case.window_ends_at,
        "resolved_at": case.resolved_at,
        "pnl_pct": case.pnl_pct,
        "held": is_refused,
    }


def price_record(price: Decimal | None, at: datetime | None) -> dict[str, Any] | None:
    """Return a price that decided, None while there is none."""
    return None if price is None else {"price": float(price), "at": at}


def credit_record(hint: CaseHint) -> dict[str, Any]:
    """Return whether a case counts for a methodology, and if not, why: a case of another owner is not named."""
    is_counted, other = find_place(hint)
    return {
        "methodology": hint.methodology.uid,
        "counted": is_counted,
        "counted_for_owner": hint.own_block_id is not None,
        "why": None if is_counted else hint.why or SAME_BET,
        "same_block_as": other,
    }


def find_place(hint: CaseHint) -> tuple[bool, int | None]:
    """Return whether a case holds its time for the instance, and which other case of its owner holds it instead."""
    block = hint.block
    if hint.word is not None:
        return True, None
    if block is None:
        is_own = hint.met_case is not None and hint.met_case == hint.own_met_case
        return False, hint.met_case if is_own else None
    holder = block.counted_case or block.case_id
    return holder == hint.case_id, None if holder == hint.case_id else holder


def control_record(case: TradingCase) -> dict[str, Any] | None:
    """Return how the bets of the horizons after a case went, None where it has no control."""
    control = case.control
    if control is None:
        return None
    return {"share": case.chance, "clear": control.ups + control.downs, "known_at": control.known_at}
