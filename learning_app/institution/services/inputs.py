"""What is collected for the roles of a run, once: prices, news, on-chain figures, methods, the last decision.

Nothing is collected inside a transaction. What is missing is named; a text that the guard refuses stays out.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from learning_app.institution.core.prompts import Brief, SaidBefore
from learning_app.institution.models import InstitutionRoleOutput, InstitutionRun
from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.selectors import list_injected
from learning_app.vocabulary import MissingInput
from minara_site.access.models import User
from minara_site.kernel.core.assets import AssetClass, classify, group_of
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.market.core import Quote
from minara_site.kernel.market.core.evidence import EvidenceItem, bounded, evidence_line, moment
from minara_site.kernel.market.events import EventKind, SourceFailed
from minara_site.kernel.market.evidence import NOTE, read_events
from minara_site.kernel.market.outcome import change_pct, largest_gap
from minara_site.kernel.market.selectors import find_newest, find_prices, list_quotes

BACK_DAYS = (1, 7, 30, 90, 365)
OLD = timedelta(hours=36)  # so that a daily candle is not old before the next one came
COURSE, MAX_COURSE = timedelta(days=90), 60
NEWS_DAYS = timedelta(days=7)
MAX_METHODS = 8
METHOD_FIELDS = ("name", "methodology", "direction", "timeframe", "confidence", "times_used", "times_correct")
M = MissingInput
MISSING = {
    EventKind.NEWS: (M.NEWS_UNSET, M.NEWS_FAILED, M.NEWS_NONE, M.NEWS_WITHHELD),
    EventKind.ONCHAIN: (M.ONCHAIN_UNSET, M.ONCHAIN_FAILED, M.ONCHAIN_NONE, M.ONCHAIN_WITHHELD),
}


def collect_inputs(run: InstitutionRun, *, at: datetime) -> dict[str, Any]:
    """Return what the roles of a run read, as the row keeps it. Asks the sources of news and on-chain figures."""
    missing: list[MissingInput] = []
    prices, last = describe_prices(run.ticker, missing, at=at)
    found = {kind: collect_events(kind, run.ticker, missing, at=at) for kind in EventKind}
    asset_class = classify(run.ticker) or classify(run.ticker.partition("/")[0])
    methods = list_methods(run.owner, asset_class, as_of=run.as_of) if asset_class else []
    missing += [] if methods else [M.METHODS_NONE]
    return {
        "at": at.isoformat(),
        "prices": prices,
        "price_at": last.at.isoformat() if last else None,
        "news": found[EventKind.NEWS],
        "onchain": found[EventKind.ONCHAIN],
        "methods": [row.uid for row in methods],
        "missing": missing,
    }


def list_methods(owner: User, asset_class: AssetClass, *, as_of: datetime | None = None) -> list[Methodology]:
    """Return the surest methods for a class that prompts may carry; not the demo's, which no price verified.

    Of a replay those that they might carry `as_of` its moment.
    """
    made_up = Methodology.objects.filter(is_demo=True).count()
    found = list_injected([asset_class], owner=owner, limit=MAX_METHODS + made_up, as_of=as_of)
    return [row for row in found if not row.is_demo][:MAX_METHODS]


def describe_prices(
    ticker: str,
    missing: list[MissingInput],
    *,
    at: datetime,
) -> tuple[list[str], Quote | None]:
    """Return lines about the instance's prices of a ticker up to a moment, and the last one."""
    last = find_newest(ticker, None, at)
    tolerance = largest_gap(timedelta(days=1), group_of(ticker))
    if last is None or at - last.at > max(tolerance, OLD):
        missing.append(M.PRICE_OLD)
    if last is None:
        return [], None
    moments = [last.at - timedelta(days=days) for days in BACK_DAYS]
    earlier = find_prices(ticker, moments=moments, owner_id=None, tolerance=tolerance)
    lines = [f"last: {price_text(last)} at {moment(last.at)}"]
    for days, quote in zip(BACK_DAYS, earlier, strict=True):
        if quote is not None:
            change = float(change_pct(quote.price, last.price))
            lines.append(f"change over {days} days: {change:+.2f} % from {price_text(quote)}")
    missing += [M.PRICES_SHORT] if len(lines) <= len(BACK_DAYS) else []
    course = list_quotes(
        ticker,
        since=at - COURSE,
        until=at,
        owner_id=None,
        most=MAX_COURSE,
    )
    return [*lines, *(f"{moment(quote.at)}: {price_text(quote)}" for quote in course)], last


def price_text(quote: Quote) -> str:
    """Return a price in digits, without the zeros at its end."""
    return f"{quote.price.normalize():f}"


def collect_events(
    kind: EventKind,
    ticker: str,
    missing: list[MissingInput],
    *,
    at: datetime,
) -> list[dict[str, Any]]:
    """Return the events of the last week around a ticker, as the row keeps them."""
    unset, failed, none, withheld = MISSING[kind]
    try:
        found = [bounded(item) for item in read_events(kind, ticker, since=at - NEWS_DAYS, until=at)]
    except SourceFailed:
        missing.append(failed)
        return []
    if not found or found[0].kind == NOTE:
        missing.append(unset if found else none)
        return []
    accepted = [item for item in found if not guard.judge(evidence_line(item)).is_held]
    missing += [withheld] if len(accepted) < len(found) else []
    return [item.as_json() for item in accepted]


def brief_of(run: InstitutionRun, said: Sequence[InstitutionRoleOutput]) -> Brief:
    """Return what a role may read now; a method that the guard refuses meanwhile is left out."""
    inputs: Mapping[str, Any] = run.inputs or {}
    rows = {row.uid: row for row in Methodology.objects.graduated().filter(uid__in=inputs["methods"])}
    refused = find_refused(METHODOLOGY_KIND, list(rows.values()))
    methods = [rows[uid] for uid in inputs["methods"] if uid in rows and rows[uid].pk not in refused]
    return Brief(
        ticker=run.ticker,
        moment=moment(datetime.fromisoformat(inputs["at"])),
        prices=inputs["prices"],
        news=[EvidenceItem.from_json(item) for item in inputs["news"]],
        onchain=[EvidenceItem.from_json(item) for item in inputs["onchain"]],
        methods=[
            {
                "id": row.uid,
                **{name: getattr(row, name) for name in METHOD_FIELDS},
            }
            for row in methods
        ],
        retrospect=inputs.get("retrospect"),
        missing=[MissingInput(each) for each in inputs["missing"]],
        said=[SaidBefore(each.role, each.kind, each.phase, each.fields) for each in said],
    )
