"""What operations of the API answer alike: a page of owned rows, and a change that waits for its owner."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from ninja import Status

from minara_site.access.access_log import log_listed
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import proposal_record
from minara_site.shell.pages import PageRequest
from minara_site.web.keyset import Order, Page, paginate
from minara_site.web.schemas import PageQuery


def answer_page(
    request: PageRequest,
    page: Page[Any],
    *,
    kind: str,
    records: Callable[[Sequence[Any]], Sequence[Any]] = lambda rows: rows,
    find_refused: Callable[[Sequence[Any]], Collection[int]] = lambda rows: (),
) -> dict[str, Any]:
    """Answer a page: whose rows were read is logged as `kind`, secrets of other owners are masked.

    Rows that today's rules of the guard refuse are left out; the job that holds them has not come to them yet.
    """
    log_listed(request.principal, page.items, kind=kind, now=timezone.now())
    reader, refused = request.principal.owner, find_refused(page.items)
    rows = [masked_for(reader, row) for row in page.items if row.pk not in refused]
    return {"data": {"items": records(rows), "next_cursor": page.next_cursor}}


def answer_list(
    request: PageRequest,
    rows: "QuerySet[Any]",
    order: Order,
    query: PageQuery,
    *,
    scope: str,
    **about: Any,
) -> dict[str, Any]:
    """Answer the page of a list that was asked for, `about` as `answer_page` takes it. Raises BadCursor."""
    page = paginate(rows, order, cursor=query.cursor, limit=query.limit, scope=scope)
    return answer_page(request, page, **about)


def was_proposed(proposal: ProposedChange) -> Status[dict[str, Any]]:
    """Answer that a change waits for its owner, with the number or name of its row."""
    row_id = int(proposal.key) if proposal.key.isdecimal() else proposal.key
    return Status(202, {"id": row_id, "proposed": proposal_record(proposal)})
