# ruff: noqa: N999 - Django names a command after its file
"""`minara migrate-user-tags-v2`: bring imported tags of the first version into today's schema. Source: S3."""

import sys
from collections import Counter
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.models import User
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.ownership import ALL_OWNERS
from minara_site.web.labels import sentences
from profile_app.portrait.core.tags import labels_of, serialize_tag_value
from profile_app.portrait.models import UserTagV1
from profile_app.portrait.services.v1 import Migrated, Verdict, migrate_tags

SOMETHING_UNKNOWN = 2
VERDICTS = {
    Verdict.MIGRATED: gettext_lazy("migrated"),
    Verdict.NOTED: gettext_lazy("weaker"),
    Verdict.KEPT: gettext_lazy("kept"),
    Verdict.DROPPED: gettext_lazy("dropped"),
    Verdict.UNKNOWN: gettext_lazy("unknown"),
}
REASONS = {
    Verdict.NOTED: gettext_lazy("a stronger tag counts; this one is kept in the history"),
    Verdict.KEPT: gettext_lazy("the tag in force says the same or is newer"),
    Verdict.DROPPED: gettext_lazy("this dimension was retired"),
    Verdict.UNKNOWN: gettext_lazy("these are no words of the first version: declare the tag by hand"),
}


class Command(OwnerCommand):
    """Migrate tags; a dry run without --apply."""

    help = (
        "Bring the tags that `import --from minara` left in user_tags_v1 into today's schema; a dry run unless --apply"
        " is given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare --apply and --user."""
        self.add_user(parser, "whose tags they are; all means everybody's")
        parser.add_argument("--apply", action="store_true", help="write the tags")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what becomes of each tag and a summary. Exit status 2 says that some words are unknown."""
        apply, now, counts = options["apply"], timezone.now(), Counter[Verdict]()
        for owner in self.owners(options):
            for each in migrate_tags(owner=owner, apply=apply, now=now):
                counts[each.verdict] += 1
                self.stdout.write(describe(each, owner))
        self.stdout.write(summarize(counts, apply=apply))
        if counts[Verdict.UNKNOWN]:
            sys.exit(SOMETHING_UNKNOWN)

    def owners(self, options: dict[str, Any]) -> list[User]:
        """Return whose tags are read. Raises NotFound."""
        if options["user"] != ALL_OWNERS:
            return [self.owner(options)]
        waiting = UserTagV1.objects.filter(migrated_at=None).values("owner")
        return list(User.objects.filter(pk__in=waiting).order_by("pk"))


def describe(each: Migrated, owner: User) -> str:
    """Return one line about one tag; no control character of it reaches the terminal."""
    then, today = visible(f"{each.row.name}: {each.row.value}"), ""
    if each.tag is not None:
        today = f"{each.tag.name}: {labels_of(each.tag.name, serialize_tag_value(each.tag.name, each.tag.value))}"
    reason = str(REASONS.get(each.verdict, ""))
    parts = (
        f"{VERDICTS[each.verdict]!s:<9}",
        owner.get_username(),
        then,
        today and f"-> {today}",
        reason,
    )
    return "  ".join(part for part in parts if part)


def summarize(counts: Counter[Verdict], *, apply: bool) -> str:
    """Return the last line."""
    new, noted, kept, dropped, unknown = (counts[verdict] for verdict in Verdict)
    done = (
        _("Migrated %(new)d; %(kept)d left as they are, %(dropped)d dropped, %(unknown)d unknown.")
        if apply
        else _("Would migrate %(new)d; %(kept)d left as they are, %(dropped)d dropped, %(unknown)d unknown.")
    )
    said = done % {"new": new, "kept": noted + kept, "dropped": dropped, "unknown": unknown}
    return said if apply or not new else sentences(said, _("Nothing was written; run again with --apply."))
