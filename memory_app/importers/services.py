"""Judge what an import found and store what is new, slice by slice. Running it again stores nothing twice."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.importers.adapters import Bundle, Found
from memory_app.importers.core.entries import Item, LeftOut, ProfileValue, Refusal, Skip, TableRow
from memory_app.importers.tables import load_tables
from memory_app.memories.core import is_hard_constraint
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_given_up
from memory_app.memories.services import SLICE, Draft, build_memory, store_memories
from memory_app.user_profile.models import guarded_text
from memory_app.user_profile.selectors import list_known
from memory_app.user_profile.services import MAX_ENTRIES, clean_key, clean_value, set_entry, take_turns
from memory_app.writes.services.brought_in import note_brought_in, source_of_import
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import IMPORT_ORIGIN, Provenance
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.guard import core as guard

MAX_AHEAD = timedelta(days=1)  # a day that has begun somewhere
MAX_NAME_CHARS = 160
LEFT_OUT = {
    LeftOut.DELETED: gettext_lazy("it was deleted there"),
    LeftOut.ARCHIVED: gettext_lazy("it is archived there"),
    LeftOut.PAUSED: gettext_lazy("it is paused there"),
}


class Verdict(StrEnum):
    """What becomes of an entry."""

    NEW = "new"
    HELD = "held"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    SKIPPED = "skipped"


STORED = frozenset({Verdict.NEW, Verdict.HELD})


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one entry: where it stands, why it is not new, what it is (a category or `key =`) and says.

    `place` is the id that the file gives it, else its line; empty for the file itself.
    """

    file: str
    line: int
    place: str
    verdict: Verdict
    reason: str = ""
    kind: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entry on its way to a verdict: an unsaved row, a profile value, a row of another table, or why it is none."""

    found: Found
    row: Memory | None = None
    value: ProfileValue | None = None
    other: TableRow | None = None
    problem: str = ""
    verdict: Verdict = Verdict.REJECTED


@dataclass(frozen=True, slots=True)
class Known:
    """What the owner has already, and what this import has found new: memories by hash, profile values by key."""

    stored: Mapping[str, Memory] = field(default_factory=dict)
    given_up: Mapping[str, Memory] = field(default_factory=dict)  # by text: what its owner deleted or corrected
    is_own: bool = False
    profile: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # hashes, and the keys of rows of other tables


def run_import(
    *,
    owner: User,
    bundle: Bundle,
    apply: bool,
    now: datetime,
    actor: str,
    run: str = "",
    file: str = "",
    planned: Iterator[Verdict] | None = None,
) -> Iterator[Judgement]:
    """Judge every entry and, when applied, store the new ones; those that the guard refuses wait for an operator.

    `planned` are the verdicts that somebody saw: nothing is stored that they did not see stored, else Conflict.
    What somebody else than the owner imports is told the owner, with the name of the `file`.

    A verdict is given after its slice is committed; an import that was stopped goes on where it stood when it is
    run again, because what is stored already is a duplicate.
    """
    known, run, written = Known(), run or secrets.token_hex(8), 0
    while chosen := list(islice(bundle.found, SLICE)):
        prepared = [
            prepare(
                found,
                owner=owner,
                now=now,
                actor=actor,
            )
            for found in chosen
        ]
        with transaction.atomic() if apply else nullcontext():
            if apply:  # of two imports into one owner, neither misses what the other stores
                take_turns(owner)
            known = look_up(prepared, owner=owner, before=known, actor=actor, now=now)
            judged = [judge(one, known, owner) for one in prepared]
            if planned is not None:
                check_planned(judged, planned, written)
            if apply:
                new = [one for one, verdict in zip(prepared, judged, strict=True) if verdict.verdict in STORED]
                written += len(new)
                details = {"from": bundle.format.value, "run": run}
                store(
                    new,
                    owner=owner,
                    now=now,
                    actor=actor,
                    details=details,
                )
                memories, values = sum(one.row is not None for one in new), sum(one.value is not None for one in new)
                note_brought_in(
                    owner=owner,
                    run=run,
                    actor=actor,
                    file=file,
                    memories=memories,
                    values=values,
                    now=now,
                )
        yield from judged


def prepare(
    found: Found,
    *,
    owner: User,
    now: datetime,
    actor: str,
) -> Prepared:
    """Build the row of an entry, every field checked."""
    item = found.item
    if isinstance(item, Refusal | TableRow):
        return Prepared(found, other=item) if isinstance(item, TableRow) else Prepared(found, problem=item.reason)
    if isinstance(item, Skip):
        return Prepared(
            found,
            problem=str(LEFT_OUT[item.why]),
            verdict=Verdict.SKIPPED,
        )
    try:
        if isinstance(item, ProfileValue):
            return Prepared(
                found,
                value=ProfileValue(
                    item.line,
                    clean_key(item.key),
                    clean_value(item.value),
                ),
            )
        if any(moment > now + MAX_AHEAD for moment in (item.written_at, item.changed_at) if moment):
            return Prepared(found, problem=_("its date lies in the future"))
        origin = f"{IMPORT_ORIGIN}{found.file[:MAX_NAME_CHARS]}:{place_of(item)}"
        draft = Draft(
            category=item.category,
            content=item.content,
            provenance=Provenance(source_of_import(owner, actor), actor, origin),
            fact_type=item.fact_type,
            tickers=item.tickers,
            metadata=item.metadata,
            written_at=min(item.written_at, now) if item.written_at else None,
            changed_at=min(item.changed_at, now) if item.changed_at else None,
        )
        row = build_memory(owner_id=owner.pk, draft=draft, now=now)
        problem = _("a hard constraint comes only with an export of Minara, at its owner's word")
        return Prepared(found, problem=problem) if is_hard_constraint(row.fact_type) else Prepared(found, row)
    except Invalid as error:
        return Prepared(found, problem=error.detail)


def check_planned(
    judged: Sequence[Judgement],
    planned: Iterator[Verdict],
    written: int,
) -> None:
    """Raise Conflict, with how many were written before, when something would be stored that was shown otherwise."""
    for one in judged:
        shown = next(planned, None)
        if one.verdict in STORED and one.verdict is not shown:
            problem = _("This changed since you opened it: preview again.")
            if written:
                problem = _(
                    "Something changed since the preview. %(count)d entries were imported before it; look at the rest."
                ) % {"count": written}
            raise Conflict(problem, code="stale")


def place_of(item: Item) -> str:
    """Return where an entry stands in its file, empty for the file itself."""
    return item.id or (str(item.line) if item.line else "")


def look_up(prepared: Sequence[Prepared], *, owner: User, before: Known, actor: str, now: datetime) -> Known:
    """Read what the owner has of this slice, or gave up; what the import found before stays known."""
    rows = [one.row for one in prepared if one.row]
    same = Memory.objects.for_owner(owner).filter(content_hash__in=[row.content_hash for row in rows])
    stored = {row.content_hash: row for row in same.only("content_hash", "deleted_at")}
    given_up = find_given_up(owner, [row.content for row in rows if row.content_hash not in stored], now=now)
    profile = before.profile
    if any(one.value for one in prepared):
        entries = list_known(owner=owner)
        profile |= {key: value or waiting for key, value, waiting in entries.values_list("key", "value", "held_value")}
    return Known(stored, given_up, actor == f"user:{owner.pk}", profile, before.seen)


def judge(one: Prepared, known: Known, owner: User) -> Judgement:
    """Return the verdict on an entry; a new one becomes known."""
    verdict, reason, kind, text = one.verdict, one.problem, "", ""
    if one.value:
        verdict, reason = judge_value(one.value, known)
        if verdict is Verdict.NEW and guard.judge(guarded_text(one.value.key, one.value.value)).is_held:
            verdict, reason = Verdict.HELD, held_label()
        kind, text = f"{one.value.key} =", one.value.value
    elif one.row:
        verdict, reason = judge_memory(one.row, known)
        if verdict is Verdict.NEW and one.row.held_at:
            verdict, reason = Verdict.HELD, held_label()
        kind, text = f"[{one.row.category}]", one.row.content
    elif one.other:
        verdict, reason = judge_row(one.other, known, owner)
        kind, text = f"{one.other.key} =", one.other.value
    item = one.found.item
    return Judgement(
        one.found.file,
        item.line,
        place_of(item),
        verdict,
        reason,
        kind,
        text,
    )


def held_label() -> str:
    """Return what becomes of an entry that the guard refuses."""
    return _("an operator releases or discards it")


def judge_memory(row: Memory, known: Known) -> tuple[Verdict, str]:
    """Say whether the owner has this text already, the trash included, or gave it up in another category."""
    if same := known.stored.get(row.content_hash) or known.given_up.get(row.content):
        place = _("in the trash as memory %(id)d") if same.deleted_at else _("stored as memory %(id)d")
        if same.deleted_at and known.is_own:
            place = _("in the trash as memory %(id)d; restore it there")
        return Verdict.DUPLICATE, place % {"id": same.pk}
    if row.content_hash in known.seen:
        return Verdict.DUPLICATE, _("the same as an entry above")
    known.seen.add(row.content_hash)
    return Verdict.NEW, ""


def judge_value(item: ProfileValue, known: Known) -> tuple[Verdict, str]:
    """Say whether the profile can take this value; what it says already is never overwritten."""
    if item.key in known.profile:
        if known.profile[item.key] == item.value:
            return Verdict.DUPLICATE, _("the user profile says so")
        otherwise = _("the user profile does not match: %(value)s")
        return Verdict.REJECTED, otherwise % {"value": guarded_text(item.key, known.profile[item.key])}
    if len(known.profile) >= MAX_ENTRIES:
        return Verdict.REJECTED, _("the user profile has %(most)d entries") % {"most": MAX_ENTRIES}
    known.profile[item.key] = item.value
    return Verdict.NEW, ""


def judge_row(row: TableRow, known: Known, owner: User) -> tuple[Verdict, str]:
    """Say whether a row of another table is new; of two about the same the first counts."""
    mark = f"{row.table}:{row.key}"
    if mark in known.seen:
        return Verdict.DUPLICATE, _("the same as an entry above")
    known.seen.add(mark)
    reason = load_tables()[row.table].find_duplicate(row, owner=owner)
    return (Verdict.DUPLICATE if reason else Verdict.NEW), reason


def store(
    new: Sequence[Prepared],
    *,
    owner: User,
    now: datetime,
    actor: str,
    details: Mapping[str, Any],
) -> None:
    """Write the new entries of a slice; each audit row names the run, so that the run can be taken back."""
    for one in new:
        if one.value:
            set_entry(
                owner=owner,
                key=one.value.key,
                value=one.value.value,
                actor=actor,
                now=now,
                details=details,
            )
        if one.other:
            load_tables()[one.other.table].store(one.other, owner=owner, now=now)
    rows = [one.row for one in new if one.row]
    if rows:
        store_memories(
            rows,
            owner_id=owner.pk,
            now=now,
            actor=actor,
            tool_call="memory_import",
            details=dict(details),
        )
