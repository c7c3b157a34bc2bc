"""The Minara gateway: fills of its sub-wallets, and swaps and transfers across chains. Source: trades.md.

Its two answers are not published: rows are the list itself, `data`, or `items` in either, and another page is there
where `next_cursor` stands beside them.
"""

from django.conf import settings

from profile_app.activity.adapters import Page, SourceFailed, fetch_json
from profile_app.activity.core.accounts import SyncSource

PAGE_ROWS = 500
PATHS: dict[str, str] = {
    SyncSource.PERPS_FILLS: "/v1/perp-wallets/fills",
    SyncSource.SPOT_ACTIVITIES: "/v1/tx/cross-chain/activities",
}


def fetch_page(source: str, *, since_ms: int, cursor: str) -> Page:
    """Return fills of all sub-wallets, of which each row names its own, or swaps and transfers.

    Raises SourceRests or SourceFailed.
    """
    answer = fetch_json(
        "GET",
        settings.MINARA.minara_base_url.rstrip("/") + PATHS[source],
        params={"since": str(since_ms), "limit": str(PAGE_ROWS)} | ({"cursor": cursor} if cursor else {}),
        headers={"Authorization": f"Bearer {settings.MINARA.minara_api_key}", "Accept": "application/json"},
    )
    follows = ""
    for name in ("data", "items"):
        if isinstance(answer, dict):
            follows = str(answer.get("next_cursor") or follows)
            answer = answer.get(name, answer)
    if not isinstance(answer, list):
        raise SourceFailed("no_list")
    return Page(answer, is_last=not follows, cursor=follows[:2_000])
