"""The search as of an earlier moment: what was live then, with the text that it had then.

Rows that have not changed since are found by the index. Of the others the text of then stands in their revisions; it is
matched and scored here, by the same words. What is deleted or held now is not shown, whatever it was then; a fact that
was retired since counts as live. What was restored, or brought back by a roll-back, counts as never gone: the text that
was taken back is shown at no moment.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import groupby

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from memory_app.edges.core import extract_edges
from memory_app.index.adapters.sql import SearchBackend, midnight
from memory_app.index.core.query import Filters, Node, Term, is_match
from memory_app.index.core.request import Facts, Matches, SearchRequest
from memory_app.memories.models import Memory, MemoryRevision
from minara_site.kernel.core.porter import stem
from minara_site.kernel.core.text import prepare
from minara_site.kernel.errors import invalid_field

MAX_CHANGED = 4_000
MAX_MOMENT_CHARS = 40

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class PastSearch:
    """The search of a database as it stood at a moment; `changed` are the rows whose text was another, as they were."""

    now: SearchBackend
    changed: dict[int, Facts]

    def match(
        self,
        request: SearchRequest,
        *,
        most: int,
        is_checked: bool,
    ) -> Matches:
        """Return the matches of unchanged rows, and before them those of changed ones."""
        found = self.now.match(request, most=most, is_checked=is_checked)
        return self.with_changed(found, request, request.node)

    def best(self, request: SearchRequest, node: Node, *, most: int) -> Matches:
        """Return the engine's best, and before them every match of a changed row."""
        return self.with_changed(
            self.now.best(request, node, most=most),
            request,
            node,
        )

    def with_changed(
        self,
        found: Matches,
        request: SearchRequest,
        node: Node | None,
    ) -> Matches:
        """Put the changed rows that match in front."""
        bodies = {each.id: prepare(each.content) for each in self.changed.values() if is_kept(each, request.filters)}
        if node is not None:
            bodies = {
                at: body
                for at, body in bodies.items()
                if is_match(node, list(map(stem, body.split())), self.changed[at].assets)
            }
        elif request.literal:
            wanted = request.literal.lower()
            bodies = {at: body for at, body in bodies.items() if wanted in self.changed[at].content.lower()}
        return Matches(
            [*bodies, *found.ids],
            [*bodies.values(), *found.bodies],
            found.total or len(bodies),
        )

    def frequencies(self, owner_id: int | None, terms: Sequence[Term]) -> list[int]:
        """Return how many of the owner's documents hold each term now."""
        return self.now.frequencies(owner_id, terms)

    def load(self, ids: Sequence[int], request: SearchRequest) -> dict[int, Facts]:
        """Return what the hits showed then."""
        unchanged = [each for each in ids if each not in self.changed]
        found = self.now.load(unchanged, request) if unchanged else {}
        return found | {each: self.changed[each] for each in ids if each in self.changed}


Engine = SearchBackend | PastSearch


def read_moment(text: str) -> datetime:
    """Return the moment that a door was given: an ISO time, UTC unless it says otherwise, or the end of a day in UTC.

    Raises Invalid.
    """
    try:
        if _DAY.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), time.max, tzinfo=UTC)
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        problem = _("Write a time as 2026-05-31T14:00:00+00:00, or a day as 2026-05-31.")
        raise invalid_field("as_of", problem) from None


def search_past(
    now: SearchBackend,
    moment: datetime,
    rows: "QuerySet[Memory]",
) -> PastSearch:
    """Return the search as of a moment over these rows. One query."""
    return PastSearch(now, {each.id: each for each in texts_of_then(rows, moment)})


def texts_of_then(rows: "QuerySet[Memory]", moment: datetime) -> list[Facts]:
    """Return the rows that have changed since the moment, with the text that stood at it.

    A version that is no longer kept is left out: its text is not known.
    """
    readable = Q(retired_at__isnull=True) | Q(retired_at__gt=moment)
    changed = rows.filter(
        readable,
        deleted_at=None,
        held_at=None,
        created_at__lte=moment,
        updated_at__gt=moment,
    )
    later = MemoryRevision.objects.using(rows.db).filter(memory__in=changed, replaced_at__gt=moment)
    found = later.order_by("memory_id", "version").select_related("memory")[:MAX_CHANGED]
    firsts = [next(versions) for _memory_id, versions in groupby(found, key=lambda each: each.memory_id)]
    return [facts_of_then(each) for each in firsts if each.updated_at is None or each.updated_at <= moment]


def facts_of_then(revision: MemoryRevision) -> Facts:
    """Return what a hit shows of a version."""
    memory = revision.memory
    written_at = revision.updated_at or memory.created_at
    edges = extract_edges(revision.content, tickers=revision.tickers)
    return Facts(
        memory.pk,
        memory.owner_id,
        memory.category,
        revision.content,
        memory.source,
        memory.origin,
        revision.actor,
        memory.created_at,
        written_at,
        revision.fact_type,
        assets=frozenset(edge.key for edge in edges),
    )


def is_kept(facts: Facts, filters: Filters) -> bool:
    """Say whether the filters of a query leave a row, as `kept_by` says it of stored ones."""
    return (
        (not filters.categories or facts.category in filters.categories)
        and facts.category not in filters.not_categories
        and (not filters.sources or facts.source in filters.sources)
        and (facts.source is None or facts.source not in filters.not_sources)
        and (not filters.assets or not facts.assets.isdisjoint(filters.assets))
        and facts.assets.isdisjoint(filters.not_assets)
        and (filters.after is None or facts.updated_at >= midnight(filters.after))
        and (filters.before is None or facts.updated_at < midnight(filters.before))
    )


def count_deleted_since(rows: "QuerySet[Memory]", moment: datetime) -> int:
    """Return how many of these rows were live and as they are at the moment, and have been deleted since."""
    return rows.filter(
        deleted_at__gt=moment,
        created_at__lte=moment,
        updated_at__lte=moment,
    ).count()
