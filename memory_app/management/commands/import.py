# ruff: noqa: N999 - Django names a command after its file
"""`minara import PATH --from FORMAT`: bring memories from elsewhere. Without --apply nothing is written."""

import sys
from collections import Counter
from functools import reduce
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from memory_app.importers.adapters import Format, open_bundle
from memory_app.importers.services import Verdict, run_import
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.core.vocabulary import IMPORT_ACTOR
from minara_site.web.labels import sentences

SOMETHING_REJECTED = 2
VERDICTS = {
    Verdict.NEW: gettext_lazy("new"),
    Verdict.HELD: gettext_lazy("held"),
    Verdict.DUPLICATE: gettext_lazy("duplicate"),
    Verdict.REJECTED: gettext_lazy("rejected"),
    Verdict.SKIPPED: gettext_lazy("left out"),
}
MAX_CHARS = 80


class Command(OwnerCommand):
    """Judge each entry and, with --apply, store the new ones."""

    help = (
        "Import memories from a Minara database, an OpenClaw or Hermes directory, mem0, an OpenMemory backup, a Letta"
        " agent file or JSON lines; a dry run unless --apply is given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare PATH, --from, --user and --apply."""
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--from",
            dest="source_format",
            required=True,
            choices=[each.value for each in Format],
        )
        self.add_user(parser, "whose memories they become; as brought in, unless it is the user default")
        parser.add_argument(
            "--apply",
            action="store_true",
            help="store the new entries",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a verdict per entry and a summary. Exit status 2 says that something was rejected."""
        owner = self.owner(options)
        bundle = open_bundle(options["path"], Format(options["source_format"]))
        counts: Counter[Verdict] = Counter()
        judged = run_import(
            owner=owner,
            bundle=bundle,
            apply=options["apply"],
            now=timezone.now(),
            actor=IMPORT_ACTOR,
            file=options["path"].name,
        )
        for judgement in judged:
            counts[judgement.verdict] += 1
            if options["verbosity"] > 0 or judgement.verdict is Verdict.REJECTED:
                place = f"{judgement.file}:{judgement.place}" if judgement.place else judgement.file
                said = visible(" ".join(f"{judgement.kind} {judgement.text}".split()))
                said = said if len(said) <= MAX_CHARS else f"{said[: MAX_CHARS - 1]}…"
                verdict = f"{VERDICTS[judgement.verdict]!s:<9}"
                self.stdout.write("  ".join(part for part in (verdict, place, visible(judgement.reason), said) if part))
        self.stdout.write(
            summarize(
                counts,
                owner=owner.get_username(),
                ignored=bundle.ignored,
                apply=options["apply"],
            )
        )
        if counts[Verdict.REJECTED]:
            sys.exit(SOMETHING_REJECTED)


def summarize(
    counts: Counter[Verdict],
    *,
    owner: str,
    ignored: int,
    apply: bool,
) -> str:
    """Return the last line."""
    new, held, duplicate, rejected, skipped = (counts[verdict] for verdict in Verdict)
    done = (
        _("Stored %(new)d new for %(owner)s; %(duplicate)d duplicate, %(rejected)d rejected.")
        if apply
        else _("Would store %(new)d new for %(owner)s; %(duplicate)d duplicate, %(rejected)d rejected.")
    )
    said = [done % {"new": new + held, "owner": owner, "duplicate": duplicate, "rejected": rejected}]
    if held:
        waiting = ngettext(
            "The guard holds %(count)d of them: look at it under Held texts.",
            "The guard holds %(count)d of them: look at them under Held texts.",
            held,
        )
        said.append(waiting % {"count": held})
    if skipped:
        left = ngettext(
            "%(count)d that its product does not read any more was left out.",
            "%(count)d that their product does not read any more were left out.",
            skipped,
        )
        said.append(left % {"count": skipped})
    if ignored:
        others = ngettext("%(count)d other file was left alone.", "%(count)d other files were left alone.", ignored)
        said.append(others % {"count": ignored})
    if new + held and not apply:
        said.append(_("Nothing was written; run again with --apply."))
    return reduce(sentences, said)
