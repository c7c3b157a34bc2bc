"""The limits that a user set: hard constraints in force, and memories that their owner labelled as such.

They bind every agent of their owner, whatever else is switched off. Sources: S1 (hard constraints), decisions (limits).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import CharField, IntegerField, TextField, Value
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from learning_app.preferences.core import PREFERENCE_KIND, PREFERENCE_ORIGIN
from learning_app.preferences.models import Preference
from learning_app.preferences.selectors import find_writers
from learning_app.vocabulary import PreferenceKind, PreferenceState
from minara_site.kernel.core.fence import fence_label, fence_text
from minara_site.kernel.core.statements import forbids
from minara_site.kernel.core.symbols import normalise_asset
from minara_site.kernel.core.tickers import EntityKind, extract_finance_entities
from minara_site.kernel.core.vocabulary import Source, provenance_label
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.ownership import lock_owner
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared

MAX_LIMITS = 30
"""As many limits an owner may have, of both sorts together."""
MEMORY = "memory"
"""The kind of memories, a table of memory_app, which stands above this app: reached by its name, never imported."""


class LimitsFull(Conflict):
    """No more limits can be in force."""

    code = "limits_full"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit in force. `tickers` are the assets that it names, `memory_ids` the memories that say it.

    `badge` says where its words come from, as badges name it.
    """

    kind: str
    row_id: int
    statement: str
    tickers: tuple[str, ...]
    since: datetime
    badge: str
    memory_ids: tuple[int, ...]

    @property
    def id(self) -> str:
        """What API and tools call it: its kind and number."""
        return f"{self.kind}:{self.row_id}"

    @property
    def line(self) -> str:
        """The line that agents read: since when, for which assets, and what it says."""
        about = [self.since.astimezone(UTC).date().isoformat(), *map(fence_label, self.tickers)]
        return f"- {', '.join(about)}: {fence_text(self.statement)}"


class LimitRow(NamedTuple):
    """A hard constraint in force, or a memory that is a limit or stands for a preference. `tickers` is JSON."""

    kind: str
    pk: int
    statement: str
    tickers: str
    since: datetime
    rules_version: str
    actor: str
    source: str
    origin: str
    text_version: int


def limit_rows() -> list[Any]:
    """Return both sorts as queries of equal columns."""
    typed = stored_kinds()[MEMORY].model.objects.limits(OWNER_ID, Parameter("actor", CharField())).live()
    columns = ("rules_version", "actor", "source", "origin")
    return [
        typed.annotate(
            kind=Value(MEMORY), said=Cast("tickers", TextField()), text_version=Value(1, output_field=IntegerField())
        ).values_list("kind", "pk", "content", "said", "updated_at", *columns, "text_version"),
        Preference.objects.filter(owner_id=OWNER_ID)
        .active()
        .filter(kind=PreferenceKind.HARD_CONSTRAINT)
        .annotate(of_kind=Value(PREFERENCE_KIND), tickers=Value("[]", output_field=TextField()))
        .values_list("of_kind", "pk", "statement", "tickers", "decided_at", *columns, "text_version"),
    ]


LIMIT_ROWS = Prepared(LimitRow, limit_rows)


def load_limits(owner_id: int) -> list[Limit]:
    """Return the limits of an owner, the oldest first. One query, two where one was edited."""
    return limits_of(load_limit_rows(owner_id), owner_id)


def load_limit_rows(owner_id: int) -> list[LimitRow]:
    """Return what an owner's limits are made of, as today's guard accepts it. One query, three after new rules."""
    found = LIMIT_ROWS.ask(owner_id=owner_id, actor=f"user:{owner_id}")
    if any(row.rules_version != guard.RULES.version for row in found):
        refused = {kind: refused_of(kind, found) for kind in (MEMORY, PREFERENCE_KIND)}
        found = [row for row in found if row.pk not in refused[row.kind]]
    return found


def is_forbidden(text: str, limits: Iterable[Limit]) -> bool:
    """Say whether a line of a text wants or does what a limit forbids."""
    return any(forbids(limit.statement, line) for limit in limits for line in text.splitlines())


def limits_of(found: Sequence[LimitRow], owner_id: int) -> list[Limit]:
    """Return the limits that these rows are, the oldest first. One query where one was edited.

    What was typed as a memory and then activated as a preference in the same words is one limit.
    """
    active = [row for row in found if row.kind == PREFERENCE_KIND]
    typed = {row.statement: row.pk for row in found if row.kind == MEMORY and not is_bridged(row)}
    bridged = {row.origin: row.pk for row in found if is_bridged(row)}
    writers, limits = find_writers(active), list[Limit]()
    for row in active:
        memory_ids = (typed.get(row.statement), bridged.get(f"{PREFERENCE_ORIGIN}{row.pk}"))
        badge = Source.USER_MANUAL if writers[row.pk] == f"user:{owner_id}" else Source.LEARNED_PREFERENCE
        limits.append(limit_of(row, badge, tuple(filter(None, memory_ids))))
    told = {limit.statement for limit in limits}
    limits += [
        limit_of(row, provenance_label(source=row.source, origin=row.origin), (row.pk,))
        for row in found
        if row.kind == MEMORY and row.statement not in told and not is_bridged(row)
    ]
    return sorted(limits, key=attrgetter("since", "kind", "row_id"))


def is_bridged(row: Any) -> bool:
    """Say whether a memory stands for a preference, and is no limit by itself."""
    return bool(row.origin.startswith(PREFERENCE_ORIGIN))


def limit_of(row: LimitRow, badge: str, memory_ids: tuple[int, ...]) -> Limit:
    """Return a row as a limit."""
    tickers = assets_of(row.statement, json.loads(row.tickers))
    return Limit(row.kind, row.pk, row.statement, tickers, row.since, badge, memory_ids)


def refused_of(kind: str, found: Sequence[LimitRow]) -> set[int]:
    """Return the ids of those rows of a kind that today's guard refuses. One query."""
    rows = stored_kinds()[kind].model.objects.filter(pk__in=[row.pk for row in found if row.kind == kind])
    return find_refused(kind, rows)


def assets_of(statement: str, tickers: Sequence[str]) -> tuple[str, ...]:
    """Return the assets that a limit names, those that it is labelled with first."""
    named = [normalise_asset(ticker) or ticker for ticker in tickers]
    found = [entity.key for entity in extract_finance_entities(statement) if entity.kind is EntityKind.TICKER]
    return tuple(dict.fromkeys([*named, *found]))


def limit_records(limits: Sequence[Limit], *, is_masked: bool) -> list[dict[str, Any]]:
    """Return limits as API and tools answer them; secrets in those of another owner are masked."""
    return [
        {
            "id": each.id,
            "statement": mask(each.statement) if is_masked else each.statement,
            "tickers": list(each.tickers),
            "since": each.since,
        }
        for each in limits
    ]


def list_typed(owner_id: int) -> list[Any]:
    """Return the memories that are limits, those that the guard holds too. One query."""
    rows = stored_kinds()[MEMORY].model.objects.limits(owner_id, f"user:{owner_id}").only("origin", "content")
    return [row for row in rows if not is_bridged(row)]


def count_limits(owner_id: int) -> int:
    """Return how many limits an owner has, those that the guard holds too. Two queries."""
    active = Preference.objects.filter(owner_id=owner_id, state=PreferenceState.ACTIVE).hard()
    statements = list(active.values_list("statement", flat=True))
    return len(statements) + sum(row.content not in statements for row in list_typed(owner_id))


def check_places(owner_id: int, *, wanted: int = 1) -> None:
    """Raise LimitsFull unless there is room for more limits, which nobody else takes meanwhile.

    Needs a transaction, which keeps the owner's lock.
    """
    lock_owner(owner_id)
    if count_limits(owner_id) + wanted <= MAX_LIMITS:
        return
    oldest = next(iter(load_limits(owner_id)), None)
    full = _("At most %(max)d limits can be in force.") % {"max": MAX_LIMITS}
    if oldest is not None:
        name = stored_kinds()[oldest.kind].title(oldest.row_id)
        full = _("%(full)s The oldest is %(name)s: archive or delete it first.") % {"full": full, "name": name}
    raise LimitsFull(full)
