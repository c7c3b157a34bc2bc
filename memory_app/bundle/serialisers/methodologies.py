"""Methodologies as files: `methodologies/<asset_class>/<id>.md`, the method as the body. Sources: S1, decisions.

They are the instance's: operators export and import them. A signed file of one that is gone keeps its counts and its
quarantine; every other begins in quarantine without any. One that is stored keeps its own, whatever a file says. Equal
is what has the same structure: words are compared when somebody hands a method in, not when files are brought in, so
that what is stored meanwhile never changes the plan.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from pydantic import ValidationError

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.schemas import NewMethodology
from learning_app.methodologies.services.create import MethodologyDraft, build_row, create_methodology, same_key
from learning_app.methodologies.services.lifecycle import Move, apply_moves
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
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
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.vocabulary import IMPORT_ORIGIN
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import find_refused

KIND = "methodology"
FOLDER = "methodologies"
SAID = ("name", "asset_class", "direction", "primary_signal", "timeframe", "indicators", "phases", "evidence")
COUNTED = ("confidence", "times_used", "times_correct", "times_seen", "quarantine", "quarantined_by")
MOMENTS = ("created_at", "updated_at")
WORDS = ("name", "methodology", "evidence")
NUMBERS = ("times_used", "times_correct", "times_seen", "quarantine")
FIELDS = frozenset({"id", "origin", *SAID, *COUNTED, *MOMENTS})
ROUNDING = 1e-9
MAX_EVENTS = 100  # of the newest it is asked whether they have the words of a file already


def export(wanted: ExportScope) -> Iterator[OutFile]:
    """Yield every methodology that the guard does not hold, oldest first; none for who is no operator.

    Those of the demo stay out: no price verified them, and a signed file would bring them back as if one had.
    """
    stored = Methodology.objects.filter(is_demo=False)
    rows = stored.filter(held_at__isnull=True)
    if not wanted.by_operator:
        wanted.left_out[LeftOut.METHODOLOGIES] += rows.count()
        return
    wanted.left_out[LeftOut.HELD] += stored.filter(held_at__isnull=False).count()
    for chosen in slices(rows):
        refused = find_refused(METHODOLOGY_KIND, chosen)
        wanted.left_out[LeftOut.HELD] += len(refused)
        for row in chosen:
            if row.pk not in refused:
                yield to_file(row, wanted)


def to_file(row: Methodology, wanted: ExportScope) -> OutFile:
    """Return a methodology as a file; what is empty is left out."""
    if wanted.is_masked:
        row.mask()
    fields = {"id": row.uid, "origin": row.origin} | {name: getattr(row, name) for name in (*SAID, *COUNTED)}
    fields |= {name: getattr(row, name).astimezone(UTC).isoformat() for name in MOMENTS}
    head = wanted.head(KIND, **fields)
    return OutFile(f"{FOLDER}/{row.asset_class}/{row.uid}.md", render_document(head, row.methodology))


def judge(files: Sequence[InFile], reading: Reading) -> list[Judged]:
    """Return the plan of each file. A few queries a file: there are few methodologies."""
    return [judge_file(file, reading) for file in files]


def judge_file(file: InFile, reading: Reading) -> Judged:
    """Return the plan of a file: only an operator's becomes anything."""
    if not reading.by_operator:
        return Judged(file.rejected(Reason.OPERATORS_ONLY, kind=KIND))
    read = read_or_reject(file, reading, read_all, kind=KIND)
    if isinstance(read, FilePlan):
        return Judged(read)
    draft, trust, row = read
    is_signed = file.channel is Channel.SIGNED
    if is_signed and not is_sound(trust):
        file = replace(file, channel=Channel.UNSIGNED)
    first = reading.seen.setdefault(bytes.fromhex(row.dedup_key), file.path)
    if first != file.path:
        return Judged(file.known(Reason.REPEATED, first, kind=KIND))
    if same := same_key(row).first():
        return judge_repeated(file, draft, row, same)
    is_held = guard.judge(row.guarded_text).is_held
    further = keep_trust(trust, is_held=is_held) if file.channel is Channel.SIGNED else {}
    reason = Reason.COUNTS_DIFFER if is_signed and not further else Reason.NONE
    if further and not further["quarantine"]:
        reason = Reason.KEEPS_TRUST
    verdict, reason = (Verdict.HELD, Reason.GUARD) if is_held else (Verdict.NEW, reason)
    plan = FilePlan(
        file.path,
        file.channel,
        verdict,
        KIND,
        reason,
        row=row_of(row, further),
    )
    return Judged(plan, replace(draft, further=further))


def read_all(file: InFile, reading: Reading) -> tuple[MethodologyDraft, dict[str, Any], Methodology]:
    """Return what a file says of a method and of its trust, and its unsaved row. Raises UnusableError and Invalid."""
    draft, trust = read_draft(file), read_trust(file, now=reading.now)
    return draft, trust, build_row(draft, actor="", origin="", now=reading.now)


def read_draft(file: InFile) -> MethodologyDraft:
    """Return what a file says of a method, every word of the vocabularies that stand now. Raises UnusableError."""
    file.fields.check_names(FIELDS)
    said = {name: file.fields.values[name] for name in SAID if name in file.fields.values}
    try:
        draft = NewMethodology.model_validate(said | {"methodology": file.body}).as_draft()
    except ValidationError as error:
        fault = error.errors()[0]
        reason = Reason.MISSING_FIELD if fault["type"] == "missing" else Reason.WRONG_VALUE
        raise UnusableError(reason, str(fault["loc"][0])) from None
    if file.path.split("/")[1:-1] != [draft.structured.asset_class.value]:
        raise UnusableError(Reason.WRONG_FOLDER, "asset_class")
    return draft


def read_trust(file: InFile, *, now: datetime) -> dict[str, Any]:
    """Return what a file says of how far a method got; it counts for something in a signed file only.

    Raises UnusableError.
    """
    fields = file.fields
    trust: dict[str, Any] = {name: fields.number(name) or 0 for name in NUMBERS}
    if trust["quarantine"] > 1:
        raise fields.wrong("quarantine")
    by = fields.word("quarantined_by", QuarantinedBy) or QuarantinedBy.RULE
    trust |= {
        "confidence": fields.share("confidence"),
        "quarantined_by": by.value if trust["quarantine"] else "",
    }
    trust |= {
        name: min(
            fields.instant(name, latest=now + MAX_AHEAD) or now,
            now,
        )
        for name in MOMENTS
    }
    return trust | {"uid": fields.text("id", most=36), "origin": fields.text("origin")}


def is_sound(trust: Mapping[str, Any]) -> bool:
    """Say whether a confidence is the bound of its counts, or the initial one before the first use."""
    used, correct, said = trust["times_used"], trust["times_correct"], trust["confidence"]
    if said is None or correct > used:
        return False
    expected = wilson_lower_bound(correct, used) if used else settings.MINARA.initial_confidence
    return bool(abs(said - expected) <= ROUNDING)


def keep_trust(trust: Mapping[str, Any], *, is_held: bool) -> dict[str, Any]:
    """Return the columns that a signed file brings back.

    What the guard refuses today goes back to quarantine, as does what an operator discarded and still has its id.
    """
    kept = {**trust, "times_seen": max(1, trust["times_seen"])}
    is_taken = Methodology.objects.filter(uid=kept["uid"]).exists()
    if not kept["quarantine"] and (is_held or is_taken):
        kept |= {"quarantine": 1, "quarantined_by": QuarantinedBy.SCAN.value}
    if is_taken or not kept["uid"]:
        del kept["uid"]
    return kept


def judge_repeated(
    file: InFile,
    draft: MethodologyDraft,
    row: Methodology,
    same: Methodology,
) -> Judged:
    """Return the plan of a file that repeats a stored methodology: other words are kept in an event, and no more."""
    stored = {"id": same.uid, "content": text_of(same)}
    if is_said(row, same):
        return Judged(file.known(Reason.SAME_METHOD, same.uid, kind=KIND))
    plan = FilePlan(
        file.path,
        file.channel,
        Verdict.UPDATED,
        KIND,
        Reason.SEEN_AGAIN,
        same.uid,
        row=row_of(row, {}),
        stored=stored,
    )
    return Judged(plan, draft)


def is_said(row: Methodology, same: Methodology) -> bool:
    """Say whether a stored methodology, or one that was found to repeat it, has these words."""
    if all(getattr(row, name) == getattr(same, name) for name in (*WORDS, "phases")):
        return True
    events = LifecycleEvent.objects.filter(methodology=same, kind=LifecycleKind.DEDUPLICATED).order_by("-pk")
    words = {name: redact_text(getattr(row, name)) for name in WORDS}
    return any(words.items() <= details.items() for details in events.values_list("details", flat=True)[:MAX_EVENTS])


def text_of(row: Methodology) -> str:
    """Return a methodology as a preview shows it."""
    return f"{row.name}: {row.methodology}"


def row_of(row: Methodology, further: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row that would be written, for the plan."""
    columns = {name: further[name] for name in further.keys() - set(MOMENTS)}
    return {
        "content": text_of(row),
        **{name: getattr(row, name) for name in (*SAID, "methodology")},
        **columns,
    }


def store(judged: Sequence[Judged], writing: Writing) -> list[Details]:
    """Create them; each leaves an audit row of its own too, by which a roll-back finds it."""
    stored: list[Details] = []
    for each in judged:
        details = {"run": writing.run, "channel": each.plan.channel.value}
        created = create_methodology(
            draft=each.payload,
            actor=writing.actor,
            now=writing.now,
            origin=f"{IMPORT_ORIGIN}{each.plan.path}",
            details=details,
            by_words=False,
        )
        if created.is_new:
            imported = Move(created.row, LifecycleKind.IMPORTED, details=details)
            apply_moves([imported], actor=writing.actor, now=writing.now)
        stored.append({"methodology": created.row.uid, "count": 0})
    return stored


METHODOLOGIES = Serialiser(KIND, f"{FOLDER}/", export, judge, store)
