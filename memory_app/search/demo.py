"""The demo's log of searches."""

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from memory_app.memories.demo import demo_memories
from memory_app.search.core.surfaces import Surface
from memory_app.search.log import keep_search
from memory_app.search.models import SearchLogEntry
from minara_site.access.models import User
from minara_site.kernel.demo import AGENT_KEY, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows

MAX_HITS = 5


class DemoSearch(DemoRow):
    """One search of an agent that returned the newest memories with this word."""

    surface: Surface
    query: str
    word: str


class SearchesPart(DemoPart[DemoSearch]):
    """Searches; none while no log is kept."""

    name, rows = "searches", read_rows(DemoSearch, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoSearch) -> None:
        if not settings.MINARA.minara_search_log_days:
            return
        found = demo_memories(owner).live().filter(content__contains=row.word).order_by("-updated_at", "-id")
        ids = list(found.values_list("pk", flat=True)[:MAX_HITS])
        asked = {
            "query": row.query,
            "found": len(ids),
            "at": load.ago(row.hours_ago),
        }
        entry = SearchLogEntry(
            owner_id=owner.pk,
            actor=AGENT_KEY,
            door=row.surface,
            **asked,
        )
        keep_search(entry, ids)
        load.mark(entry)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        return [RemovedRows(_("Searches"), load.marked(SearchLogEntry).count())]

    def delete_elsewhere(self, load: DemoLoad, owner_ids: Sequence[int]) -> None:
        load.marked(SearchLogEntry).delete()
        SearchLogEntry.objects.filter(owner_id__in=owner_ids).delete()
