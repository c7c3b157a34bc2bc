"""What is new about an owner, and how it looks: rebuilds by run, and what agents, imports and jobs wrote.

Bounded, whatever is stored.
"""

from datetime import datetime
from typing import Any

from django.db.models import Max, Q, Sum
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.models import Learning
from learning_app.preferences.core import PREFERENCE_KIND, PREFERENCE_ORIGIN
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.labels import DIMENSIONS, SOURCES
from learning_app.vocabulary import PreferenceDimension, PreferenceSource, PreferenceState
from memory_app.memories.core import MEMORY_KIND
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.core.vocabulary import RUN_ORIGIN, WriterKind, writer_kind
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.turns import turn_link
from minara_site.web.labels import enumeration
from profile_app.documents.core import PROFILE_SUMMARY
from profile_app.documents.models import Document
from profile_app.portrait.models import UserTag
from profile_app.portrait.pages.tags import NAMES, anchor_of, value_label
from profile_app.rebuild.changes import TAG, tag_key
from profile_app.rebuild.labels import DROPPED, FLOWS, outcome_label
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.pages.profile import SUMMARY_LABELS

MAX_RUNS, MAX_ROWS = 50, 200
OPEN = (PreferenceState.PROPOSED, PreferenceState.ACTIVE)
WRITERS = {
    WriterKind.AGENT: gettext_lazy("Written by agents"),
    WriterKind.IMPORT: gettext_lazy("Imported"),
    WriterKind.JOB: gettext_lazy("Written by jobs and reflections"),
    WriterKind.PERSON: gettext_lazy("Written by commands"),
}


def load_groups(owner: User, reader: User, *, since: datetime, run_id: int | None) -> tuple[list[dict[str, Any]], bool]:
    """Return what is new since a moment, or of one run, the newest first, and whether there is more. Eight queries.

    Lines go together that one run wrote, or one kind of writer. A memory that stands for a preference is left out: the
    preference is shown. Texts of another owner are masked. Raises NotFound where there is no such run.
    """
    of_run, of_row, of_tag, of_preference = (
        Q(started_at__gt=since),
        Q(created_at__gt=since),
        Q(updated_at__gt=since),
        Q(created_at__gt=since) | Q(decided_at__gt=since),
    )
    if run_id is not None:
        of_run, of_row, of_tag = Q(pk=run_id), Q(metadata__run=run_id), Q(origin=f"{RUN_ORIGIN}{run_id}")
    runs = list(RebuildRun.objects.for_owner(owner).filter(of_run).order_by("-pk")[:MAX_RUNS])
    if run_id is not None and not runs:
        raise NotFound(_("There is no such run."))
    own = f"user:{owner.pk}"
    found: list[tuple[Any, Any]] = [
        (tag_line, UserTag.objects.filter(of_tag)),
        (memory_line, Memory.objects.filter(of_row, deleted_at=None).exclude(origin__startswith=PREFERENCE_ORIGIN)),
    ]
    if run_id is None:
        open_ones = Preference.objects.filter(of_preference, state__in=OPEN).exclude(decided_by=own)
        found += [(learned_line, open_ones), (learned_line, Learning.objects.filter(of_row, deleted_at=None))]
    written = [list(rows.for_owner(owner).exclude(actor=own).order_by("-pk")[: MAX_ROWS + 1]) for _line, rows in found]
    lines = [
        line(masked_for(reader, row))
        for (line, _rows), kept in zip(found, written, strict=True)
        for row in kept[:MAX_ROWS]
    ]
    groups: dict[Any, dict[str, Any]] = {run.pk: run_group(run) for run in runs}
    by_subject = {run.subject: groups[run.pk] for run in runs}
    for made in ChangeSet.objects.filter(run__in=by_subject):
        by_subject[made.run]["set_id"] = made.pk
    usage = LlmUsage.objects.filter(subject__in=by_subject).values("subject")
    tokens = Sum("input_tokens") + Sum("output_tokens")
    for cost in usage.annotate(model=Max("model"), tokens=tokens, usd=Sum("cost_usd")):
        by_subject[cost["subject"]]["cost"] = cost
    said = {(run.pk, line["kind"], line["key"]): line for run in runs for line in run.wrote}
    shown = str if owner == reader else mask
    for line in lines:
        row, told = line["row"], said.get((line["run"], line["kind"], line["key"]), {})
        writer = writer_kind(actor=row.actor, source=line["source"], origin=row.origin)
        group = groups.get(line["run"]) or groups.setdefault(writer, {"title": WRITERS[writer], "lines": []})
        note = shown(line.get("quote") or told.get("evidence", ""))
        group["lines"].append(line | {"note": note, "is_of_run": bool(told)})
    texts = {str(row.pk): row for row in Document.objects.for_owner(owner).filter(kind=PROFILE_SUMMARY)}
    for (run_pk, kind, key), told in said.items():
        text = texts.get(key) if kind == PROFILE_SUMMARY else None
        if text and content_digest(text.content) == told["hash"]:
            line = {"kind": kind, "key": key, "row": text, "title": SUMMARY_LABELS[text.name], "is_of_run": True}
            groups[run_pk]["lines"].append(line | {"text": shown(text.content)})
    return list(groups.values()), len(runs) == MAX_RUNS or any(len(rows) > MAX_ROWS for rows in written)


def run_group(run: RebuildRun) -> dict[str, Any]:
    """Return a run in words: what became of it, what it read, and what of the answer did not count."""
    return {
        "run": run,
        "title": FLOWS[run.flow],
        "outcome": outcome_label(run),
        "trades": sum(run.read.get("new", {}).values()),
        "names": enumeration(str(NAMES[name]) for name in run.read.get("dimensions", ())),
        "dropped": [(DROPPED[why], count) for why, count in run.dropped.items()],
        "lines": [],
    }


def tag_line(tag: UserTag) -> dict[str, Any]:
    """Return a tag as its line shows it, with the run that inferred it."""
    return {
        "kind": TAG,
        "key": tag_key(tag.owner_id, tag.name),
        "row": tag,
        "run": parse_number(tag.origin, after=RUN_ORIGIN),
        "title": NAMES[tag.name],
        "text": value_label(tag.name, tag.value),
        "anchor": anchor_of(tag.name),
        "source": tag.source,
    }


def memory_line(memory: Memory) -> dict[str, Any]:
    """Return a memory as its line shows it, with the run that wrote it and the words that say it."""
    about = memory.metadata or {}
    return {
        "kind": MEMORY_KIND,
        "key": str(memory.pk),
        "row": memory,
        "run": about.get("run"),
        "quote": about.get("quote"),
        "text": memory.content,
        "turn_url": turn_link(memory.origin)[1],
        "source": memory.source,
    }


def learned_line(row: Preference | Learning) -> dict[str, Any]:
    """Return a preference or a learning as its line shows it."""
    said_in, turn_url = turn_link(row.origin)
    line = {"key": str(row.pk), "row": row, "run": None, "quote": said_in, "turn_url": turn_url}
    if isinstance(row, Learning):
        return line | {"kind": LEARNING_KIND, "title": row.name, "text": row.trigger, "source": None}
    title, source = DIMENSIONS[PreferenceDimension(row.dimension)], SOURCES[PreferenceSource(row.source)]
    return line | {"kind": PREFERENCE_KIND, "title": title, "text": row.statement, "source": source}
