"""The search lab: one query, three columns: by words, by meaning, fused. Source: screens 5."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from memory_app.index.core.request import Fusion
from memory_app.index.pages import note_text
from memory_app.search.answers import MAX_TYPED_CHARS, parts_of
from memory_app.search.core.rank import Part
from memory_app.search.core.surfaces import Surface
from memory_app.search.lab import Comparison, Fallback, compare_arms, count_pending
from memory_app.search.log import log_search
from memory_app.search.past import read_moment
from memory_app.search.selectors import Hit
from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.excerpt import Segment, excerpt
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.ownership import Owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page

EXCERPT_CHARS = 160
FUSIONS: dict[Fusion, str | Promise] = {
    Fusion.DEFAULT: gettext_lazy("Learned weights"),
    Fusion.RRF: gettext_lazy("Reciprocal ranks (RRF)"),
}
HEADINGS: dict[Fusion, tuple[str | Promise, str | Promise]] = {
    Fusion.TEXT: (gettext_lazy("By words"), gettext_lazy("BM25 and shared assets")),
    Fusion.MEANING: (gettext_lazy("By meaning"), gettext_lazy("cosine of the vectors")),
    Fusion.DEFAULT: (gettext_lazy("Fused"), gettext_lazy("what your agent gets")),
    Fusion.RRF: (gettext_lazy("Fused"), gettext_lazy("1 / (60 + place) of both, shared assets")),
}
EXAMPLES = (
    ("how do I protect myself against losses?", gettext_lazy("other words than the memory's")),
    ("止损", gettext_lazy("Chinese, anywhere in the text")),
    ("山寨币崩了", gettext_lazy("a question in one language, a memory in another")),
    ("BTC trailing stop", gettext_lazy("an asset raises what mentions it")),
    ("when did I last change my slippage?", gettext_lazy("a question for a time")),
)


@dataclass(frozen=True)
class LabRow:
    """One hit of a column. `place_fused` is where the fusion puts it, 0 nowhere; `moved` how far up it went there."""

    hit: Hit
    excerpt: tuple[Segment, ...]
    place: int
    place_fused: int
    moved: int | None
    owner_name: str

    @property
    def steps(self) -> int:
        """How many places it moved."""
        return abs(self.moved or 0)

    @property
    def parts(self) -> list[tuple[str | Promise, Part]]:
        """The features that count, the weightiest first."""
        return parts_of(self.hit)


@dataclass(frozen=True)
class Column:
    """One order of the hits."""

    fusion: Fusion
    rows: tuple[LabRow, ...]

    @property
    def heading(self) -> str | Promise:
        return HEADINGS[self.fusion][0]

    @property
    def hint(self) -> str | Promise:
        """How it is made."""
        return HEADINGS[self.fusion][1]

    @property
    def is_fused(self) -> bool:
        """Whether both arms made it."""
        return self.fusion in FUSIONS


@page(Act.SEARCH)
def lab(request: PageRequest) -> HttpResponse:
    """Show the box and, once something was asked for, the three columns."""
    query, as_of = (request.GET.get(name, "").strip() for name in ("q", "as_of"))
    fusion = Fusion.RRF if request.GET.get("fusion") == Fusion.RRF else Fusion.DEFAULT
    owner = request.principal.reads(Act.SEARCH, request.GET.get("owner"))
    context: dict[str, Any] = {
        "title": _("Compare rankings"),
        "query": query,
        "as_of": as_of,
        "fusion": fusion.value,
        "fusions": [(each.value, words) for each, words in FUSIONS.items()],
        "examples": EXAMPLES,
        "most_chars": MAX_TYPED_CHARS,
        "owner_name": request.GET.get("owner", ""),
    }
    status = HTTPStatus.OK
    if query:
        try:
            moment = read_moment(as_of) if as_of else None
            found = compare_arms(
                owner=owner,
                query=query,
                fusion=fusion,
                as_of=moment,
            )
        except MinaraError as error:
            status, context["problem"] = error.status, error.detail
        else:
            context |= found_context(found, fusion, owner=owner, reader=request.user)
            owner_ids = {hit.owner_id for hits in found.columns.values() for hit in hits}
            now, ids = timezone.now(), [hit.id for hit in found.columns.get(fusion, found.columns[Fusion.TEXT])]
            log_access(
                principal=request.principal,
                owner_ids=owner_ids,
                kind="memories",
                now=now,
            )
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
        "memory_app/search/lab.html",
        context,
        fragment="memory_app/search/_lab_found.html",
        status=status,
    )


def found_context(
    found: Comparison,
    fusion: Fusion,
    *,
    owner: Owner,
    reader: User,
) -> dict[str, Any]:
    """Return the columns, the notes, and why meaning had no say."""
    places = {each: {hit.id: at for at, hit in enumerate(hits, start=1)} for each, hits in found.columns.items()}
    foreign = {hit.owner_id for hits in found.columns.values() for hit in hits} - {reader.pk}
    names = {user.pk: user.get_short_name() for user in User.objects.filter(pk__in=foreign)} if foreign else {}
    fused, by_keywords = places.get(fusion, {}), places[Fusion.TEXT]

    def row(hit: Hit, place: int) -> LabRow:
        shown, place_fused = hit.for_reader(reader), fused.get(hit.id, 0)
        moved = by_keywords[hit.id] - place_fused if hit.id in by_keywords and place_fused else None
        pieces = excerpt(shown.highlights, limit=EXCERPT_CHARS)
        return LabRow(
            shown,
            pieces,
            place,
            place_fused,
            moved,
            names.get(hit.owner_id, ""),
        )

    columns = [
        Column(
            each,
            tuple(row(hit, place) for place, hit in enumerate(hits, start=1)),
        )
        for each, hits in found.columns.items()
    ]
    fallback = fallback_label(found.fallback, owner=owner) if found.fallback else ""
    return {
        "columns": columns,
        "notes": [note_text(note) for note in found.notes],
        "fallback": fallback,
    }


def fallback_label(fallback: Fallback, *, owner: Owner) -> str:
    """Return in words why meaning had no say."""
    match fallback:
        case Fallback.DISABLED:
            return _("Semantic search is off (EMBEDDING_PROVIDER is disabled). Showing keyword results.")
        case Fallback.FAILED:
            return _("The embedding provider did not answer. Showing keyword results until it does.")
        case Fallback.TOO_SLOW:
            return _("Comparing the vectors took too long. Showing keyword results for now.")
        case Fallback.WORDS_ONLY:
            return _("With AND, OR and NOT, without words, and across all owners only keyword results are shown.")
        case Fallback.NO_VECTORS:
            count = count_pending(owner)
            if not count:
                return _("No memory has a vector, and none waits for one.")
            waiting = ngettext(
                "No vectors yet: %(count)d memory is pending.",
                "No vectors yet: %(count)d memories are pending.",
                count,
            )
            return waiting % {"count": count}
