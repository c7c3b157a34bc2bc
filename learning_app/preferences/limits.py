"""The limits that a user set: hard constraints in force, and memories that their owner labelled as such.

They bind every agent of their owner, whatever else is switched off. Sources: S1 (hard constraints), decisions (limits).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.utils.translation import gettext as _

from learning_app.preferences.core import PREFERENCE_KIND, PREFERENCE_ORIGIN
from learning_app.preferences.models import Preference
from learning_app.preferences.selectors import find_writers, list_active_constraints
from learning_app.vocabulary import PreferenceState
from minara_site.kernel.core.assets import normalise_asset
from minara_site.kernel.core.tickers import EntityKind, extract_finance_entities
from minara_site.kernel.core.vocabulary import Source
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.ownership import lock_owner

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


def load_limits(owner_id: int) -> list[Limit]:
    """Return the limits of an owner that today's guard accepts, the oldest first. Three queries at most.

    What was typed as a memory and then activated as a preference is one limit.
    """
    labelled, active = list(list_labelled(owner_id)), list_active_constraints(owner_id=owner_id)
    ids = {f"{MEMORY}:{row.pk}": row.pk for row in labelled}
    ids |= {row.origin: row.pk for row in labelled if row.preference_id}
    writers = find_writers(active)
    limits = [
        Limit(
            PREFERENCE_KIND,
            row.pk,
            row.statement,
            assets_of(row.statement),
            row.decided_at or row.updated_at,
            Source.USER_MANUAL if writers[row.pk] == f"user:{owner_id}" else Source.LEARNED_PREFERENCE,
            tuple(ids[name] for name in (row.origin, f"{PREFERENCE_ORIGIN}{row.pk}") if name in ids),
        )
        for row in active
    ]
    told = {pk for limit in limits for pk in limit.memory_ids}
    typed = [row for row in labelled if row.is_limit and row.held_at is None and row.pk not in told]
    refused = find_refused(MEMORY, typed)
    limits += [
        Limit(MEMORY, row.pk, row.content, assets_of(row.content, row.tickers), row.updated_at, row.badge, (row.pk,))
        for row in typed
        if row.pk not in refused
    ]
    return sorted(limits, key=attrgetter("since", "kind", "row_id"))


def list_labelled(owner_id: int) -> Any:
    """Return the memories of an owner with the label of hard constraints, unordered."""
    return stored_kinds()[MEMORY].model.objects.labelled(owner_id)


def assets_of(statement: str, tickers: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the assets that a limit names, those that it is labelled with first."""
    named = [normalise_asset(ticker) or ticker for ticker in tickers]
    found = [entity.key for entity in extract_finance_entities(statement) if entity.kind is EntityKind.TICKER]
    return tuple(dict.fromkeys([*named, *found]))


def limit_records(limits: Sequence[Limit], *, is_masked: bool = False) -> list[dict[str, Any]]:
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


def count_limits(owner_id: int) -> int:
    """Return how many limits an owner has, those that the guard holds too. Two queries."""
    fields = ("owner_id", "actor", "source", "origin", "fact_type")
    labelled: int = sum(row.is_limit for row in list_labelled(owner_id).only(*fields))
    return labelled + int(Preference.objects.filter(owner_id=owner_id, state=PreferenceState.ACTIVE).hard().count())


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
