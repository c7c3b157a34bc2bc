"""What changes a user's tags: set, cleared, confirmed, undone.

Sources: S3 (`upsertTag`, `unionMarkets`), decisions (tags).

Each source says one value of a dimension at most, and the row is what the strongest of them says. What a weaker one
says waits in the events, and comes back when the stronger one is cleared. Nothing is coerced (R-32).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, invalid_field, or_not_found, refuse_problems
from minara_site.kernel.ownership import owner_locked
from profile_app.portrait.core.tags import (
    MARKETS,
    MULTIPLE,
    STRENGTH,
    SentValue,
    TagSource,
    allowed_values,
    is_valid_tag_value,
    parse_stored_tag_value,
    serialize_tag_value,
)
from profile_app.portrait.models import UserTag, UserTagEvent
from profile_app.portrait.selectors.tags import check_name, find_claim, find_tag, get_tag, list_events

UNCHANGED, OUTRANKED = "", "outranked"
UNDONE_KINDS = ("set", "confirmed", "cleared")


@dataclass(frozen=True, slots=True)
class TagChange:
    """What was done to a dimension: `kind` and id of its event (empty and 0 where nothing changed), what counts now.

    `tag` is None when nothing counts any more.
    """

    name: str
    kind: str
    tag: UserTag | None
    event_id: int = 0


def set_tag(
    *,
    owner: User,
    name: str,
    value: SentValue,
    source: TagSource,
    actor: str,
    now: datetime,
    origin: str = "",
    is_demo: bool = False,
) -> TagChange:
    """Say that a source says this value. Raises NotFound for no dimension, Invalid for no value of it."""
    check_name(name)
    if problem := value_problem(name, value):
        raise invalid_field("value", problem)
    values = {name: value}
    return set_tags(
        owner=owner,
        values=values,
        source=source,
        actor=actor,
        now=now,
        origin=origin,
        is_demo=is_demo,
    )[0]


def set_tags(
    *,
    owner: User,
    values: Mapping[str, SentValue],
    source: TagSource,
    actor: str,
    now: datetime,
    origin: str = "",
    is_demo: bool = False,
    is_audited: bool = True,
) -> list[TagChange]:
    """Say what a source says of several dimensions, all of it or nothing.

    A weaker source replaces no stronger one: what it says is kept in the history. The same word of the same source
    changes nothing. What a run records elsewhere is not `is_audited`. Raises Invalid with one error for each wrong
    value, by the name of its dimension, and NotFound.
    """
    check_values(values)
    with owner_locked(owner.pk):
        said = Said(owner, source, actor, now, origin, is_demo)
        changes = [said.write(name, serialize_tag_value(name, value)) for name, value in values.items()]
        if is_audited:
            record(changes, owner=owner, actor=actor, now=now)
    return changes


def check_values(values: Mapping[str, SentValue]) -> None:
    """Raise NotFound for no dimension, and Invalid with one error for each wrong value, by its dimension."""
    for name in values:
        check_name(name)
    refuse_problems({name: value_problem(name, value) for name, value in values.items()})


def clear_tag(
    *,
    owner: User,
    name: str,
    actor: str,
    now: datetime,
) -> TagChange:
    """Clear what counts of a dimension; what a weaker source said last comes back. Raises NotFound."""
    with owner_locked(owner.pk):
        change = end_claim(
            owner,
            get_tag(owner=owner, name=name),
            actor=actor,
            now=now,
        )
        record([change], owner=owner, actor=actor, now=now)
    return change


def withdraw_tag(
    *,
    owner: User,
    name: str,
    source: TagSource,
    actor: str,
    now: datetime,
    is_audited: bool = True,
) -> TagChange:
    """Take back what a source other than the user says of a dimension, whether it counts or not."""
    with owner_locked(owner.pk):
        claim, tag = find_claim(owner=owner, name=name, source=source), find_tag(owner=owner, name=name)
        if claim is None:
            return TagChange(name, UNCHANGED, tag)
        if tag is not None and tag.source == source:
            change = end_claim(owner, tag, actor=actor, now=now, kind="withdrawn")
        else:
            ended = {
                "value_before": claim.value,
                "source_before": source,
                "origin": claim.origin,
            }
            event = add_event(
                owner,
                name,
                "withdrawn",
                actor=actor,
                now=now,
                is_demo=claim.is_demo,
                **ended,
            )
            change = TagChange(name, "withdrawn", tag, event.pk)
        if is_audited:
            record([change], owner=owner, actor=actor, now=now)
    return change


def confirm_tag(
    *,
    owner: User,
    name: str,
    actor: str,
    now: datetime,
) -> TagChange:
    """Make what was inferred or learned the owner's own word; what is declared stays. Raises NotFound."""
    with owner_locked(owner.pk):
        tag = get_tag(owner=owner, name=name)
        change = Said(owner, TagSource.USER, actor, now).write(name, tag.value, kind="confirmed")
        record([change], owner=owner, actor=actor, now=now)
    return change


def union_markets(
    *,
    owner: User,
    values: Collection[str],
    actor: str,
    now: datetime,
) -> TagChange:
    """Add markets to the tag (S3, `unionMarkets`): none is removed, the row keeps its source; a new one is inferred.

    Raises Invalid for what is no market.
    """
    with owner_locked(owner.pk):
        tag = find_tag(owner=owner, name=MARKETS)
        if not values:
            return TagChange(MARKETS, UNCHANGED, tag)
        if problem := value_problem(MARKETS, [*dict.fromkeys(values)]):
            raise invalid_field(MARKETS, problem)
        known = parse_stored_tag_value(MARKETS, tag.value) if tag else ()
        source, origin = (TagSource(tag.source), tag.origin) if tag else (TagSource.INFERRED, "")
        change = Said(owner, source, actor, now, origin).write(
            MARKETS,
            serialize_tag_value(MARKETS, [*known, *values]),
        )
        record([change], owner=owner, actor=actor, now=now)
    return change


def undo_change(
    *,
    owner: User,
    event_id: int,
    actor: str,
    now: datetime,
) -> TagChange:
    """Give a dimension back what counted before its last change. Raises NotFound, Conflict when it changed since."""
    with owner_locked(owner.pk):
        event = or_not_found(
            list_events(owner=owner).filter(pk=event_id, kind__in=UNDONE_KINDS).first(),
            _("There is nothing left to undo."),
        )
        own = list_events(owner=owner).filter(name=event.name)
        ended_elsewhere = Q(kind="withdrawn") & ~Q(source_before=event.source)
        if own.filter(pk__gt=event.pk).exclude(Q(kind=OUTRANKED) | ended_elsewhere).exists():
            raise Conflict(_("This changed since. Nothing was changed."), code="changed")
        before = TagSource(event.source_before) if event.source_before else None
        if before and (event.kind == "cleared" or event.source == before):
            said = own.filter(pk__lt=event.pk, source=before, value=event.value_before).order_by("-pk").first()
            origin, is_demo = (said.origin, said.is_demo) if said else ("", False)
            change = Said(owner, before, actor, now, origin, is_demo).write(event.name, event.value_before)
        else:
            change = end_claim(
                owner,
                get_tag(owner=owner, name=event.name),
                actor=actor,
                now=now,
            )
        record([change], owner=owner, actor=actor, now=now)
    return change


@dataclass(frozen=True, slots=True)
class Said:
    """Who says something, and when. Its writes need the owner's lock."""

    owner: User
    source: TagSource
    actor: str
    now: datetime
    origin: str = ""
    is_demo: bool = False

    def write(self, name: str, stored: str, kind: str = "set") -> TagChange:
        """Write what the source says: into the row, or into the history alone where a stronger source counts."""
        tag = find_tag(owner=self.owner, name=name)
        said: UserTag | UserTagEvent | None = None
        if tag and tag.source == self.source:
            said = tag
        elif tag and STRENGTH[TagSource(tag.source)] > STRENGTH[self.source]:
            said, kind = find_claim(owner=self.owner, name=name, source=self.source), OUTRANKED
        if (
            said
            and said.value == stored
            and (self.source is not TagSource.LEARNED_PREFERENCE or said.origin == self.origin)
        ):
            return TagChange(name, UNCHANGED, tag)
        before = {"value_before": tag.value, "source_before": tag.source} if tag else {}
        fields = {
            "value": stored,
            "source": self.source,
            "origin": self.origin,
            "is_demo": self.is_demo,
            **before,
        }
        event = add_event(
            self.owner,
            name,
            kind,
            actor=self.actor,
            now=self.now,
            **fields,
        )
        if kind != OUTRANKED:
            tag = tag or UserTag(owner=self.owner, name=name)
            put(tag, event, now=self.now)
        return TagChange(name, kind, tag, event.pk)


def end_claim(
    owner: User,
    tag: UserTag,
    *,
    actor: str,
    now: datetime,
    kind: str = "cleared",
) -> TagChange:
    """End what counts of a dimension: the newest word of the next weaker source comes back, else the row goes."""
    weaker = [source for source in TagSource if STRENGTH[source] < STRENGTH[TagSource(tag.source)]]
    claims = (find_claim(owner=owner, name=tag.name, source=source) for source in weaker)  # the strongest first
    claim = next((claim for claim in claims if claim), None)
    comes = {"value": claim.value, "source": claim.source, "origin": claim.origin} if claim else {}
    ended = {"value_before": tag.value, "source_before": tag.source, **comes}
    is_demo = tag.is_demo and kind == "withdrawn"  # by the job that follows the demo's preference
    event = add_event(
        owner,
        tag.name,
        kind,
        actor=actor,
        now=now,
        is_demo=is_demo,
        **ended,
    )
    if claim is None:
        tag.delete()
        return TagChange(tag.name, kind, None, event.pk)
    put(tag, claim, now=now)
    return TagChange(tag.name, kind, tag, event.pk)


def put(tag: UserTag, said: UserTagEvent, *, now: datetime) -> None:
    """Let a row say what an event says."""
    tag.value, tag.source, tag.actor = said.value, said.source, said.actor
    tag.origin, tag.is_demo, tag.updated_at = said.origin, said.is_demo, now
    tag.save()


def add_event(
    owner: User,
    name: str,
    kind: str,
    *,
    now: datetime,
    **fields: Any,
) -> UserTagEvent:
    """Store what happened to a dimension."""
    return UserTagEvent.objects.create(
        owner=owner,
        name=name,
        kind=kind,
        at=now,
        **fields,
    )


def record(
    changes: Collection[TagChange],
    *,
    owner: User,
    actor: str,
    now: datetime,
) -> None:
    """Record what was done, by the names of the dimensions; one entry for each kind of act."""
    acts: dict[str, list[str]] = {}
    for change in changes:
        if change.kind:
            act = {
                OUTRANKED: "tag_outranked",
                "cleared": "tag_cleared",
                "withdrawn": "tag_cleared",
            }
            acts.setdefault(act.get(change.kind, "tag_set"), []).append(change.name)
    for act_name, names in acts.items():
        details = {"count": len(names), "names": names}
        record_audit(
            now=now,
            actor=actor,
            tool_call=act_name,
            owner_id=owner.pk,
            details=details,
        )


def value_problem(name: str, value: SentValue) -> str:
    """Return what to do about a value that its dimension does not have, empty for one that it has."""
    if is_valid_tag_value(name, value):
        return ""
    words = {"words": ", ".join(allowed_values(name))}
    return (
        _("Send a list of one or more of: %(words)s.") if name in MULTIPLE else _("Choose one of: %(words)s.")
    ) % words
