"""The review queue over every kind: the oldest of each kind merged, similar items together, who reviews what."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.core import signing
from django.db.models import Q
from django.http import QueryDict
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.principal import Principal
from minara_site.console.quarantine.claims import Claim, find_claims
from minara_site.console.quarantine.holds import HoldReview
from minara_site.kernel.counts import MAX_COUNTED, RowCount
from minara_site.shell.context import count_waiting
from minara_site.shell.nav import load_entries
from minara_site.shell.pages import PageRequest
from minara_site.shell.review import ReviewItem, ReviewKind, kinds_for, review_kinds
from minara_site.web.filters import Filter, FilterKind, Rows, Text, changed_query
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Empty, ListPage, ListSpec, Sort

ALL = "all"
OF_INSTANCE = "hold_of_instance"
SIGNER = signing.Signer(salt="keyset:review")
GOAL = timedelta(days=2)
MAX_TABLES = 3  # that a page reads texts from; each is a query or two


def list_tabs() -> list[tuple[str, Text]]:
    """Return the tabs of all kinds, each once."""
    return [
        (ALL, _("All")),
        *{kind.tab: kind.label for kind in review_kinds().values()}.items(),
    ]


TABS = Filter(
    "kind",
    gettext_lazy("Kind"),
    FilterKind.TABS,
    choices=list_tabs,
    default=ALL,
)
QUEUE = ListSpec(
    name="review",
    caption=gettext_lazy("Queue"),
    row="console/quarantine/_review_row.html",
    columns=(),
    sorts=(Sort("oldest", gettext_lazy("oldest first"), Order(descending=False)),),
    filters=(TABS,),
    bulk_url="quarantine:verdict",
    has_actions=False,
    empty=Empty(
        "held",
        gettext_lazy("All clear"),
        gettext_lazy("Nothing waits for a person."),
    ),
)


@dataclass(frozen=True)
class Row:
    """An item in the list. `similar` are those folded beneath it; one that `is_folded` stands there."""

    item: ReviewItem
    url: str
    claim: Claim | None
    is_late: bool
    similar: "Sequence[Row]" = ()
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
    """One page of the queue, its rows flat in `page.rows`, and what waits by tab. `opened` may stand elsewhere.

    `needs_reason` says that refusing some of its rows needs a reason.
    """

    page: ListPage
    counts: Mapping[str, RowCount]
    opened: Row | None = None
    needs_reason: bool = False

    @cached_property
    def heads(self) -> list[Row]:
        """The rows that stand in the list, without those folded beneath others."""
        return [row for row in self.page.rows if not row.is_folded]

    @property
    def lists_opened(self) -> bool:
        """Whether the opened item is on the page, so that it surely waits."""
        return self.opened is not None and any(row.id == self.opened.id for row in self.page.rows)

    @property
    def oldest(self) -> datetime | None:
        """Return since when the first item waits."""
        return self.page.rows[0].item.since if self.page.rows and not self.page.is_continued else None

    @property
    def first_open(self) -> Row | None:
        """Return where a reader begins: the first item that no other person reviews."""
        free = (row for row in self.heads if row.claim is None or row.claim.is_own)
        return next(free, None)

    def after(self, item_id: str) -> Row | None:
        """Return the item behind this one, else the first of the others, without those that another person reviews.

        Behind an item stand those that are similar to it.
        """
        heads = self.heads
        similar = [one for row in heads if row.id == item_id for one in row.similar]
        if free := [row for row in similar if row.claim is None or row.claim.is_own]:
            return free[0]
        at = next(
            (n for n, row in enumerate(heads, 1) if item_id in {row.id, *(one.id for one in row.similar)}),
            0,
        )
        others = [row for row in [*heads[at:], *heads[:at]] if row.id != item_id]
        return next(
            (row for row in others if row.claim is None or row.claim.is_own),
            None,
        )


Waiting = tuple[ReviewKind, Any]
"""A row that waits, with its kind."""


def kinds_of(tab: str, principal: Principal) -> list[ReviewKind]:
    """Return the kinds under a tab that this reader reviews."""
    return [kind for kind in kinds_for(principal).values() if tab in {ALL, kind.tab}]


def load_queue(
    request: PageRequest,
    *,
    now: datetime,
    opened: Waiting | None = None,
) -> Queue:
    """Return the page of the queue that the address asks for, and the opened item; without one the list is logged."""
    reading = QUEUE.read(request.GET)
    place, cursor = None, request.GET.get("cursor")
    if cursor:
        try:
            place = read_place(cursor)
        except (signing.BadSignature, ValueError, TypeError):
            notice = _("That place in the list is no longer valid; this is its beginning.")
            reading = replace(reading, notices=(*reading.notices, notice))
    tab, counts = reading.values["kind"], count_by_tab(request)
    kinds = [kind for kind in kinds_of(tab, request.principal) if counts[kind.tab].number]
    query = changed_query(QueryDict(), kind=None if tab == ALL else tab)
    found = list(iterate_oldest(kinds, place, request.principal, limit=QUEUE.page_size + 1))
    shown, offset = cut_page(found[: QUEUE.page_size]), place.offset if place else 0
    rows = show_rows(
        [*shown, *([opened] if opened else [])],
        request,
        query=query,
        now=now,
    )
    if opened is None:
        log_readings(shown, request, now=now)
    tabs = tuple(choice for choice in list_tabs() if counts[choice[0]].number or choice[0] in {ALL, tab})
    page = ListPage(
        spec=replace(
            QUEUE,
            filters=(replace(TABS, choices=tabs),),
            bulk=bulk_of(kind for kind, _row in shown),
        ),
        path=reverse("quarantine:list"),
        params=QueryDict(query.removeprefix("?")),
        reading=reading,
        rows=group_rows(rows[: len(shown)]),
        offset=offset,
        next_cursor=write_place(*shown[-1], offset + len(shown)) if len(found) > len(shown) else None,
        count=counts[tab],
        is_continued=place is not None,
        tab_counts={name: count.number for name, count in counts.items() if count.is_exact},
    )
    needs_reason = any(kind.refuse_needs_reason for kind, _row in shown)
    return Queue(page, counts, rows[-1] if opened else None, needs_reason)


def in_queue(principal: Principal, _now: datetime) -> Mapping[str, Rows]:
    """Return what the queue lists; the holds of owners apart, because the list of held texts has them too."""
    rows = {kind.name: kind.waiting_for(principal) for kind in kinds_for(principal).values()}
    holds = rows.get(HoldReview.name)
    if holds is None:
        return rows
    return rows | {HoldReview.name: holds.filter(owner__isnull=False), OF_INSTANCE: holds.filter(owner=None)}


def count_by_tab(request: PageRequest) -> dict[str, RowCount]:
    """Return how many items wait under each tab of the queue, out of the counts of the side bar. One query."""
    found = count_waiting(request, load_entries(request.principal), limit=MAX_COUNTED)
    counts = {name: count for names in found.values() for name, count in names.items()}
    if OF_INSTANCE in counts:
        counts[HoldReview.name] = RowCount.together([counts[HoldReview.name], counts[OF_INSTANCE]])
    return {
        tab: RowCount.together(counts[kind.name] for kind in kinds_of(tab, request.principal))
        for tab, _label in list_tabs()
    }


def iterate_oldest(
    kinds: Sequence[ReviewKind],
    place: Place | None,
    principal: Principal,
    *,
    limit: int,
) -> Iterator[Waiting]:
    """Yield the oldest rows of all kinds behind a place, each with its kind. One query a kind."""
    found = []
    for number, kind in enumerate(kinds):
        rows = kind.waiting_for(principal)
        rows = rows.filter(place.behind(kind)) if place else rows
        oldest = rows.order_by(*Order(kind.since, descending=False).columns)[:limit]
        found += [(getattr(row, kind.since), number, row.pk, row) for row in oldest]
    found.sort(key=lambda each: each[:3])
    for _since, number, _pk, row in found[:limit]:
        yield kinds[number], row


def cut_page(found: Sequence[Waiting]) -> Sequence[Waiting]:
    """Return the rows before the one whose text would be read from one table too many; the next page begins with it."""
    tables = set()
    for number, (kind, row) in enumerate(found):
        tables |= {kind.text_table(row)} - {""}
        if len(tables) > MAX_TABLES:
            return found[:number]
    return found


def show_rows(
    found: Sequence[Waiting],
    request: PageRequest,
    *,
    query: str,
    now: datetime,
) -> list[Row]:
    """Return rows as the list shows them, in their order."""
    shown = {
        kind.name: iter(
            kind.show_rows(
                [row for each, row in found if each is kind],
                principal=request.principal,
            )
        )
        for kind in {kind.name: kind for kind, _row in found}.values()
    }
    items = [next(shown[kind.name]) for kind, _row in found]
    claims = find_claims(
        [item.id for item in items],
        principal=request.principal,
        now=now,
    )
    return [
        Row(
            item,
            url=reverse("quarantine:one", args=[item.kind, item.key]) + query,
            claim=claims.get(item.id),
            is_late=now - item.since > GOAL,
        )
        for item in items
    ]


def group_rows(rows: Iterable[Row]) -> list[Row]:
    """Return rows with similar ones behind the oldest of them, which has them too."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(
            (row.item.kind, row.item.group) if row.item.group else row.id,
            [],
        ).append(row)
    grouped = []
    for head, *others in groups.values():
        similar = [replace(row, is_folded=True) for row in others]
        grouped += [replace(head, similar=similar), *similar]
    return grouped


def log_readings(
    found: Sequence[Waiting],
    request: PageRequest,
    *,
    now: datetime,
) -> None:
    """Note that rows were read in the list."""
    for kind in {kind.name: kind for kind, _row in found}.values():
        own = [row for each, row in found if each is kind]
        kind.log_reading(own, is_open=False, principal=request.principal, now=now)


def bulk_of(kinds: Iterable[ReviewKind]) -> tuple[BulkAction, ...]:
    """Return the verdicts on several items at once, in the words of these kinds where all have the same."""
    kinds = list(kinds)
    accept, refuse = {str(kind.accept) for kind in kinds}, {str(kind.refuse) for kind in kinds}
    refusal = "" if any(kind.accepts_together for kind in kinds) else _("These are accepted one by one.")
    return (
        BulkAction(
            "refuse",
            refuse.pop() if len(refuse) == 1 else _("Refuse"),
            icon="trash",
            key="r",
        ),
        BulkAction(
            "accept",
            accept.pop() if len(accept) == 1 else _("Accept"),
            icon="check",
            key="a",
            refusal=refusal,
        ),
    )


def write_place(kind: ReviewKind, row: Any, offset: int) -> str:
    """Return the cursor behind a row."""
    return SIGNER.sign_object(
        [
            getattr(row, kind.since).isoformat(),
            kind.name,
            row.pk,
            offset,
        ]
    )


def read_place(cursor: str) -> Place:
    """Return the place of a cursor. Raises BadSignature, ValueError or TypeError."""
    written, kind, pk, offset = SIGNER.unsign_object(cursor)
    since = parse_datetime(written)
    if since is None or kind not in review_kinds():
        raise ValueError(kind)
    return Place(since, kind, int(pk), int(offset))
