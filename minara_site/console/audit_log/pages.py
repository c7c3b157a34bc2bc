"""The list of acts: its columns and filters, and what a row shows.

Each filter walks an index of the log; a name is looked up first, because a join would have to sort every row.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.memories.selectors import reason_label
from memory_app.snapshot.selectors import count_rows_of
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.users import find_user_id
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.table import load_acts
from minara_site.shell.owners import user_filter
from minara_site.web.filters import Rows, choice, dates
from minara_site.web.lists import Column, Empty, Filter, FilterKind, ListSpec, newest_first
from minara_site.web.moments import number_label


def by_actor(rows: Rows, value: str) -> Rows:
    """Keep what one actor did: `key:…`, `job:…`, `command:…`, `user:<id>`, or the name of a user."""
    if ":" in value:
        return rows.filter(actor=value)
    user_id = find_user_id(value)
    return rows.filter(actor=value if user_id is None else f"user:{user_id}")


def by_request(rows: Rows, value: str) -> Rows:
    """Keep what one request did; the second condition is that of the index."""
    return rows.filter(~Q(request_id=""), request_id=value)


ENTRIES = ListSpec(
    name="entries",
    caption=gettext_lazy("Audit log"),
    row="console/audit_log/_row.html",
    columns=(
        Column(gettext_lazy("What was done")),
        Column(gettext_lazy("By")),
        Column(gettext_lazy("Owner")),
        Column(gettext_lazy("Request")),
        Column(gettext_lazy("When"), numeric=True),
    ),
    sorts=(newest_first("at"),),
    filters=(
        Filter("actor", gettext_lazy("By"), FilterKind.TEXT, apply=by_actor),
        choice(
            "act",
            gettext_lazy("What"),
            lambda: [(act.name, act.label) for act in load_acts().values()],
            lookup="tool_call",
        ),
        user_filter("owner", gettext_lazy("Owner")),
        Filter(
            "request",
            gettext_lazy("Request"),
            FilterKind.TEXT,
            apply=by_request,
        ),
        *dates("at", gettext_lazy("Done after"), gettext_lazy("Done before")),
    ),
    empty=Empty(
        "log",
        gettext_lazy("Nothing is recorded yet"),
        gettext_lazy("Every write by a person, an agent or an import is listed here, for good."),
    ),
    has_actions=False,
)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An act as the pages show it; `words` is empty for one that no app declares."""

    entry: AuditEntry
    actor: str
    words: str
    reason: str
    rows: str

    @property
    def pk(self) -> int:
        return int(self.entry.pk)


def shape_entries(entries: Iterable[AuditEntry], *, reader: User) -> list[EntryRow]:
    """Return acts as the pages show them. Two queries at most."""
    entries = list(entries)
    acts, names = load_acts(), name_actors({entry.actor for entry in entries}, reader=reader)
    return [
        EntryRow(
            entry,
            names[entry.actor],
            str(acts[entry.tool_call].label) if entry.tool_call in acts else "",
            reason_label(entry.reasoning),
            rows_label(entry.details),
        )
        for entry in entries
    ]


def rows_label(details: dict[str, Any]) -> str:
    """Return how many rows an act stands for, when these are more than one."""
    count = count_rows_of(details)
    return _("%(number)s rows") % {"number": number_label(count)} if count > 1 else ""
