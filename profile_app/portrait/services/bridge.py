"""The tags that stand for active preferences: written and withdrawn as the preferences go.

Source: decisions (preferences).

The preferences decide; this only follows them, like the memories that stand for them. Of the active soft preferences of
a dimension the one that was decided last speaks; a hard constraint is a limit and writes no tag.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Any

from learning_app.preferences.core import PREFERENCE_ORIGIN
from learning_app.preferences.models import Preference
from learning_app.vocabulary import PreferenceDimension, PreferenceKind
from minara_site.access.models import User
from minara_site.kernel.ownership import owner_locked
from profile_app.portrait.core.bridge import BRIDGE, TAG_OF, tag_of
from profile_app.portrait.core.tags import TagSource, TagValue, parse_stored_tag_value
from profile_app.portrait.models import UserTagEvent
from profile_app.portrait.selectors.tags import SAYS, find_last
from profile_app.portrait.services.tags import set_tag, withdraw_tag

ACTOR = f"job:{BRIDGE}"
LEARNED = TagSource.LEARNED_PREFERENCE
MAX_FOLLOWED = 500
"""As many dimensions are brought in step in one sweep; the next one goes on."""


def bridge_tags(*, now: datetime, ids: Sequence[int] | None = None) -> dict[str, int]:
    """Bring tags in step with these preferences, or with active ones whose tag was never written.

    One short transaction for each dimension of an owner; repeating changes nothing. Return what was done to how many.
    """
    rows = Preference.objects.filter(dimension__in=TAG_OF)
    if ids is None:
        places = list(islice(find_unwritten(soft(rows)), MAX_FOLLOWED))
    else:
        places = sorted(set(rows.filter(pk__in=ids).values_list("owner_id", "dimension")))
    owners = User.objects.in_bulk({owner_id for owner_id, _dimension in places})
    done = Counter(
        follow(
            owner=owners[owner_id],
            dimension=PreferenceDimension(dimension),
            now=now,
        )
        for owner_id, dimension in places
        if owner_id in owners
    )
    done.pop("", None)
    return dict(done)


def bridge_owner(*, owner: User, now: datetime) -> int:
    """Bring every tag of an owner in step with their preferences; return how many were written or withdrawn."""
    return sum(bool(follow(owner=owner, dimension=dimension, now=now)) for dimension in TAG_OF)


def follow(*, owner: User, dimension: PreferenceDimension, now: datetime) -> str:
    """Let a tag say what the preferences of a dimension say; return `written`, `withdrawn`, or nothing done.

    What a person cleared stays cleared until a preference is activated after that.
    """
    name = TAG_OF[dimension]
    with owner_locked(owner.pk):
        last = find_last(owner=owner, name=name, source=LEARNED)
        rows = soft(Preference.objects.filter(owner=owner, dimension=dimension))
        if last is not None and last.kind == "cleared":
            rows = rows.filter(decided_at__gt=last.at)
        wanted = next(speaking(rows.order_by("-decided_at", "-pk")), None)
        claim = last if last is not None and last.kind in SAYS else None
        if wanted is None:
            withdraw_tag(
                owner=owner,
                name=name,
                source=LEARNED,
                actor=ACTOR,
                now=now,
            )
            return "withdrawn" if claim else ""
        row, value = wanted
        if claim is not None and claim.origin == origin_of(row) and says_so(claim, value):
            return ""
        set_tag(
            owner=owner,
            name=name,
            value=value,
            source=LEARNED,
            actor=ACTOR,
            now=now,
            origin=origin_of(row),
            is_demo=row.is_demo,
        )
        return "written"


def soft(rows: Any) -> Any:
    """Keep the soft preferences in force."""
    return rows.active().filter(kind=PreferenceKind.SOFT_PREFERENCE)


def speaking(rows: Iterable[Preference]) -> Iterator[tuple[Preference, TagValue]]:
    """Yield the preferences that say something of a tag, with its value."""
    for row in rows:
        if tag := tag_of(row.dimension, row.statement):
            yield row, tag[1]


def says_so(claim: UserTagEvent, value: TagValue) -> bool:
    """Say whether a tag has the value already; markets that were added to it later stay."""
    stored = parse_stored_tag_value(claim.name, claim.value)
    return stored == value if isinstance(value, str) else set(value) <= set(stored)


def find_unwritten(rows: Any) -> Iterator[tuple[int, str]]:
    """Yield the owner and dimension of preferences that speak and whose tag was never written. A query an owner."""
    ordered = rows.order_by("owner_id", "dimension", "-decided_at", "-pk")
    for owner_id, own in groupby(ordered.iterator(), lambda row: row.owner_id):
        newest = {dimension: next(speaking(same), None) for dimension, same in groupby(own, lambda row: row.dimension)}
        origins = {origin_of(found[0]): dimension for dimension, found in newest.items() if found}
        events = UserTagEvent.objects.filter(owner_id=owner_id, origin__in=origins)
        written = set(events.values_list("origin", flat=True))
        yield from ((owner_id, dimension) for origin, dimension in origins.items() if origin not in written)


def origin_of(row: Preference) -> str:
    """Return how a tag names the preference that it was read out of."""
    return f"{PREFERENCE_ORIGIN}{row.pk}"
