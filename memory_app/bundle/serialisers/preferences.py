"""Active preferences as files: `preferences/<dimension>/<id>.md`, the statement as the body. Sources: S1, R-19, R-22.

A signed soft one that its owner imports is active again; every other is proposed, and a hard constraint only when a
person let it in. What is stored in the same words keeps its state, also when it was rejected or archived.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC

from learning_app.preferences.core import MAX_STATEMENT_CHARS, PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import approve
from learning_app.preferences.services.propose import PreferenceDraft, propose_preference
from learning_app.vocabulary import PreferenceDimension, PreferenceKind, PreferenceSource, PreferenceState
from memory_app.bundle.core.front_matter import UnusableError, render_document
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
from memory_app.bundle.serialisers.memories import MAX_AHEAD
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.core.vocabulary import IMPORT_ORIGIN
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.plain_text import clean_text

KIND = "preference"
FOLDER = "preferences"
MOMENTS = ("created_at", "updated_at", "decided_at")
NUMBERS = ("id", "evidence_count")
FIELDS = frozenset({"dimension", "state", "source", *NUMBERS, *MOMENTS})
Known = Mapping[tuple[str, str, str], int]


def export(wanted: ExportScope) -> Iterator[OutFile]:
    """Yield every preference in force, oldest first; hard constraints only when they are asked for."""
    active = Preference.objects.for_owner(wanted.owner).filter(state=PreferenceState.ACTIVE)
    for rows in slices(active):
        refused = find_refused(PREFERENCE_KIND, rows)
        for row in rows:
            if row.held_at or row.pk in refused:
                wanted.left_out[LeftOut.HELD] += 1
            elif row.is_hard and not wanted.include_constraints:
                wanted.left_out[LeftOut.CONSTRAINTS] += 1
            else:
                yield to_file(masked_for(wanted.reader, row), wanted)


def to_file(row: Preference, wanted: ExportScope) -> OutFile:
    """Return a preference as a file; `kind` says how binding it is, as in S1."""
    fields = {name: getattr(row, name) for name in ("dimension", "state", "source", "evidence_count")}
    fields |= {name: moment.astimezone(UTC).isoformat() for name in MOMENTS if (moment := getattr(row, name))}
    head = wanted.head(row.kind) | {"id": row.pk, **fields}
    return OutFile(f"{FOLDER}/{row.dimension}/{row.pk}.md", render_document(head, row.statement))


def judge(files: Sequence[InFile], reading: Reading) -> list[Judged]:
    """Return the plan of each file. Three queries at most."""
    read = [read_or_reject(file, reading, read_draft, kind=KIND) for file in files]
    known = load_known(
        reading.owner,
        [each for each in read if isinstance(each, PreferenceDraft)],
    )
    return [
        decide(file, each, known, reading) if isinstance(each, PreferenceDraft) else Judged(each)
        for file, each in zip(files, read, strict=True)
    ]


def read_draft(file: InFile, reading: Reading) -> PreferenceDraft:
    """Return what a file says, every word of the vocabularies that stand now. Raises UnusableError and Invalid."""
    fields = file.fields
    fields.check_names(FIELDS)
    for name in NUMBERS:
        fields.number(name)
    for name in MOMENTS:
        fields.instant(name, latest=reading.now + MAX_AHEAD)
    fields.word("source", PreferenceSource)
    fields.word("state", PreferenceState)
    dimension, kind = fields.word("dimension", PreferenceDimension), fields.word("kind", PreferenceKind)
    if dimension is None or kind is None:
        raise UnusableError(Reason.MISSING_FIELD, "dimension" if dimension is None else "kind")
    if file.path.split("/")[1:-1] != [dimension.value]:
        raise UnusableError(Reason.WRONG_FOLDER, "dimension")
    statement = clean_text(file.body, field="statement", max_chars=MAX_STATEMENT_CHARS)
    return PreferenceDraft(dimension.value, kind.value, statement)


def load_known(owner: User, drafts: Sequence[PreferenceDraft]) -> Known:
    """Return what the owner has in these words by dimension, kind and statement, and what was counted as the same."""
    own = Preference.objects.for_owner(owner)
    digests = {content_digest(each.statement): each.statement for each in drafts}
    rows = own.filter(statement__in=digests.values()).order_by("pk")
    found = {(row.dimension, row.kind, row.statement): row.pk for row in rows}
    acts = AuditEntry.objects.filter(
        owner_id=owner.pk,
        tool_call="preference_repeated",
        details__sha256__in=digests,
    )
    counted = {details["sha256"]: details["id"] for details in acts.values_list("details", flat=True)}
    repeated = own.in_bulk(counted.values())
    same = {digest: repeated[pk] for digest, pk in counted.items() if pk in repeated}
    return {(row.dimension, row.kind, digests[digest]): row.pk for digest, row in same.items()} | found


def decide(
    file: InFile,
    draft: PreferenceDraft,
    known: Known,
    reading: Reading,
) -> Judged:
    """Return the plan of a file that can be a preference; its words are known from now on."""
    words = (draft.dimension, draft.kind, draft.statement)
    is_hard = draft.kind == PreferenceKind.HARD_CONSTRAINT
    same = known.get(words)
    if same is None and is_hard and not reading.approves:
        return Judged(file.rejected(Reason.HARD_CONSTRAINT, kind=KIND))
    first = reading.seen.setdefault(
        hashlib.sha256("\0".join((KIND, *words)).encode()).digest(),
        file.path,
    )
    if first != file.path:
        return Judged(file.known(Reason.REPEATED, first, kind=KIND))
    if same is not None:
        return Judged(file.known(Reason.SAME_PREFERENCE, str(same), kind=KIND))
    said = file.fields.word("state", PreferenceState)
    is_trusted = file.channel is Channel.SIGNED and reading.by_owner and said is PreferenceState.ACTIVE
    verdict, reason, state = Verdict.NEW, Reason.PROPOSED, PreferenceState.PROPOSED
    if guard.judge(draft.statement).is_held:
        verdict, reason = Verdict.HELD, Reason.GUARD
    elif is_trusted and not is_hard:
        reason, state = Reason.STAYS_ACTIVE, PreferenceState.ACTIVE
    row = {
        "content": draft.statement,
        "dimension": draft.dimension,
        "kind": draft.kind,
        "state": state.value,
    }
    return Judged(
        FilePlan(
            file.path,
            file.channel,
            verdict,
            KIND,
            reason,
            row=row,
        ),
        draft,
    )


def store(judged: Sequence[Judged], writing: Writing) -> list[Details]:
    """Propose them, and approve what stays active; each leaves audit rows of its own, by which a roll-back finds it.

    One that says nearly what waits already is approved in the signed words; what was rejected stays so.
    """
    stored: list[Details] = []
    for each in judged:
        proposed = propose_preference(
            owner_id=writing.owner.pk,
            draft=each.payload,
            source=PreferenceSource.IMPORTED,
            actor=writing.actor,
            origin=f"{IMPORT_ORIGIN}{each.plan.path}",
            now=writing.now,
            details={"run": writing.run, "channel": each.plan.channel.value},
        )
        if each.plan.reason is Reason.STAYS_ACTIVE and proposed.row.state == PreferenceState.PROPOSED:
            approve(
                preference_id=proposed.row.pk,
                owner=writing.owner,
                statement=each.payload.statement,
                actor=writing.actor,
                now=writing.now,
                run=writing.run,
            )
        stored.append({"preference": proposed.row.pk, "count": 0})
    return stored


PREFERENCES = Serialiser(
    KIND,
    f"{FOLDER}/",
    export,
    judge,
    store,
    names=tuple(PreferenceKind),
)
