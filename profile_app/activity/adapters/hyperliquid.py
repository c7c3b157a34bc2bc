"""Hyperliquid's public interface: `POST /info`, by address and without a key. Source: trades.md.

All processes share one allowance of weight a minute; what is over it waits, as the exchange itself would say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone

from minara_site.kernel.limits.services import count
from profile_app.activity.adapters import Page, SourceFailed, SourceRests, fetch_json, list_of

PAGE_ROWS, FUNDING_ROWS = 2_000, 500
PAGE_WEIGHT, ROWS_A_WEIGHT, LIGHT_WEIGHT = 20, 20, 2
ALLOWANCE = "source:hyperliquid"


@dataclass(frozen=True, slots=True)
class Hyperliquid:
    """Asks the exchange."""

    url: str

    def fetch_fills(self, wallet: str, *, since_ms: int, cursor: str = "") -> Page:
        """Return up to 2 000 fills, oldest first."""
        asked = {"type": "userFillsByTime", "user": wallet, "startTime": since_ms, "aggregateByTime": False}
        return self.page_of(asked, PAGE_ROWS)

    def fetch_funding(self, wallet: str, *, since_ms: int) -> Page:
        """Return up to 500 payments of funding, oldest first."""
        return self.page_of({"type": "userFunding", "user": wallet, "startTime": since_ms}, FUNDING_ROWS)

    def fetch_newest(self, wallet: str) -> Sequence[Any]:
        """Return the newest fills of a wallet, up to 2 000, the newest first."""
        return self.page_of({"type": "userFills", "user": wallet}, PAGE_ROWS).rows

    def fetch_state(self, kind: str, wallet: str, *, dex: str = "") -> dict[str, Any]:
        """Return the state of an account: `clearinghouseState` or `spotClearinghouseState`. Raises as pages do."""
        spend(LIGHT_WEIGHT)
        state = fetch_json("POST", self.url, json={"type": kind, "user": wallet} | ({"dex": dex} if dex else {}))
        if not isinstance(state, dict):
            raise SourceFailed("no_state")
        return state

    def fetch_mids(self) -> dict[str, Any]:
        """Return the middle price of each market."""
        spend(LIGHT_WEIGHT)
        mids = fetch_json("POST", self.url, json={"type": "allMids"})
        if not isinstance(mids, dict):
            raise SourceFailed("no_mids")
        return mids

    def fetch_spot_names(self) -> Mapping[str, str]:
        """Return the names of spot markets by their numbers, such as `@107`."""
        spend(PAGE_WEIGHT)
        meta = fetch_json("POST", self.url, json={"type": "spotMeta"})
        try:
            tokens = {each["index"]: str(each["name"]) for each in meta["tokens"]}
            return {
                f"@{each['index']}": f"{tokens[each['tokens'][0]]}/{tokens[each['tokens'][1]]}"
                for each in meta["universe"]
            }
        except (KeyError, TypeError, IndexError):
            raise SourceFailed("no_spot_meta") from None

    def page_of(self, asked: dict[str, Any], page_rows: int) -> Page:
        """Return a page of rows; what many rows weigh is counted after them."""
        spend(PAGE_WEIGHT)
        rows = list_of(fetch_json("POST", self.url, json=asked))
        spend(len(rows) // ROWS_A_WEIGHT, is_due=False)
        return Page(rows, is_last=len(rows) < page_rows)


def spend(weight: int, *, is_due: bool = True) -> None:
    """Take weight from the allowance. Raises SourceRests when it is used up, unless it was spent already."""
    limit = settings.MINARA.hyperliquid_weight_per_minute
    if weight:
        allowance = count(ALLOWANCE, limit=limit, seconds=60, tries=weight, now=timezone.now())
        if is_due and not allowance.is_allowed:
            raise SourceRests(allowance.retry_after_seconds)
