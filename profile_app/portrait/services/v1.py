"""The one-off that brings tags of the first version into today's schema. Source: S3 (`migrate:user-tags-v2`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from minara_site.access.models import User
from minara_site.kernel.ownership import owner_locked
from profile_app.portrait.core.tags import STRENGTH, TagSource, serialize_tag_value
from profile_app.portrait.core.v1 import RENAMED, TagV2, is_retired, migrate_tag
from profile_app.portrait.models import UserTag, UserTagV1
from profile_app.portrait.services.tags import OUTRANKED, UNCHANGED, set_tag

ACTOR, ORIGIN = "command:migrate-user-tags-v2", "user_tags_v1"


class Verdict(StrEnum):
    """What becomes of a tag of the first version."""

    MIGRATED = "migrated"
    NOTED = "noted"  # in the history alone, because a stronger source counts
    KEPT = "kept"  # a tag that is newer, or says the same
    DROPPED = "dropped"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Migrated:
    """The verdict on a row, and what it says in today's words."""

    row: UserTagV1
    verdict: Verdict
    tag: TagV2 | None = None


def migrate_tags(*, owner: User, apply: bool, now: datetime) -> list[Migrated]:
    """Bring the owner's tags of the first version over, all or none; without `apply` say what would become of them.

    A tag in force gives way to no weaker one and to no older one of the same source. What was read is marked, so
    that the next run passes over it; what nobody knows stays as it is.
    """
    with owner_locked(owner.pk):
        tags = {tag.name: tag for tag in UserTag.objects.for_owner(owner)}
        rows = UserTagV1.objects.for_owner(owner).filter(migrated_at=None)
        done = [
            migrate(
                row,
                said,
                tags,
                owner=owner,
                apply=apply,
                now=now,
            )
            for row, said in best_first(rows)
        ]
        if apply:
            known = [each.row.pk for each in done if each.verdict is not Verdict.UNKNOWN]
            UserTagV1.objects.filter(pk__in=known).update(migrated_at=now)
    return done


def best_first(rows: Iterable[UserTagV1]) -> "list[tuple[UserTagV1, TagV2 | None]]":
    """Return rows with what they say, the strongest and newest first: of two about one dimension that one counts."""
    read = [(row, migrate_tag(row.name, row.value, row.source)) for row in rows]

    def rank(each: tuple[UserTagV1, TagV2 | None]) -> Any:
        row, said = each
        return STRENGTH[said.source] if said else 0, row.updated_at, row.name not in RENAMED, row.pk

    return sorted(read, key=rank, reverse=True)


def migrate(
    row: UserTagV1,
    said: TagV2 | None,
    tags: dict[str, UserTag],
    *,
    owner: User,
    apply: bool,
    now: datetime,
) -> Migrated:
    """Bring one row over; `tags` are those in force, and gain what comes."""
    if said is None:
        return Migrated(row, Verdict.DROPPED if is_retired(row.name) else Verdict.UNKNOWN)
    stored = serialize_tag_value(said.name, said.value)
    tag = tags.get(said.name)
    if tag is not None and tag.source == said.source and (tag.value == stored or tag.updated_at >= row.updated_at):
        return Migrated(row, Verdict.KEPT, said)
    is_weaker = tag is not None and STRENGTH[TagSource(tag.source)] > STRENGTH[said.source]
    if not apply:
        if not is_weaker:
            tags[said.name] = UserTag(
                name=said.name,
                value=stored,
                source=said.source,
                updated_at=now,
            )
        return Migrated(row, Verdict.NOTED if is_weaker else Verdict.MIGRATED, said)
    change = set_tag(
        owner=owner,
        name=said.name,
        value=said.value,
        source=said.source,
        actor=ACTOR,
        now=now,
        origin=ORIGIN,
    )
    if change.tag is not None:
        tags[said.name] = change.tag
    verdict = {OUTRANKED: Verdict.NOTED, UNCHANGED: Verdict.KEPT}.get(change.kind, Verdict.MIGRATED)
    return Migrated(row, verdict, said)
