"""Which addresses an agent wrote that its owner never wrote: pages mark them as not confirmed. Source: trust P-10."""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_

from django.db.models import Q

from memory_app.memories.core.destinations import Destination, find_destinations
from memory_app.memories.models import Memory
from memory_app.user_profile.models import UserProfileEntry
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import PERSONS, USER_WRITTEN
from minara_site.kernel.ownership import Owner

NEWEST = 1_000
MAX_ASKED = 50


def find_unconfirmed(texts: Mapping[int, str], *, owner: Owner) -> dict[int, tuple[Destination, ...]]:
    """Return by row the addresses of texts by agents that the owner has not written; rows without any are left out.

    Two queries, none when there is no address. Across owners every address counts as unconfirmed.
    """
    found = {pk: find_destinations(text) for pk, text in texts.items()}
    wanted = {each.key: each.text for each in (each for row in found.values() for each in row)}
    confirmed = find_confirmed(wanted, owner=owner) if wanted and isinstance(owner, User) else set()
    doubtful = {pk: tuple(each for each in row if each.key not in confirmed) for pk, row in found.items()}
    return {pk: row for pk, row in doubtful.items() if row}


def find_unconfirmed_memories(texts: Mapping[int, str], *, owner: Owner) -> dict[int, tuple[Destination, ...]]:
    """Return what `find_unconfirmed` does, for memories of which only id and text are at hand. One query more."""
    telling = {pk: text for pk, text in texts.items() if find_destinations(text)}
    if not telling:
        return {}
    persons = Memory.objects.filter(
        by_person(),
        pk__in=telling,
        source__in=USER_WRITTEN,
    ).values_list("pk", flat=True)
    own_words = set(persons)
    return find_unconfirmed(
        {pk: text for pk, text in telling.items() if pk not in own_words},
        owner=owner,
    )


def find_confirmed(wanted: Mapping[str, str], *, owner: User) -> set[str]:
    """Return the keys of those addresses that stand in what the owner wrote.

    Looks up at most 50 of them, in the newest 1,000 memories and in the profile; the others stay unconfirmed.
    """
    asked = dict(list(wanted.items())[:MAX_ASKED])
    rows = Memory.objects.for_owner(owner).live().filter(source__in=USER_WRITTEN)
    newest = rows.filter(by_person()).order_by("-updated_at", "-id").values("pk")[:NEWEST]
    entries = UserProfileEntry.objects.for_owner(owner).filter(by_owner(owner))
    said = [
        *Memory.objects.filter(containing("content", asked.values()), pk__in=newest).values_list("content", flat=True),
        *entries.filter(containing("value", asked.values())).values_list("value", flat=True),
    ]
    return {each.key for text in said for each in find_destinations(text)} & asked.keys()


def by_person() -> Q:
    """Return the condition of rows that a person's own hands wrote last."""
    return reduce(or_, (Q(actor__startswith=kind) for kind in PERSONS))


def by_owner(owner: User) -> Q:
    """Return the condition of rows that this owner wrote last: `is_owner` as a condition."""
    return Q(actor=f"user:{owner.pk}") | (Q(actor__startswith="command:") if owner.is_default else Q(pk__in=()))


def containing(field: str, texts: Iterable[str]) -> Q:
    """Return the condition of rows that hold one of the texts, in whatever case."""
    return reduce(or_, (Q(**{f"{field}__icontains": text}) for text in texts))
