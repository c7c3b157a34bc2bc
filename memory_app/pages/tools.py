"""The tool `memory_compiled_page`: everything that is known about an asset in one call. Source: S1 (compiled pages)."""

from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field

from memory_app.pages.selectors import PageScope, load_page, open_asset
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.shell.owners import open_owner
from minara_site.web.schemas import Strict


class MemoryCompiledPageArgs(Strict):
    """Arguments of memory_compiled_page."""

    asset: Annotated[str, Field(max_length=100, description="A symbol, pair or name: BTC, BTC/USDT, EUR/USD, 比特币.")]
    include_hard_constraints: Annotated[
        bool, Field(description="Whether the user's hard constraints about the asset are on the page.")
    ] = True


def memory_compiled_page(
    principal: Principal,
    args: MemoryCompiledPageArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Return the page of an asset as markdown."""
    asked = PageScope(
        open_owner(principal.reads(Act.COMPILED_READ)),
        open_asset(args.asset),
        args.include_hard_constraints,
    )
    page = load_page(asked, reader=principal.owner, now=timezone.now())
    return {
        "asset": page.asset.symbol,
        "asset_class": page.asset.asset_class,
        "page": page.markdown,
    }
