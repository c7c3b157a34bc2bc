"""What is new about an owner: rebuilds by run, and what agents, imports and jobs wrote. Bounded, whatever is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_app.memories.core import MEMORY_KIND
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.core.vocabulary import RUN_ORIGIN, WriterKind, writer_kind
from profile_app.documents.core import PROFILE_SUMMARY
from profile_app.documents.models import Document
from profile_app.portrait.models import UserTag
from profile_app.rebuild.changes import TAG, tag_key
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import list_runs, load_costs

MAX_RUNS, MAX_ROWS = 50, 200


@dataclass(frozen=True, slots=True)
class NewRow:
    """A memory, tag or summary that others wrote and that stands; `said` is the line of its run about it."""

    kind: str
    key: str
    row: Any
    said: dict[str, Any]


@dataclass(slots=True)
class NewGroup:
    """The rows of one run, or of one kind of writer; `set_id` is the act that an undo of the run undoes."""

    run: RebuildRun | None
    writer: WriterKind
    rows: list[NewRow] = field(default_factory=list)
    set_id: int | None = None
    cost: dict[str, Any] | None = None


def load_news(
    owner: User, *, since: datetime | None = None, run_id: int | None = None
) -> tuple[Sequence[NewGroup], bool]:
    """Return what is new since a moment, or of one run, the newest first, and whether there is more. Six queries."""
    runs = list_runs(owner).order_by("-pk")
    memories = Memory.objects.for_owner(owner).filter(deleted_at__isnull=True).exclude(actor=f"user:{owner.pk}")
    tags = UserTag.objects.for_owner(owner).exclude(actor=f"user:{owner.pk}")
    if run_id is not None:
        runs, memories, tags = (
            runs.filter(pk=run_id),
            memories.filter(metadata__run=run_id),
            tags.filter(origin=f"{RUN_ORIGIN}{run_id}"),
        )
    elif since:
        runs, memories, tags = (
            runs.filter(started_at__gt=since),
            memories.filter(created_at__gt=since),
            tags.filter(updated_at__gt=since),
        )
    shown = list(runs[:MAX_RUNS])
    written = list(memories.order_by("-created_at", "-pk")[: MAX_ROWS + 1])
    texts = {row.pk: row for row in Document.objects.for_owner(owner).filter(kind=PROFILE_SUMMARY)}
    sets = ChangeSet.objects.filter(run__in=[run.subject for run in shown], undoes__isnull=True)
    set_ids, costs = dict(sets.values_list("run", "pk")), load_costs(shown)
    groups = {
        run.pk: NewGroup(run, WriterKind.JOB, set_id=set_ids.get(run.subject), cost=costs.get(run.subject))
        for run in shown
    }
    others: dict[WriterKind, NewGroup] = {}
    said = {(run.pk, line["kind"], line["key"]): line for run in shown for line in run.wrote}

    def add(row: Any, kind: str, key: str, run: int | None, origin: str = "") -> None:
        writer = writer_kind(actor=row.actor, source=row.source, origin=origin)
        group = groups.get(run or 0) or others.setdefault(writer, NewGroup(None, writer))
        group.rows.append(NewRow(kind, key, row, said.get((run or 0, kind, key), {})))

    for tag in tags:
        number = tag.origin.removeprefix(RUN_ORIGIN)
        add(tag, TAG, tag_key(owner.pk, tag.name), int(number) if number.isdecimal() else None)
    for memory in written[:MAX_ROWS]:
        add(memory, MEMORY_KIND, str(memory.pk), (memory.metadata or {}).get("run"), memory.origin)
    for run in shown:
        for line in run.wrote:
            text = texts.get(int(line["key"])) if line["kind"] == PROFILE_SUMMARY else None
            if text and content_digest(text.content) == line["hash"]:
                groups[run.pk].rows.append(NewRow(PROFILE_SUMMARY, line["key"], text, line))
    is_more = len(written) > MAX_ROWS or len(shown) == MAX_RUNS
    return [*groups.values(), *others.values()], is_more
