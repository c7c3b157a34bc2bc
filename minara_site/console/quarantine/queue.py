"""The review queue over every kind: the oldest of each kind merged, similar items together, who reviews what."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.core import signing
from django.db.models import Q
from django.http import QueryDict
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from minara_site.console.quarantine.claims import Claim, find_claims
from minara_site.kernel.counts import MAX_COUNTED, RowCount, count_each
from minara_site.shell.pages import PageRequest
from minara_site.shell.review import ReviewItem, ReviewKind, review_kinds
from minara_site.web.filters import Filter, FilterKind, Text, changed_query
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Empty, ListPage, ListSpec, Sort

ALL = "all"
SIGNER = signing.Signer(salt="keyset:review")
GOAL = timedelta(days=2)


def list_tabs() -> list[tuple[str, Text]]:
    """Return the tabs of all kinds, each once."""
    return [(ALL, _("All")), *{kind.tab: kind.label for kind in review_kinds().values()}.items()]


TABS = Filter("kind", gettext_lazy("Kind"), FilterKind.TABS, choices=list_tabs, default=ALL)
QUEUE = ListSpec(
    name="review",
    caption=gettext_lazy("Queue"),
    row="console/quarantine/_review_row.html",
    columns=(),
    sorts=(Sort("oldest", gettext_lazy("oldest first"), Order(descending=False)),),
    filters=(TABS,),
    bulk_url="quarantine:verdict",
    has_actions=False,
    empty=Empty("held", gettext_lazy("All clear"), gettext_lazy("Nothing waits for a person.")),
)


@dataclass(frozen=True)
class Row:
    """An item in the list. `similar` are those folded beneath it; one that `is_folded` stands there."""

    item: ReviewItem
    url: str
    claim: Claim | None
    is_late: bool
    similar: "list[Row]" = field(default_factory=list)
    is_folded: bool = False

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def size(self) -> int:
        """Return how many items are alike, itself among them."""
        return len(self.similar) + 1


@dataclass(frozen=True)
class Place:
    """Where a page of the merged list ends: everything behind it is younger, or as old and of a later kind or row."""

    since: datetime
    kind: str
    pk: int
    offset: int

    def behind(self, kind: ReviewKind) -> Q:
        """Return the rows of a kind that follow."""
        order, names = Order(kind.since, descending=False), list(review_kinds())
        if kind.name == self.kind:
            return order.after(self.since, self.pk)
        side = "gte" if names.index(kind.name) > names.index(self.kind) else "gt"
        return Q(**{f"{kind.since}__{side}": self.since})


@dataclass(frozen=True)
class Queue:
    """One page of the queue, its rows flat in `page.rows`; `oldest` is since when its first item waits."""

    page: ListPage

    @cached_property
    def heads(self) -> list[Row]:
        """The rows that stand in the list, without those folded beneath others."""
        return [row for row in self.page.rows if not row.is_folded]

    @property
    def oldest(self) -> datetime | None:
        return self.page.rows[0].item.since if self.page.rows and not self.page.is_continued else None

    @property
    def first_open(self) -> Row | None:
        """Return where a reader begins: the first item that no other person reviews."""
        free = (row for row in self.heads if row.claim is None or row.claim.is_own)
        return next(free, None)

    def after(self, item_id: str | None) -> Row | None:
        """Return the item behind this one, else the first of the others, without those that another person reviews."""
        heads = self.heads
        at = next((n for n, row in enumerate(heads, 1) if item_id in {row.id, *(one.id for one in row.similar)}), 0)
        others = [row for row in [*heads[at:], *heads[:at]] if row.id != item_id]
        return next((row for row in others if row.claim is None or row.claim.is_own), None)


def load_queue(request: PageRequest, *, now: datetime, is_read: bool = True) -> Queue:
    """Return the page of the queue that the address asks for; what is read of it is noted when `is_read`."""
    reading = QUEUE.read(request.GET)
    place, cursor = None, request.GET.get("cursor")
    if cursor:
        try:
            place = read_place(cursor)
        except (signing.BadSignature, ValueError, TypeError):
            notice = _("That place in the list is no longer valid; this is its beginning.")
            reading = replace(reading, notices=(*reading.notices, notice))
    tab, counts = reading.values["kind"], count_waiting()
    kinds = [kind for kind in review_kinds().values() if tab in {ALL, kind.tab}]
    found = list(iterate_oldest(kinds, place, limit=QUEUE.page_size + 1))
    shown, offset = found[: QUEUE.page_size], place.offset if place else 0
    tabs = tuple(choice for choice in list_tabs() if counts[choice[0]].number or choice[0] in {ALL, tab})
    query = changed_query(QueryDict(), kind=None if tab == ALL else tab)
    page = ListPage(
        spec=replace(QUEUE, filters=(replace(TABS, choices=tabs),), bulk=bulk_of(kind for kind, _row in shown)),
        path=reverse("quarantine:list"),
        params=QueryDict(query.removeprefix("?")),
        reading=reading,
        rows=show_rows(shown, request, query=query, is_read=is_read, now=now),
        offset=offset,
        next_cursor=write_place(*shown[-1], offset + len(shown)) if len(found) > len(shown) else None,
        count=counts[tab],
        is_continued=place is not None,
        tab_counts={name: count.number for name, count in counts.items() if count.is_exact},
    )
    return Queue(page)


def count_waiting() -> dict[str, RowCount]:
    """Return how many items wait under each tab. One query."""
    kinds = list(review_kinds().values())
    counts = count_each(*(kind.waiting() for kind in kinds), limit=MAX_COUNTED)
    each = dict(zip(kinds, counts, strict=True))
    return {
        tab: RowCount.together(count for kind, count in each.items() if tab in {ALL, kind.tab})
        for tab, _label in list_tabs()
    }


def iterate_oldest(kinds: Sequence[ReviewKind], place: Place | None, *, limit: int) -> Iterator[tuple[ReviewKind, Any]]:
    """Yield the oldest rows of all kinds behind a place, each with its kind. One query a kind."""
    found = []
    for number, kind in enumerate(kinds):
        rows = kind.waiting().filter(place.behind(kind)) if place else kind.waiting()
        oldest = rows.order_by(*Order(kind.since, descending=False).columns)[:limit]
        found += [(getattr(row, kind.since), number, row.pk, row) for row in oldest]
    found.sort(key=lambda each: each[:3])
    for _since, number, _pk, row in found[:limit]:
        yield kinds[number], row


def show_rows(
    found: Sequence[tuple[ReviewKind, Any]], request: PageRequest, *, query: str, is_read: bool, now: datetime
) -> list[Row]:
    """Return rows as the list shows them; similar ones follow the oldest of them, which has them too."""
    principal, shown = request.principal, {}
    for kind in {kind.name: kind for kind, _row in found}.values():
        own = [row for each, row in found if each is kind]
        shown[kind.name] = iter(kind.show_rows(own, principal=principal))
        if is_read:
            kind.log_reading(own, is_open=False, principal=principal, now=now)
    items = [next(shown[kind.name]) for kind, _row in found]
    claims = find_claims([item.id for item in items], principal=principal, now=now)
    heads: dict[Any, Row] = {}
    for item in items:
        group = (item.kind, item.group) if item.group else item.id
        url = reverse("quarantine:one", args=[item.kind, item.key]) + query
        row = Row(item, url, claims.get(item.id), now - item.since > GOAL, is_folded=group in heads)
        heads.setdefault(group, row)
        if row.is_folded:
            heads[group].similar.append(row)
    return [each for head in heads.values() for each in (head, *head.similar)]


def bulk_of(kinds: Iterable[ReviewKind]) -> tuple[BulkAction, ...]:
    """Return the verdicts on several items at once, in the words of these kinds where all have the same."""
    kinds = list(kinds)
    accept, refuse = {str(kind.accept) for kind in kinds}, {str(kind.refuse) for kind in kinds}
    return (
        BulkAction("refuse", refuse.pop() if len(refuse) == 1 else _("Refuse"), icon="trash", key="r"),
        BulkAction("accept", accept.pop() if len(accept) == 1 else _("Accept"), icon="check", key="a"),
    )


def write_place(kind: ReviewKind, row: Any, offset: int) -> str:
    """Return the cursor behind a row."""
    return SIGNER.sign_object([getattr(row, kind.since).isoformat(), kind.name, row.pk, offset])


def read_place(cursor: str) -> Place:
    """Return the place of a cursor. Raises BadSignature, ValueError or TypeError."""
    written, kind, pk, offset = SIGNER.unsign_object(cursor)
    since = parse_datetime(written)
    if since is None or kind not in review_kinds():
        raise ValueError(kind)
    return Place(since, kind, int(pk), int(offset))
