"""The tool `search_user_trades`: what the user traded of one asset. Source: S3 (manual trading profile)."""

from typing import Annotated, Any

from pydantic import Field

from minara_site.access.principal import Principal
from minara_site.web.schemas import Strict
from profile_app.activity.selectors import search_fills


class TradesArgs(Strict):
    """Arguments of search_user_trades."""

    asset: Annotated[str, Field(min_length=1, max_length=40, description="BTC, PEPE, TSLA.")]
    limit: Annotated[int, Field(ge=1, le=200, description="How many, newest first.")] = 20


def search_user_trades(principal: Principal, args: TradesArgs, *, reasoning: str) -> dict[str, Any]:
    """Return the newest fills of an asset in the owner's accounts, whatever their age."""
    return {"items": search_fills(owner=principal.owner, asset=args.asset, limit=args.limit)}
