"""The search page: a box, its syntax, and hits that say why they were found."""

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.index.core.request import Fusion, Sort
from memory_app.index.pages import note_text
from memory_app.memories.conflicts import ConflictMark, find_marks
from memory_app.memories.core.destinations import Destination
from memory_app.memories.unconfirmed import find_unconfirmed_memories
from memory_app.search.answers import MAX_TYPED_CHARS, parts_of
from memory_app.search.core.rank import Part
from memory_app.search.core.surfaces import Surface
from memory_app.search.log import log_search
from memory_app.search.past import read_moment
from memory_app.search.selectors import Hit, SearchResult, search_memories
from minara_site.access.access_log import log_listed
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.excerpt import Segment, excerpt
from minara_site.kernel.core.vocabulary import provenance_label
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.ownership import Owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page

SHOWN = 30
MAX_SHOWN = 200
OTHER_FUSIONS: dict[Fusion, str | Promise] = {
    Fusion.RRF: gettext_lazy("Reciprocal ranks (RRF)"),
    Fusion.TEXT: gettext_lazy("By words"),
    Fusion.MEANING: gettext_lazy("By meaning"),
}

SYNTAX = (
    ("slippage impact", gettext_lazy("any of the words, best match first")),
    ("slippage AND base", gettext_lazy("both words")),
    ("btc NOT eth", gettext_lazy("the first and not the second")),
    ('"trailing stop"', gettext_lazy("the exact phrase")),
    ("slip*", gettext_lazy("words that begin so")),
    ("category:lesson btc", gettext_lazy("only this category; source: works the same")),
    ("asset:BTC", gettext_lazy("only what is linked to this asset; words find an asset by any of its names")),
    ("止损", gettext_lazy("Chinese, anywhere in the text")),
    ("after:2026-05 before:2026-06", gettext_lazy("changed in this time")),
)


@dataclass(frozen=True)
class FoundRow:
    """One hit as the page shows it; `owner_name` is empty for the reader's own."""

    hit: Hit
    excerpt: tuple[Segment, ...]
    owner_name: str
    unconfirmed: tuple[Destination, ...] = ()
    mark: ConflictMark | None = None

    @property
    def badge(self) -> str:
        """Where it comes from, in one word."""
        return provenance_label(source=self.hit.source, origin=self.hit.origin)

    @property
    def is_own(self) -> bool:
        """Whether it is the reader's."""
        return not self.owner_name

    @property
    def parts(self) -> list[tuple[str | Promise, Part]]:
        """The features that count, the weightiest first."""
        return parts_of(self.hit)


@page(Act.SEARCH)
def search(request: PageRequest) -> HttpResponse:
    """Show the box and, once something was asked for, what was found."""
    query = request.GET.get("q", "").strip()
    sort = Sort.RECENT if request.GET.get("sort") == Sort.RECENT else Sort.RELEVANCE
    wanted, as_of = request.GET.get("fusion", ""), request.GET.get("as_of", "").strip()
    fusion = Fusion(wanted) if wanted in set(Fusion) else Fusion.DEFAULT
    limit = MAX_SHOWN if request.GET.get("all") else SHOWN
    owner = request.principal.reads(Act.SEARCH, request.GET.get("owner"))
    context: dict[str, object] = {
        "title": _("Search"),
        "query": query,
        "sort": sort.value,
        "as_of": as_of,
        "fusion": fusion.value,
        "other_fusion": OTHER_FUSIONS.get(fusion),
        "syntax": SYNTAX,
        "most_chars": MAX_TYPED_CHARS,
        "owner_name": request.GET.get("owner", ""),
    }
    status = HTTPStatus.OK
    if query:
        try:
            result = search_memories(
                owner=owner,
                query=query,
                limit=limit + 1,
                sort=sort,
                fusion=fusion,
                as_of=read_moment(as_of) if as_of else None,
                explain=True,
            )
        except MinaraError as error:
            status, context["problem"] = error.status, error.detail
        else:
            context |= found_context(
                result,
                owner=owner,
                limit=limit,
                reader=request.user,
            )
            now, shown = timezone.now(), result.hits[:limit]
            ids = [hit.id for hit in shown]
            log_listed(request.principal, shown, kind="memories", now=now)
            log_search(
                principal=request.principal,
                owner=owner,
                query=query,
                ids=ids,
                now=now,
                door=Surface.PAGE,
            )
    return render_page(
        request,
        "memory_app/search/page.html",
        context,
        fragment="memory_app/search/_found.html",
        status=status,
    )


def found_context(
    result: SearchResult,
    *,
    owner: Owner,
    limit: int,
    reader: User,
) -> dict[str, object]:
    """Return the rows of the page, the notes, and whether more was found than is shown."""
    hits = [hit.for_reader(reader) for hit in result.hits[:limit]]
    foreign = {hit.owner_id for hit in hits} - {reader.pk}
    names = {user.pk: user.get_short_name() for user in User.objects.filter(pk__in=foreign)} if foreign else {}
    doubts = find_unconfirmed_memories({hit.id: hit.content for hit in hits}, owner=owner)
    marks = find_marks([hit.id for hit in hits])
    return {
        "rows": [
            FoundRow(
                hit,
                excerpt(hit.highlights),
                names.get(hit.owner_id, ""),
                doubts.get(hit.id, ()),
                marks.get(hit.id),
            )
            for hit in hits
        ],
        "notes": [note_text(note) for note in result.notes],
        "is_cut": len(result.hits) > limit,
        "may_widen": limit < MAX_SHOWN,
    }
