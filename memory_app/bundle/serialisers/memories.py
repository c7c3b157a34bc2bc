"""Memories as files: `memories/<category>/<id>.md`, the content as the body. Sources: S1, decisions (sources).

A signed file keeps source, origin, times and fact state. An unsigned one is a text that a person brings: the source
tells whose word that makes it, the origin is the file, the time that of the import, facts are pending. The guard
judges both.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from learning_app.preferences.limits import MAX_LIMITS
from memory_app.bundle.core.fields import Fields
from memory_app.bundle.core.front_matter import UnusableError, render_document, render_json
from memory_app.bundle.core.plan import Channel, FilePlan, Reason, Verdict
from memory_app.bundle.serialisers.base import (
    Details,
    ExportScope,
    InFile,
    Judged,
    LeftOut,
    OutFile,
    Reading,
    Serialiser,
    Writing,
    read_or_reject,
    slices,
)
from memory_app.memories.core import MEMORY_ORIGIN, FactState, State, is_hard_constraint
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import IS_BRIDGED, Memory, MemoryQuerySet, MemoryRevision
from memory_app.memories.selectors import find_given_up, find_refused, retention_cutoff
from memory_app.memories.services import Draft, build_memory, insert_memories
from memory_app.writes.services.brought_in import source_of_import
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.core.redact import redact
from minara_site.kernel.core.vocabulary import IMPORT_ACTOR, IMPORT_ORIGIN, Category, Provenance, Source
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.events import fact_recorded, send_after_commit
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.web.json_body import read_json

KIND = "memory"
FOLDER = "memories"
MAX_AHEAD = timedelta(days=1)  # a clock that was put back
FIELDS = frozenset(
    {"id", "category", "source", "fact_type", "fact_state", "tickers", "metadata", "origin", "created_at", "updated_at"}
)
STANDS: Mapping[State, Reason] = {
    State.LIVE: Reason.STORED,
    State.HELD: Reason.STORED_HELD,
    State.RETIRED: Reason.RETIRED,
    State.DELETED: Reason.IN_TRASH,
}


@dataclass(frozen=True, slots=True)
class Stored:
    """What the owner has of some files.

    Rows by hash, rows by the id that a file of ours names, the earlier texts of those, and keys of settled facts.
    """

    by_hash: Mapping[str, Memory]
    by_id: Mapping[int, Memory]
    earlier: frozenset[tuple[int, str]]
    fact_keys: frozenset[str]


def export(wanted: ExportScope) -> Iterator[OutFile]:
    """Yield every live memory, oldest first, a slice of rows in memory at a time.

    What stands for a preference stays out: the preference's own file brings it back.
    """
    mine: MemoryQuerySet = Memory.objects.for_owner(wanted.owner).exclude(IS_BRIDGED)
    for rows in slices(mine.live()):
        refused = find_refused(rows)
        for row in rows:
            if row.pk in refused:
                wanted.left_out[LeftOut.HELD] += 1
            elif is_hard_constraint(row.fact_type) and not wanted.include_constraints:
                wanted.left_out[LeftOut.CONSTRAINTS] += 1
            else:
                shown = masked_for(wanted.reader, row)
                if wanted.is_masked:  # fields that no page shows
                    shown.origin, shown.metadata = mask(row.origin), redact(row.metadata)
                yield to_file(shown, wanted)
    wanted.left_out[LeftOut.HELD] += mine.held().count()
    wanted.left_out[LeftOut.RETIRED] += mine.retired().count()
    wanted.left_out[LeftOut.IN_TRASH] += mine.deleted().kept(retention_cutoff(wanted.now)).count()


def to_file(row: Memory, wanted: ExportScope) -> OutFile:
    """Return a memory as a file; what is empty is left out."""
    fields = {
        "id": row.pk,
        "category": row.category,
        "source": row.source,
        "fact_type": row.fact_type,
        "fact_state": row.fact_state,
        "tickers": row.tickers,
        "metadata": None if row.metadata is None else render_json(row.metadata),
        "origin": "" if row.origin.startswith(MEMORY_ORIGIN) else row.origin,
        "created_at": written(row.created_at),
        "updated_at": written(row.updated_at),
    }
    head = wanted.head(KIND, **fields)
    return OutFile(f"{FOLDER}/{row.category}/{row.pk}.md", render_document(head, row.content))


def written(moment: datetime) -> str:
    """Return a moment as files write it: ISO 8601 in UTC."""
    return moment.astimezone(UTC).isoformat()


def judge(files: Sequence[InFile], reading: Reading) -> list[Judged]:
    """Return the plan of each file. Seven queries at most."""
    read = [read_or_reject(file, reading, from_file, kind=KIND) for file in files]
    stored = load_stored(read, files, reading.owner, now=reading.now)
    return [
        decide(file, row, stored, reading) if isinstance(row, Memory) else Judged(row)
        for file, row in zip(files, read, strict=True)
    ]


def from_file(file: InFile, reading: Reading) -> Memory:
    """Return the unsaved row of a file. Raises UnusableError and Invalid."""
    fields, latest = file.fields, reading.now + MAX_AHEAD
    fields.check_names(FIELDS)
    fields.number("id")
    category, source = fields.word("category", Category), fields.word("source", Source)
    created_at = fields.instant("created_at", latest=latest)
    updated_at = fields.instant("updated_at", latest=latest)
    origin, fact_state = fields.text("origin"), read_fact_state(fields, category)
    if category is None:
        raise UnusableError(Reason.MISSING_FIELD, "category")
    if file.path.split("/")[1:-1] != [category.value]:
        raise UnusableError(Reason.WRONG_FOLDER, "category")
    draft = Draft(
        category=category,
        content=file.body,
        provenance=Provenance(
            Source.USER_EXPLICIT,
            IMPORT_ACTOR,
            f"{IMPORT_ORIGIN}{file.path}"[:255],
        ),
        fact_type=fields.text("fact_type"),
        tickers=fields.texts("tickers"),
        metadata=read_metadata(fields),
    )
    memory = build_memory(
        owner_id=reading.owner.pk,
        draft=draft,
        now=reading.now,
    )
    if file.channel is Channel.SIGNED:
        memory.source, memory.origin = source, origin
        memory.created_at = min(created_at or reading.now, reading.now)
        memory.updated_at = min(updated_at or memory.created_at, reading.now)
        if fact_state is FactState.SETTLED:
            memory.fact_state, memory.fact_key = fact_state, fact_key(memory.content)
    return memory


def read_fact_state(fields: Fields, category: Category | None) -> FactState | None:
    """Return where a fact stands; other memories have no such field, and a retired fact is no fact of an export."""
    state = fields.word("fact_state", FactState)
    if state is FactState.RETIRED or (state and category is not Category.FACT):
        raise fields.wrong("fact_state")
    return state


def read_metadata(fields: Fields) -> dict[str, Any] | None:
    """Return the metadata, which stand in front matter as one line of JSON."""
    text = fields.text("metadata", most=64 * 1024)
    if not text:
        return None
    try:
        value = read_json(text.encode())
    except (MinaraError, UnicodeEncodeError):
        raise fields.wrong("metadata") from None
    if not isinstance(value, dict):
        raise fields.wrong("metadata")
    return value


def load_stored(
    read: Iterable[Memory | FilePlan],
    files: Iterable[InFile],
    owner: User,
    *,
    now: datetime,
) -> Stored:
    """Return what the owner has of these files, whatever became of it, also what they gave up in another category."""
    pairs = [(row, file) for row, file in zip(read, files, strict=True) if isinstance(row, Memory)]
    mine: QuerySet[Memory] = Memory.objects.for_owner(owner).defer("metadata")
    same = mine.filter(content_hash__in={row.content_hash for row, _file in pairs})
    by_hash: dict[str, Memory] = {}
    for row in sorted(
        same,
        key=lambda each: (list(STANDS).index(each.state), each.pk),
        reverse=True,
    ):
        by_hash[row.content_hash] = row
    left = {row.content: row.content_hash for row, _file in pairs if row.content_hash not in by_hash}
    by_hash |= {left[text]: row for text, row in find_given_up(owner, left, now=now).items()}
    ids = {file.fields.number("id") or 0 for row, file in pairs if file.is_ours and row.content_hash not in by_hash}
    by_id = mine.in_bulk(list(ids)) if ids - {0} else {}
    revisions = MemoryRevision.objects.filter(memory__in=by_id) if by_id else MemoryRevision.objects.none()
    keys = {row.fact_key for row, _file in pairs if row.fact_key}
    settled = mine.filter(fact_state=FactState.SETTLED, fact_key__in=keys).values_list("fact_key", flat=True)
    return Stored(
        by_hash,
        by_id,
        frozenset(revisions.values_list("memory_id", "content")),
        frozenset(settled),
    )


def decide(
    file: InFile,
    memory: Memory,
    stored: Stored,
    reading: Reading,
) -> Judged:
    """Return the plan of a file that can be a row; its text is known from now on."""
    same = stored.by_hash.get(memory.content_hash)
    if same is None and is_hard_constraint(memory.fact_type) and not reading.approves:
        return Judged(file.rejected(Reason.HARD_CONSTRAINT, kind=KIND))
    first = reading.seen.setdefault(bytes.fromhex(memory.content_hash), file.path)
    if first != file.path:
        return Judged(file.known(Reason.REPEATED, first, kind=KIND))
    if same is not None:
        return Judged(file.known(STANDS[same.state], str(same.pk), kind=KIND))
    if memory.is_hard and not reading.by_owner:
        memory.source = Source.INFERRED  # the limit of nobody: its owner did not approve it
    if memory.is_limit:
        reading.limits.add(file.path)
        if reading.limits_before + len(reading.limits) > MAX_LIMITS:
            return Judged(file.rejected(Reason.LIMITS_FULL, str(MAX_LIMITS), kind=KIND))
    other = stored.by_id.get(file.fields.number("id") or 0) if file.is_ours else None
    if other is not None and (other.pk, memory.content) in stored.earlier:
        return Judged(file.known(Reason.EARLIER_VERSION, str(other.pk), kind=KIND, stored=stored_row(other)))
    keep_one_settled(memory, stored, reading)
    verdict, reason = (Verdict.HELD, Reason.GUARD) if memory.held_at else (Verdict.NEW, Reason.NONE)
    if other is not None and reason is Reason.NONE:
        reason = Reason.SAYS_OTHERWISE
    about = str(other.pk) if other else ""
    plan = FilePlan(
        file.path,
        file.channel,
        verdict,
        KIND,
        reason,
        about,
        row_of(memory, file),
        stored_row(other),
    )
    return Judged(plan, memory)


def keep_one_settled(memory: Memory, stored: Stored, reading: Reading) -> None:
    """Let a settled fact wait for the sweep when another that says the same is settled, or comes settled before it."""
    if not memory.fact_key:
        return
    key = bytes.fromhex(memory.fact_key)
    if key in reading.settled or memory.fact_key in stored.fact_keys:
        memory.fact_state, memory.fact_key = FactState.PENDING, ""
    reading.settled.add(key)


def row_of(memory: Memory, file: InFile) -> dict[str, Any]:
    """Return the row that would be written; source and times that are those of the import are None."""
    is_signed = file.channel is Channel.SIGNED
    return {
        "category": memory.category.value if isinstance(memory.category, Category) else memory.category,
        "content": memory.content,
        "source": str(memory.source) if is_signed and memory.source else None,
        "fact_type": memory.fact_type,
        "fact_state": memory.fact_state and str(memory.fact_state),
        "tickers": memory.tickers,
        "metadata": memory.metadata,
        "origin": memory.origin,
        "created_at": (file.fields.text("created_at") or None) if is_signed else None,
        "updated_at": (file.fields.text("updated_at") or None) if is_signed else None,
    }


def stored_row(memory: Memory | None) -> dict[str, Any] | None:
    """Return what stands and says otherwise."""
    if memory is None:
        return None
    return {
        "id": memory.pk,
        "category": memory.category,
        "content": memory.content,
        "version": memory.version,
    }


def store(judged: Sequence[Judged], writing: Writing) -> list[Details]:
    """Insert the rows of a slice; return the id and the hash of each."""
    rows: list[Memory] = [each.payload for each in judged]
    for each, row in zip(judged, rows, strict=True):
        row.actor = writing.actor
        if each.plan.channel is Channel.UNSIGNED:
            row.source = source_of_import(writing.owner, writing.actor)
    owner_id = writing.owner.pk
    insert_memories(rows, owner_id=owner_id, now=writing.now)
    pending = tuple(row.pk for row in rows if row.fact_state == FactState.PENDING)
    if pending:
        send_after_commit(fact_recorded, owner_id=owner_id, memory_ids=pending)
    return [
        {
            "id": row.pk,
            "sha256": content_digest(row.content),
            "count": 1,
            **({"held": 1} if row.held_at else {}),
        }
        for row in rows
    ]


MEMORIES = Serialiser(KIND, f"{FOLDER}/", export, judge, store)
