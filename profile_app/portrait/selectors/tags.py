"""Reads of tags: what counts, what each source says, the history. Sources: S3, contract (`GET /v1/profile`)."""

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import RUN_ORIGIN
from minara_site.kernel.errors import NotFound, or_not_found
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number
from minara_site.kernel.prepared import OWNER_ID, Prepared
from profile_app.portrait.core.sections import CORE_TAGS, PromptTag, only_tags
from profile_app.portrait.core.tags import SCHEMA, TagSource, labels_of, parse_stored_tag_value
from profile_app.portrait.models import UserTag, UserTagEvent

SAYS, ENDS = ("set", "outranked", "confirmed"), ("cleared", "withdrawn")
"""The kinds of events in which a source says a value, and those after which what it said counts no more."""
MAX_EVENTS = 50
_PLACE = {name: place for place, name in enumerate(SCHEMA)}


def list_tags(*, owner: Owner) -> list[UserTag]:
    """Return the tags that count, in the order of the schema. One query."""
    return sorted(UserTag.objects.for_owner(owner), key=lambda tag: _PLACE[tag.name])


def find_tag(*, owner: Owner, name: str) -> UserTag | None:
    """Return what counts of a dimension."""
    return UserTag.objects.for_owner(owner).filter(name=name).first()


def get_tag(*, owner: Owner, name: str) -> UserTag:
    """Return what counts of a dimension. Raises NotFound, also for what is no dimension."""
    check_name(name)
    return or_not_found(find_tag(owner=owner, name=name), _("There is no tag of this dimension."))


def check_name(name: str) -> None:
    """Raise NotFound for what is no dimension."""
    if name not in SCHEMA:
        raise NotFound(_("There is no such dimension."))


def find_claim(*, owner: User, name: str, source: TagSource) -> UserTagEvent | None:
    """Return the event in which a source said last what it still says, whether that counts or not. One query."""
    last = find_last(owner=owner, name=name, source=source)
    return last if last and last.kind in SAYS else None


def find_last(*, owner: User, name: str, source: TagSource) -> UserTagEvent | None:
    """Return the last event in which a source said something of a dimension, or after which it counts no more."""
    about = Q(kind__in=SAYS, source=source) | Q(kind__in=ENDS, source_before=source)
    return list_events(owner=owner).filter(about, name=name).order_by("-pk").first()


def list_events(*, owner: Owner) -> Any:
    """Return what happened to the tags of an owner, unordered."""
    return UserTagEvent.objects.for_owner(owner)


def load_history(*, owner: Owner) -> dict[str, list[UserTagEvent]]:
    """Return the newest 50 events of each dimension, the newest first. One query."""
    place = Window(
        RowNumber(),
        partition_by=F("name"),
        order_by=F("pk").desc(),
    )
    newest = list_events(owner=owner).annotate(place=place).filter(place__lte=MAX_EVENTS).order_by("-pk")
    history: dict[str, list[UserTagEvent]] = {}
    for event in newest:
        history.setdefault(event.name, []).append(event)
    return history


def load_evidence(*, owner: Owner, tags: Iterable[UserTag]) -> dict[str, str]:
    """Return by dimension the sentence with which a rebuild inferred the tag that counts. One query.

    Runs are a table of the rebuilds, which stand above the portrait: reached by its name, never imported.
    """
    runs = {tag.name: run_id for tag in tags if (run_id := parse_number(tag.origin, after=RUN_ORIGIN))}
    if not runs:
        return {}
    model: Any = apps.get_model("profile_app", "RebuildRun")
    wrote = dict(model.objects.for_owner(owner).filter(pk__in=runs.values()).values_list("pk", "wrote"))
    return {
        line["name"]: line["evidence"]
        for name, run_id in runs.items()
        for line in wrote.get(run_id, ())
        if line["name"] == name and "evidence" in line
    }


def prompt_tags(owner_id: int) -> list[PromptTag]:
    """Return what a prompt says of an owner: declared tags first, each group in the order of the schema. One query."""
    return sorted(
        COUNTING.ask(owner_id=owner_id),
        key=lambda tag: (not tag.is_declared, _PLACE[tag.name]),
    )


def stable_tags(owner_id: int) -> list[PromptTag]:
    """Return the tags of the stable text: with intent gating the core ones, else all. One query."""
    tags = prompt_tags(owner_id)
    return only_tags(tags, CORE_TAGS) if settings.MINARA.chat_intent_gating_enabled else tags


COUNTING = Prepared(
    lambda name, value, source: PromptTag(
        name,
        labels_of(name, value),
        TagSource(source),
        value_of(name, value),
    ),
    lambda: [UserTag.objects.filter(owner_id=OWNER_ID).values_list("name", "value", "source")],
)


def tag_record(tag: UserTag) -> dict[str, Any]:
    """Return a tag as API and tools answer it (contract); `markets` has a list."""
    value = value_of(tag.name, tag.value)
    return {
        "name": tag.name,
        "value": value,
        "source": tag.source,
        "updated_at": tag.updated_at,
    }


def value_of(name: str, stored: str) -> str | list[str]:
    """Return a stored value as the API gives it."""
    value = parse_stored_tag_value(name, stored)
    return value if isinstance(value, str) else list(value)
