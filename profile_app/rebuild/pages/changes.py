"""How what is new about an owner looks: groups with their lines, and what can be done about each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from memory_app.memories.core import MEMORY_KIND
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import USER_WRITTEN, WriterKind
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.shell.turns import turn_link
from minara_site.web.labels import enumeration
from minara_site.web.moments import cost_label, number_label
from profile_app.documents.core import PROFILE_SUMMARY
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.pages.tags import NAMES, anchor_of, value_label
from profile_app.rebuild.changes import TAG
from profile_app.rebuild.core import Flow
from profile_app.rebuild.labels import DROPPED, FLOWS, outcome_label, run_url
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.news import NewGroup, NewRow
from profile_app.rebuild.pages.profile import SUMMARY_LABELS

WRITERS = {
    WriterKind.AGENT: gettext_lazy("Written by agents"),
    WriterKind.IMPORT: gettext_lazy("Imported"),
    WriterKind.JOB: gettext_lazy("Written by jobs and reflections"),
    WriterKind.PERSON: gettext_lazy("Written by commands"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One new row. The addresses of what can be done about it are empty where it cannot; `note` is the evidence."""

    title: Any
    text: str
    note: str
    source: str
    at: datetime
    url: str
    is_held: bool
    evidence_url: str = ""
    keep: str = ""
    wrong: str = ""
    forget: str = ""
    forget_act: str = ""
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that go together: of a run with what it read and cost, or of one kind of writer."""

    run: RebuildRun | None
    url: str
    title: Any
    outcome: str
    facts: Sequence[str]
    undo: str
    lines: Sequence[Line]


def shape_group(group: NewGroup, *, owner: User, reader: User) -> Group:
    """Return a group in words; texts of another owner are masked, and nothing is done about them."""
    run, is_own = group.run, owner == reader
    lines = [shape_line(row, group.set_id, reader=reader, is_own=is_own) for row in group.rows]
    if run is None:
        return Group(None, "", WRITERS[group.writer], "", (), "", lines)
    undo = reverse("undo", args=[group.set_id]) if group.set_id and is_own and lines else ""
    return Group(
        run,
        run_url(run, owner, is_own=is_own),
        FLOWS[Flow(run.flow)],
        outcome_label(run.outcome, run.reason),
        list_facts(run, group.cost),
        undo,
        lines,
    )


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
        tokens = number_label(cost["input"] + cost["output"])
        said.append(
            _("%(model)s, %(n)s tokens, %(usd)s")
            % {"model": cost["model"], "n": tokens, "usd": cost_label(cost["usd"])}
        )
    return said


def shape_line(new: NewRow, set_id: int | None, *, reader: User, is_own: bool) -> Line:
    """Return a row in words, with what its owner can do about it."""
    row, said = masked_for(reader, new.row) if new.kind == MEMORY_KIND else new.row, new.said
    undo = f"{reverse('undo', args=[set_id])}?{urlencode({'kind': new.kind, 'key': new.key})}" if set_id else ""
    undo = undo if is_own and said else ""
    if new.kind == TAG:
        tags, acts = reverse("tags:page"), is_own and row.source != TagSource.USER
        return Line(
            NAMES[row.name],
            value_label(row.name, row.value),
            said.get("evidence", "") if is_own else mask(said.get("evidence", "")),
            row.source,
            row.updated_at,
            f"{tags}#{anchor_of(row.name)}",
            is_held=False,
            keep=reverse("tags:confirm", args=[row.name]) if acts else "",
            wrong=f"{tags}?change={row.name}#{anchor_of(row.name)}" if acts else "",
            forget=reverse("tags:clear", args=[row.name]) if acts else "",
            forget_act="tags:clear",
            undo=undo,
        )
    if new.kind == PROFILE_SUMMARY:
        text = row.content if is_own else mask(row.content)
        page = reverse("profile:page")
        return Line(SUMMARY_LABELS[row.name], text, "", "inferred", row.updated_at, page, is_held=False, undo=undo)
    acts = is_own and not row.is_hard and not row.preference_id
    quote = (row.metadata or {}).get("quote", "")
    return Line(
        "",
        row.content,
        quote if is_own else mask(quote),
        row.badge,
        row.created_at,
        reverse("memories:one", args=[row.pk]),
        is_held=row.held_at is not None,
        evidence_url=turn_link(row.origin)[1],
        keep=reverse("memories:keep", args=[row.pk])
        if acts and not row.held_at and row.source not in USER_WRITTEN
        else "",
        wrong=f"{reverse('memories:new')}?corrects={row.pk}" if acts and not row.held_at else "",
        forget=reverse("memories:delete", args=[row.pk]) if acts else "",
        forget_act="memories:delete",
        undo=undo,
    )
