"""Recording a trading case: what is known at the decision is fixed here, and never changed. Sources: S2, decisions."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from learning_app.cases.base_rate import find_base_rate, find_regime, load_history
from learning_app.cases.models import CASE_KIND, CaseHint, TradingCase
from learning_app.court.core import block_of
from learning_app.methodologies.block import render_block
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.lifecycle import lock_rows
from learning_app.vocabulary import HORIZON_HOURS, Timeframe
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.errors import FieldError, Invalid, invalid_field
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.selectors import list_repeated
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.symbols import read_symbol
from minara_site.kernel.ownership import lock_owner
from minara_site.kernel.plain_text import clean_text

MAX_DECISION_CHARS, MAX_REF_CHARS, MAX_HINTS = 4_000, 120, 50
MAX_HORIZON_HOURS = 365 * 24
CLOCKS_DIFFER = timedelta(minutes=5)
BACKDATED = timedelta(minutes=15)
ARGUMENTS = ("asset", "decision", "direction", "horizon_hours", "trade_ref")
EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A case that is to be recorded. `hints` are ids of methodologies in the order in which they were shown.

    `horizon_hours` None is the shortest of the hinted timeframes, `decided_at` None is now.
    """

    asset: str
    decision: str
    direction: Direction
    hints: Sequence[str] = ()
    horizon_hours: int | None = None
    decided_at: datetime | None = None
    trade_ref: str = ""


def record_case(
    *,
    owner_id: int,
    draft: CaseDraft,
    actor: str,
    origin: str,
    is_replay: bool,
    now: datetime,
    reasoning: str = "",
) -> tuple[TradingCase, bool]:
    """Return the case with its hints and whether it is new; a key that repeats one gets that one.

    One whose words the guard refuses is held, and is judged all the same. `is_replay` says that an operator recorded
    it, so that an earlier `decided_at` counts. Raises Invalid.
    """
    case, hinted = build_case(
        owner_id=owner_id,
        draft=draft,
        actor=actor,
        origin=origin,
        now=now,
        is_replay=is_replay,
    )
    history = load_history(case.asset, at=case.decided_at)
    horizon = timedelta(hours=case.horizon_hours)
    case.base_rate = find_base_rate(
        case.asset,
        draft.direction,
        horizon,
        history,
        at=case.decided_at,
    )
    case.regime = find_regime(case.asset, history, at=case.decided_at)
    with transaction.atomic():
        lock_owner(owner_id)
        repeated = find_repeated(case, hinted)
        if repeated is not None:
            return repeated, False
        hold = store_judged(CASE_KIND, case, now=now)
        CaseHint.objects.bulk_create(build_hints(case, hinted, has_prices=history is not None))
        record_audit(
            now=now,
            actor=actor,
            tool_call="case_recorded",
            owner_id=owner_id,
            reasoning=reasoning,
            details={
                "id": case.pk,
                "sha256": content_digest(case.decision),
                **({"held": 1} if hold else {}),
                **({"backdated": 1} if case.backdated else {}),
            },
        )
    return case, True


def find_repeated(case: TradingCase, hinted: Sequence[Methodology]) -> TradingCase | None:
    """Return the case that an unsaved one repeats, with the same hints in any order. The owner is locked."""
    others = Count("hint_rows", filter=~Q(hint_rows__methodology__in=hinted))
    rows = list_repeated(CASE_KIND, case, ARGUMENTS).alias(hints=Count("hint_rows"), others=others)
    found: TradingCase | None = rows.filter(hints=len(hinted), others=0).first()
    return found


def build_case(
    *,
    owner_id: int,
    draft: CaseDraft,
    actor: str,
    origin: str,
    is_replay: bool,
    now: datetime,
) -> tuple[TradingCase, list[Methodology]]:
    """Return the unsaved case of a draft, every field cleaned, and its hints. Raises Invalid."""
    symbol = read_symbol(draft.asset, field="asset")
    hinted = find_hinted(draft.hints)
    hours = find_horizon(draft.horizon_hours, hinted)
    decided_at = clean_moment(draft.decided_at, now=now)
    shown = "\n".join([*sorted(row.uid for row in hinted), render_block(hinted)])
    case = TradingCase(
        owner_id=owner_id,
        asset=symbol,
        asset_text=draft.asset.strip(),
        decision=clean_text(
            draft.decision,
            field="decision",
            max_chars=MAX_DECISION_CHARS,
        ),
        direction=draft.direction,
        horizon_hours=hours,
        decided_at=decided_at,
        window_ends_at=decided_at + timedelta(hours=hours),
        trade_ref=clean_text(
            draft.trade_ref,
            field="trade_ref",
            max_chars=MAX_REF_CHARS,
            min_chars=0,
        ),
        hint_hash=hashlib.sha256(shown.encode()).hexdigest(),
        backdated=not is_replay and now - decided_at > BACKDATED,
        actor=actor,
        origin=origin,
        created_at=now,
    )
    return case, hinted


def find_hinted(uids: Sequence[str]) -> list[Methodology]:
    """Return the hinted methodologies in the order of their ids. Raises Invalid for one that agents cannot see."""
    wanted = list(dict.fromkeys(uids))
    if len(wanted) > MAX_HINTS:
        raise invalid_field("hints", _("Name at most %(most)d methodologies.") % {"most": MAX_HINTS})
    found = {row.uid: row for row in Methodology.objects.filter(uid__in=wanted, held_at__isnull=True)}
    unknown = [uid for uid in wanted if uid not in found]
    if unknown:
        problem = _("There is no methodology with the id %(ids)s.") % {"ids": ", ".join(unknown)[:200]}
        raise Invalid(
            problem,
            code="unknown_hint",
            errors=(FieldError("hints", problem),),
        )
    return [found[uid] for uid in wanted]


def find_horizon(hours: int | None, hinted: Iterable[Methodology]) -> int:
    """Return the stated horizon, else the shortest of the hinted timeframes. Raises Invalid without either."""
    if hours is None:
        hours = min(
            (HORIZON_HOURS[Timeframe(row.timeframe)] for row in hinted),
            default=None,
        )
        if hours is None:
            raise invalid_field(
                "horizon_hours", _("Give horizon_hours, or hint a methodology whose timeframe says it.")
            )
    if not 1 <= hours <= MAX_HORIZON_HOURS:
        raise invalid_field(
            "horizon_hours",
            _("Give 1 to %(most)d hours.") % {"most": MAX_HORIZON_HOURS},
        )
    return hours


def clean_moment(decided_at: datetime | None, *, now: datetime) -> datetime:
    """Return when it was decided; without a zone it is UTC. Raises Invalid for the future, beyond five minutes."""
    if decided_at is None:
        return now
    moment = decided_at if decided_at.tzinfo else decided_at.replace(tzinfo=UTC)
    if moment < EARLIEST:
        raise invalid_field("decided_at", _("Give decided_at as a moment after 1970."))
    if moment - now > CLOCKS_DIFFER:
        raise invalid_field("decided_at", _("decided_at is in the future. Record a case once it is decided."))
    return moment.astimezone(UTC)


def build_hints(
    case: TradingCase,
    hinted: Sequence[Methodology],
    *,
    has_prices: bool,
) -> list[CaseHint]:
    """Return the unsaved hints of a stored case, each with its block of the court. Needs a transaction.

    No block is made by a symbol that the instance has never had a price of, since no case of it will ever count, nor
    by a case that looks further ahead than the methodology: nothing else of it would count meanwhile.
    """
    lock_rows(row.pk for row in hinted)
    hints = [
        CaseHint(
            case=case,
            methodology=row,
            position=position,
            is_credited=row.direction == case.direction and not case.backdated,
        )
        for position, row in enumerate(hinted)
    ]
    for hint in hints:
        fits = case.horizon_hours <= HORIZON_HOURS[Timeframe(hint.methodology.timeframe)]
        if hint.is_credited and has_prices and fits:
            hint.block_at = find_block(hint.methodology_id, case.decided_at, case.window_ends_at)
            hint.block_ends_at = case.window_ends_at if hint.block_at else None
    return hints


def find_block(number: int, decided_at: datetime, ends_at: datetime) -> datetime | None:
    """Return the block of a methodology that a case belongs to, None when another one is open. One query.

    A block that the court has counted takes no further case: of one moment it would be counted twice.
    """
    near = CaseHint.objects.filter(
        methodology=number,
        block_at__lt=ends_at,
        block_ends_at__gt=decided_at,
    )
    found = list(near.values_list("block_at", "block_ends_at", "is_judged"))
    if any(at == decided_at and is_judged for at, _end, is_judged in found):
        return None
    return block_of(
        decided_at,
        ends_at,
        [(at, end) for at, end, _judged in found if at and end],
    )
