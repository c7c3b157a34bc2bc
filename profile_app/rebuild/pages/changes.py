"""What is new about an owner, and how it looks: rebuilds by run, and what agents, imports and jobs wrote.

Bounded, whatever is stored.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max, Q, Sum
from django.utils.translation import gettext as _, gettext_lazy, ngettext

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
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.turns import turn_link
from minara_site.web.labels import enumeration
from minara_site.web.moments import cost_label, number_label
from profile_app.documents.core import PROFILE_SUMMARY
from profile_app.documents.models import Document
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag
from profile_app.portrait.pages.tags import NAMES, anchor_of, value_label
from profile_app.rebuild.changes import TAG, tag_key
from profile_app.rebuild.core import Flow
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


def load_rows(
    owner: User, *, since: datetime | None, run_id: int | None
) -> tuple[list[RebuildRun], list[Sequence[Any]]]:
    """Return the newest runs, then tags, memories, preferences and learnings that others wrote. Five queries.

    A memory that stands for a preference is left out: the preference is shown.
    """
    own = f"user:{owner.pk}"
    runs = RebuildRun.objects.for_owner(owner).order_by("-pk")
    tags = UserTag.objects.for_owner(owner).exclude(actor=own)
    memories = Memory.objects.for_owner(owner).filter(deleted_at__isnull=True).exclude(actor=own)
    memories = memories.exclude(origin__startswith=PREFERENCE_ORIGIN)
    preferences = Preference.objects.for_owner(owner).filter(state__in=OPEN).exclude(actor=own).exclude(decided_by=own)
    learnings = Learning.objects.for_owner(owner).filter(deleted_at__isnull=True).exclude(actor=own)
    if run_id is not None:
        runs, memories = runs.filter(pk=run_id), memories.filter(metadata__run=run_id)
        tags = tags.filter(origin=f"{RUN_ORIGIN}{run_id}")
        preferences, learnings = preferences.none(), learnings.none()
    elif since:
        runs, tags = runs.filter(started_at__gt=since), tags.filter(updated_at__gt=since)
        memories, learnings = memories.filter(created_at__gt=since), learnings.filter(created_at__gt=since)
        preferences = preferences.filter(Q(created_at__gt=since) | Q(decided_at__gt=since))
    dated = [rows.order_by("-created_at", "-pk")[: MAX_ROWS + 1] for rows in (memories, preferences, learnings)]
    return list(runs[:MAX_RUNS]), [list(rows) for rows in (tags, *dated)]


def load_groups(
    owner: User, reader: User, *, since: datetime | None = None, run_id: int | None = None
) -> tuple[list[dict[str, Any]], bool]:
    """Return what is new since a moment, or of one run, the newest first, and whether there is more. Eight queries.

    Lines go together that one run wrote, or one kind of writer. Texts of another owner are masked.
    """
    newest, found = load_rows(owner, since=since, run_id=run_id)
    sets = ChangeSet.objects.filter(run__in=[run.subject for run in newest])
    set_ids, costs = dict(sets.values_list("run", "pk")), load_costs(newest)
    groups: dict[Any, dict[str, Any]] = {
        run.pk: {
            "run": run,
            "title": FLOWS[Flow(run.flow)],
            "outcome": outcome_label(run),
            "facts": list_facts(run, costs.get(run.subject)),
            "set_id": set_ids.get(run.subject),
            "lines": [],
        }
        for run in newest
    }
    said: dict[Any, dict[str, Any]] = {
        (run.pk, line["kind"], line["key"]): line for run in newest for line in run.wrote
    }
    shown = str if owner == reader else mask
    shaped: tuple[Callable[[Any], dict[str, Any]], ...] = (tag_line, memory_line, preference_line, learning_line)
    pairs = [(shape, row) for shape, rows in zip(shaped, found, strict=True) for row in rows[:MAX_ROWS]]
    for line in (shape(masked_for(reader, row)) for shape, row in pairs):
        row, run = line["row"], line.get("run")
        told = said.get((run, line["kind"], line["key"]), {})
        writer = writer_kind(actor=row.actor, source=line["source"], origin=row.origin)
        group = groups.get(run) or groups.setdefault(writer, {"title": WRITERS[writer], "lines": []})
        note = shown(line.get("quote") or told.get("evidence", ""))
        group["lines"].append(line | {"note": note, "is_of_run": bool(told)})
    texts = {str(row.pk): row for row in Document.objects.for_owner(owner).filter(kind=PROFILE_SUMMARY)}
    for (run_pk, kind, key), told in said.items():
        text = texts.get(key) if kind == PROFILE_SUMMARY else None
        if text and content_digest(text.content) == told["hash"]:
            line = {"kind": kind, "key": key, "row": text, "title": SUMMARY_LABELS[text.name], "is_of_run": True}
            groups[run_pk]["lines"].append(line | {"text": shown(text.content)})
    is_cut = len(newest) == MAX_RUNS or any(len(rows) > MAX_ROWS for rows in found)
    return list(groups.values()), is_cut


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
        "may_act": tag.source != TagSource.USER,
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
        "source": memory.source,
        "turn_url": turn_link(memory.origin)[1],
        "may_act": not (memory.is_hard or memory.preference_id),
    }


def preference_line(row: Preference) -> dict[str, Any]:
    """Return a preference as its line shows it; a limit is decided on its own page."""
    said_in, turn_url = turn_link(row.origin)
    return {
        "kind": PREFERENCE_KIND,
        "key": str(row.pk),
        "row": row,
        "title": DIMENSIONS[PreferenceDimension(row.dimension)],
        "text": row.statement,
        "source": SOURCES[PreferenceSource(row.source)],
        "quote": said_in,
        "turn_url": turn_url,
        "may_act": not (row.is_hard or row.held_at),
    }


def learning_line(row: Learning) -> dict[str, Any]:
    """Return a learning as its line shows it."""
    said_in, turn_url = turn_link(row.origin)
    return {
        "kind": LEARNING_KIND,
        "key": row.uid,
        "row": row,
        "title": row.name,
        "text": row.trigger,
        "source": None,
        "quote": said_in,
        "turn_url": turn_url,
        "may_act": True,
    }


def load_costs(runs: list[RebuildRun]) -> dict[str, dict[str, Any]]:
    """Return by subject what runs cost: model, tokens, USD. One query."""
    usage = LlmUsage.objects.filter(subject__in=[run.subject for run in runs]).values("subject")
    sums = usage.annotate(model=Max("model"), tokens=Sum("input_tokens") + Sum("output_tokens"), usd=Sum("cost_usd"))
    return {row["subject"]: row for row in sums}


def list_facts(run: RebuildRun, cost: dict[str, Any] | None) -> list[str]:
    """Return what a run read, what of the answer did not count, and what it cost."""
    said = []
    if turns := run.read.get("turns"):
        said.append(ngettext("%(n)s turn read", "%(n)s turns read", turns) % {"n": number_label(turns)})
    if new := sum(run.read.get("new", {}).values()):
        said.append(ngettext("%(n)s new trade or fill", "%(n)s new trades and fills", new) % {"n": number_label(new)})
    if names := run.read.get("dimensions"):
        said.append(_("asked about: %(names)s") % {"names": enumeration([str(NAMES[name]) for name in names])})
    for why, count in run.dropped.items():
        said.append(_("%(why)s: %(n)s") % {"why": DROPPED[why], "n": number_label(count)})
    if cost:
        about = {"model": cost["model"], "n": number_label(cost["tokens"]), "usd": cost_label(cost["usd"])}
        said.append(_("%(model)s, %(n)s tokens, %(usd)s") % about)
    return said
