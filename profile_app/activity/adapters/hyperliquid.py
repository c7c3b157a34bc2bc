"""Hyperliquid's public interface: `POST /info`, by address and without a key. Source: trades.md.

All processes share one allowance of weight a minute; what is over it waits, as the exchange itself would say.
Every call raises SourceRests or SourceFailed.
"""

from typing import Any, TypeVar

from django.conf import settings
from django.utils import timezone

from minara_site.kernel.limits.services import Allowance, count
from profile_app.activity.adapters import Page, SourceFailed, SourceRests, fetch_json

PAGE_ROWS, FUNDING_ROWS = 2_000, 500
PAGE_WEIGHT, ROWS_A_WEIGHT, LIGHT_WEIGHT = 20, 20, 2
ALLOWANCE = "source:hyperliquid"

Answer = TypeVar("Answer", list[Any], dict[str, Any])


def fetch_fills(wallet: str, *, since_ms: int) -> Page:
    """Return up to 2 000 fills from a time on, oldest first, those of that millisecond among them."""
    asked = {"type": "userFillsByTime", "user": wallet, "startTime": since_ms, "aggregateByTime": False}
    return fetch_page(asked, PAGE_ROWS)


def fetch_funding(wallet: str, *, since_ms: int) -> Page:
    """Return up to 500 payments of funding, oldest first."""
    return fetch_page({"type": "userFunding", "user": wallet, "startTime": since_ms}, FUNDING_ROWS)


def fetch_newest(wallet: str) -> list[Any]:
    """Return the newest fills of a wallet, up to 2 000, the newest first."""
    return fetch_page({"type": "userFills", "user": wallet}, PAGE_ROWS).rows


def fetch_state(kind: str, wallet: str, *, dex: str = "") -> dict[str, Any]:
    """Return the state of an account: `clearinghouseState` or `spotClearinghouseState`."""
    return ask({"type": kind, "user": wallet} | ({"dex": dex} if dex else {}), LIGHT_WEIGHT, dict)


def fetch_mids() -> dict[str, Any]:
    """Return the middle price of each market."""
    return ask({"type": "allMids"}, LIGHT_WEIGHT, dict)


def fetch_spot_names() -> dict[str, str]:
    """Return the names of spot markets by their numbers, such as `@107`."""
    meta = ask({"type": "spotMeta"}, PAGE_WEIGHT, dict)
    try:
        tokens = {each["index"]: str(each["name"]) for each in meta["tokens"]}
        return {
            f"@{each['index']}": f"{tokens[each['tokens'][0]]}/{tokens[each['tokens'][1]]}" for each in meta["universe"]
        }
    except (KeyError, TypeError, IndexError):
        raise SourceFailed("no_spot_meta") from None


def fetch_page(asked: dict[str, Any], page_rows: int) -> Page:
    """Return a page of rows; what many rows weigh is counted after them."""
    rows = ask(asked, PAGE_WEIGHT, list)
    if len(rows) >= ROWS_A_WEIGHT:
        spend(len(rows) // ROWS_A_WEIGHT)
    return Page(rows, is_last=len(rows) < page_rows)


def ask(asked: dict[str, Any], weight: int, kind: type[Answer]) -> Answer:
    """Return an answer that is a list or an object."""
    allowance = spend(weight)
    if not allowance.is_allowed:
        raise SourceRests(allowance.retry_after_seconds)
    answer = fetch_json("POST", settings.MINARA.hyperliquid_info_url, json=asked)
    if not isinstance(answer, kind):
        raise SourceFailed(f"no_{kind.__name__}")
    return answer


def spend(weight: int) -> Allowance:
    """Take weight from the allowance of all processes."""
    limit = settings.MINARA.hyperliquid_weight_per_minute
    return count(ALLOWANCE, limit=limit, seconds=60, tries=weight, now=timezone.now())
