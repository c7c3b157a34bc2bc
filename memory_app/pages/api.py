"""`/v1/compiled/{asset}`. Shape: the contract."""

from typing import Annotated

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query
from pydantic import Field

from memory_app.pages.selectors import PageScope, load_page, open_asset
from minara_site.access.access_log import log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.shell.owners import open_owner
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import OwnerQuery

router = ApiRouter(tags=["compiled pages"])

MARKDOWN = "text/markdown; charset=utf-8"
ANSWER = {"description": "OK", "content": {"text/markdown": {"schema": {"type": "string"}}}}


class CompiledQuery(OwnerQuery):
    """What the page is to leave out."""

    hard_constraints: Annotated[bool, Field(description="0 leaves the user's hard constraints out.")] = True


@router.get(
    "/compiled/{path:asset}",
    "Read what is known about an asset",
    Act.COMPILED_READ,
    openapi_extra={"responses": {200: ANSWER}},
)
def compiled(
    request: PageRequest,
    asset: str,
    query: Query[CompiledQuery],
) -> HttpResponse:
    """Answer one page of markdown, the same bytes until something changes: BTC, BTC/USDT, EUR/USD, 比特币.

    An asset that has no class is 404.
    """
    principal, now = request.principal, timezone.now()
    owner = open_owner(principal.reads(Act.COMPILED_READ, query.owner))
    asked = PageScope(owner, open_asset(asset), query.hard_constraints)
    log_opened(
        principal,
        owner.pk,
        kind="compiled",
        object_id=asked.asset.symbol,
        now=now,
    )
    page = load_page(asked, reader=principal.owner, now=now)
    return HttpResponse(page.markdown, content_type=MARKDOWN)
