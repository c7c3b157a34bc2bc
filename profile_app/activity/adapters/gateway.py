"""The Minara gateway: fills of its sub-wallets, and swaps and transfers across chains. Source: trades.md.

Its two answers are not published: rows are the list itself, `data`, or `items` in either, and another page is there
where `next_cursor` stands beside them.
"""

from dataclasses import dataclass
from typing import Any

from profile_app.activity.adapters import Page, fetch_json, list_of

PAGE_ROWS = 500


@dataclass(frozen=True, slots=True)
class Gateway:
    """Asks the gateway with its key."""

    base_url: str
    key: str

    def fetch_fills(self, wallet: str = "", *, since_ms: int, cursor: str = "") -> Page:
        """Return fills of all sub-wallets; each row names its own."""
        return self.page_of("/v1/perp-wallets/fills", since_ms, cursor)

    def fetch_activities(self, *, since_ms: int, cursor: str = "") -> Page:
        """Return swaps and transfers."""
        return self.page_of("/v1/tx/cross-chain/activities", since_ms, cursor)

    def page_of(self, path: str, since_ms: int, cursor: str) -> Page:
        """Return a page of rows. Raises SourceRests or SourceFailed."""
        params = {"since": str(since_ms), "limit": str(PAGE_ROWS)} | ({"cursor": cursor} if cursor else {})
        headers = {"Authorization": f"Bearer {self.key}", "Accept": "application/json"}
        answer = fetch_json("GET", self.base_url.rstrip("/") + path, params=params, headers=headers)
        rows, follows = unpack(answer)
        return Page(list_of(rows), is_last=not follows, cursor=follows)


def unpack(answer: Any) -> tuple[Any, str]:
    """Return the rows of an answer and what asks for the next page, empty for none."""
    follows = ""
    for name in ("data", "items"):
        if isinstance(answer, dict):
            follows = str(answer.get("next_cursor") or follows)
            answer = answer.get(name, answer)
    return answer, follows[:2_000]
