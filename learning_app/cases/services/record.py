"""Recording a trading case: what is known at the decision is fixed here, and never changed. Sources: S2, decisions."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from learning_app.cases.models import CASE_KIND, TradingCase
from learning_app.cases.services.places import Recorded, store_hints
from learning_app.methodologies.block import render_block
from learning_app.methodologies.models import Methodology
from learning_app.vocabulary import HORIZON_HOURS, Timeframe
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.core.assets import group_of
from minara_site.kernel.db import slices
from minara_site.kernel.errors import FieldError, Invalid, invalid_field
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.selectors import list_repeated
from minara_site.kernel.market.moves import first_quotes
from minara_site.kernel.market.outcome import ALWAYS_OPEN, LATE, Direction
from minara_site.kernel.market.symbols import read_symbol
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import clean_text

MAX_DECISION_CHARS, MAX_REF_CHARS, MAX_HINTS = 4_000, 120, 50
MAX_HORIZON_HOURS = 365 * 24
MAX_CASES, MAX_ERRORS = 1_000, 20
WEEK, WEEKS_BACK = timedelta(days=7), 4
CLOCKS_DIFFER = timedelta(minutes=5)
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


@dataclass(frozen=True, slots=True)
class Recorder:
    """Who records cases for an owner: `is_operator` says that it is an operator's key or command."""

    owner_id: int
    actor: str
    origin: str = ""
    is_operator: bool = False


def record_case(
    *,
    draft: CaseDraft,
    by: Recorder,
    now: datetime,
    reasoning: str = "",
) -> tuple[TradingCase, bool]:
    """Return the case with its hints and whether it is new; a key that repeats one gets that one.

    One whose words the guard refuses is held, and is judged all the same. Raises Invalid.
    """
    [(case, hinted)] = build_cases([draft], by=by, now=now, is_list=False)
    with owner_locked(by.owner_id):
        repeated = find_repeated(case, hinted)
        if repeated is not None:
            return repeated, False
        store(case, now=now, reasoning=reasoning)
        store_hints([(case, hinted)])
    return case, True


def record_cases(*, drafts: Sequence[CaseDraft], by: Recorder, now: datetime) -> list[TradingCase]:
    """Return the new cases of a list, all of them or, when one is wrong, none. Raises Invalid, which names the row."""
    if not 1 <= len(drafts) <= MAX_CASES:
        raise Invalid(_("Send 1 to %(most)d cases at once.") % {"most": MAX_CASES})
    built = build_cases(drafts, by=by, now=now)
    with owner_locked(by.owner_id):
        for case, _hinted in built:
            store(case, now=now)
        store_hints(built)
    return [case for case, _hinted in built]


def store(case: TradingCase, *, now: datetime, reasoning: str = "") -> None:
    """Store a case with its audit row, held when the guard refuses its words. Needs a transaction."""
    hold = store_judged(CASE_KIND, case, now=now)
    record_audit(
        now=now,
        actor=case.actor,
        tool_call="case_recorded",
        owner_id=case.owner_id,
        reasoning=reasoning,
        details={
            "id": case.pk,
            "sha256": content_digest(case.decision),
            **({"held": 1} if hold else {}),
            **({"backdated": 1} if case.backdated else {}),
            **({"replayed": 1} if case.replayed else {}),
        },
    )


def build_cases(
    drafts: Sequence[CaseDraft],
    *,
    by: Recorder,
    now: datetime,
    is_list: bool = True,
) -> list[Recorded]:
    """Return the unsaved cases of drafts with their hints. Raises Invalid, which names the row of a list."""
    known = find_hinted({uid for draft in drafts for uid in draft.hints})
    built, errors = [], []
    for number, draft in enumerate(drafts):
        try:
            built.append(build_case(draft, known, by=by, now=now))
        except Invalid as refusal:
            if not is_list:
                raise
            found = refusal.errors or (FieldError("", refusal.detail),)
            errors += [FieldError(f"{number}.{each.field}".rstrip("."), each.message) for each in found]
    if errors:
        raise Invalid(_("Nothing was stored. Correct the cases that are named."), errors=tuple(errors[:MAX_ERRORS]))
    symbols = sorted({case.asset for case, _hinted in built})
    first = first_quotes([(symbol, EARLIEST) for symbol in symbols], owner_id=None)
    priced = {symbol for symbol, quote in zip(symbols, first, strict=True) if quote}
    for case, _hinted in built:
        case.had_price = case.asset in priced
    return built


def find_repeated(case: TradingCase, hinted: Sequence[Methodology]) -> TradingCase | None:
    """Return the case that an unsaved one repeats, with the same hints in any order. The owner is locked."""
    others = Count("hint_rows", filter=~Q(hint_rows__methodology__in=hinted))
    rows = list_repeated(CASE_KIND, case, ARGUMENTS).alias(hints=Count("hint_rows"), others=others)
    return rows.filter(hints=len(hinted), others=0).first()


def build_case(
    draft: CaseDraft,
    known: Mapping[str, Methodology],
    *,
    by: Recorder,
    now: datetime,
) -> Recorded:
    """Return the unsaved case of a draft, every field cleaned, and its hints. Raises Invalid."""
    symbol = read_symbol(draft.asset, field="asset")
    hinted = choose_hinted(draft.hints, known)
    hours = find_horizon(draft.horizon_hours, hinted)
    decided_at = clean_moment(draft.decided_at, now=now)
    is_late = now - decided_at > LATE
    shown = "\n".join([*sorted(row.uid for row in hinted), render_block(hinted)])
    case = TradingCase(
        owner_id=by.owner_id,
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
        trade_ref=clean_text(
            draft.trade_ref,
            field="trade_ref",
            max_chars=MAX_REF_CHARS,
            min_chars=0,
        ),
        hint_hash=hashlib.sha256(shown.encode()).hexdigest(),
        backdated=is_late and not by.is_operator,
        replayed=is_late and by.is_operator,
        is_instances=by.is_operator,
        actor=by.actor,
        origin=by.origin,
        created_at=now,
    )
    case.place_window()
    return case, hinted


def find_hinted(uids: Collection[str]) -> dict[str, Methodology]:
    """Return the methodologies of these ids that agents can see."""
    rows = (Methodology.objects.filter(uid__in=some, held_at__isnull=True) for some in slices(uids))
    return {row.uid: row for some in rows for row in some}


def choose_hinted(uids: Sequence[str], known: Mapping[str, Methodology]) -> list[Methodology]:
    """Return the hinted methodologies in the order of their ids. Raises Invalid for one that agents cannot see."""
    wanted = list(dict.fromkeys(uids))
    if len(wanted) > MAX_HINTS:
        raise invalid_field("hints", _("Name at most %(most)d methodologies.") % {"most": MAX_HINTS})
    unknown = [uid for uid in wanted if uid not in known]
    if unknown:
        problem = _("There is no methodology with the id %(ids)s.") % {"ids": ", ".join(unknown)[:200]}
        raise Invalid(
            problem,
            code="unknown_hint",
            errors=(FieldError("hints", problem),),
        )
    return [known[uid] for uid in wanted]


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


def list_warnings(case: TradingCase) -> list[str]:
    """Return why prices may not judge a case: its market was closed in the same hours of the last weeks. One query."""
    if case.replayed or group_of(case.asset) in ALWAYS_OPEN or timedelta(hours=case.horizon_hours) >= WEEK:
        return []
    window = case.window
    weeks = [(window.starts_at - number * WEEK, window.ends_at - number * WEEK) for number in range(WEEKS_BACK, 0, -1)]
    first = first_quotes([(case.asset, start) for start, _end in weeks], owner_id=None)
    is_known = first[0] is not None and first[0].at < window.starts_at
    is_open = any(quote and quote.at < end for (_start, end), quote in zip(weeks, first, strict=True))
    if not is_known or is_open:
        return []
    return [
        _("In the last four weeks there was no price of %(asset)s in these hours: the case may end inconclusive.")
        % {"asset": case.asset}
    ]
