"""`minara memory export` and `minara memory import DIR`: the markdown round trip. Source: S1; shapes: contract.md."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from memory_app.bundle.adapters import BundleRefused, read_bundle
from memory_app.bundle.core.plan import Channel, ExportReport, ImportPlan, ImportReport, Verdict
from memory_app.bundle.labels import KINDS, LEFT_OUT, VERDICTS, reason_label
from memory_app.bundle.selectors import plan_import
from memory_app.bundle.services import apply_import, export_bundle
from minara_site.access.actors import is_owner
from minara_site.access.models import User
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.core.vocabulary import IMPORT_ACTOR

EXPORT_ACTOR = "command:memory"
SOMETHING_REJECTED = 2
MAX_LINES = 200
MAX_CHARS = 60
CHANNELS = {Channel.SIGNED: "A", Channel.UNSIGNED: "B"}


class Command(OwnerCommand):
    """Write everything that the agent remembers as markdown, and read it back."""

    help = "Export memories as a tree of markdown files, or import such a tree; an import is a dry run without --apply."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the two acts."""
        acts = parser.add_subparsers(dest="act", required=True)
        out = acts.add_parser("export", help="write the tree")
        out.add_argument(
            "--out",
            type=Path,
            help="an empty or new folder; by default one under exports/ in the data",
        )
        out.add_argument(
            "--sign",
            action="store_true",
            help="sign each file, so that this instance knows it again",
        )
        out.add_argument(
            "--include-constraints",
            action="store_true",
            help="take hard constraints along",
        )
        back = acts.add_parser("import", help="read a tree, or a zip file of one")
        back.add_argument("folder", type=Path, metavar="DIR")
        back.add_argument(
            "--apply",
            action="store_true",
            help="write what the dry run shows",
        )
        back.add_argument(
            "--approve-hard-constraints",
            action="store_true",
            help="let hard constraints in; at a terminal only",
        )
        for each in (out, back):
            self.add_user(each, "whose memories they are")
            each.add_argument(
                "--json",
                action="store_true",
                help="answer with one JSON object",
            )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Exit status 2 says that a file, or the whole bundle, was rejected or is held."""
        try:
            owner = self.owner(options)
            if options["act"] == "export":
                self.export(owner, options)
            else:
                self.bring(owner, options)
        except BundleRefused as error:
            self.stderr.write(error.detail)
            sys.exit(SOMETHING_REJECTED)

    def export(self, owner: User, options: Mapping[str, Any]) -> None:
        """Write the tree and say where it lies."""
        report = export_bundle(
            owner=owner,
            folder=options["out"],
            sign=options["sign"],
            include_constraints=options["include_constraints"],
            now=timezone.now(),
            actor=EXPORT_ACTOR,
        )
        self.say(export_json(report) if options["json"] else export_lines(report))

    def bring(self, owner: User, options: Mapping[str, Any]) -> None:
        """Show what an import would do and, when asked, do it."""
        # a person at the terminal is S1's condition, beside MINARA_NON_INTERACTIVE
        approves = options["approve_hard_constraints"] and sys.stdin.isatty() and sys.stdout.isatty()
        bundle, now = read_bundle(options["folder"]), timezone.now()
        by_owner = is_owner(IMPORT_ACTOR, owner)
        plan = plan_import(
            owner=owner,
            bundle=bundle,
            now=now,
            approve_hard_constraints=approves,
            by_operator=True,  # who runs a command runs the machine
            by_owner=by_owner,
            most_files=MAX_LINES,
        )
        if not options["json"]:
            self.say(plan_lines(plan))
        report = None
        if options["apply"]:
            report = apply_import(
                owner=owner,
                plan_sha256=plan.sha256,
                bundle=bundle,
                actor=IMPORT_ACTOR,
                file=options["folder"].name,
                now=now,
                approve_hard_constraints=approves,
                by_operator=True,
                by_owner=by_owner,
                marks=plan.marks,
            )
        self.say(import_json(plan, report) if options["json"] else closing_lines(plan, report, owner.get_username()))
        if not plan.is_clean:
            sys.exit(SOMETHING_REJECTED)

    def say(self, said: Mapping[str, Any] | Iterator[str]) -> None:
        """Print lines, or one JSON object."""
        if isinstance(said, Mapping):
            self.stdout.write(json.dumps(said, ensure_ascii=False))
            return
        for line in said:
            self.stdout.write(line)


def export_lines(report: ExportReport) -> Iterator[str]:
    """Yield what an export did."""
    counts = ", ".join(f"{KINDS.get(kind, kind)}: {count}" for kind, count in report.files.items())
    nothing, left_out = _("nothing: there are no memories yet"), _("left out")
    yield _("Exported to %(folder)s") % {"folder": report.folder}
    yield f"  {counts or nothing}"
    for reason, count in report.left_out.items():
        yield f"  {left_out}: {LEFT_OUT[reason]}: {count}"
    signed = _("Signed by instance %(id)s: this instance knows these files again.")
    unsigned = _("Not signed: an import takes every file as typed by whoever imports it. --sign signs.")
    yield (signed % {"id": report.instance_id} if report.is_signed else unsigned)


def export_json(report: ExportReport) -> dict[str, Any]:
    """Return what an export did."""
    return {
        "folder": report.folder,
        "files": dict(report.files),
        "left_out": dict(report.left_out),
        "instance_id": report.instance_id,
        "signed": report.is_signed,
    }


def plan_lines(plan: ImportPlan) -> Iterator[str]:
    """Yield a line for each file, as many as a reader takes in."""
    for file in plan.files:
        text = visible(" ".join(str((file.row or {}).get("content", "")).split()))
        said = text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"
        parts = (
            f"{VERDICTS[file.verdict]!s:<9}{CHANNELS[file.channel]}",
            file.path,
            visible(reason_label(file)),
            said,
        )
        yield "  ".join(part for part in parts if part)
    more = plan.count - len(plan.files)
    if more:
        yield ngettext("and %(count)d further file", "and %(count)d further files", more) % {"count": more}


def closing_lines(
    plan: ImportPlan,
    report: ImportReport | None,
    owner: str,
) -> Iterator[str]:
    """Yield the counts, what was done, and what to do next."""
    counts = ", ".join(f"{VERDICTS[verdict]}: {plan.verdicts.get(verdict, 0)}" for verdict in Verdict)
    channels = ", ".join(f"{name}: {plan.channels.get(channel, 0)}" for channel, name in CHANNELS.items())
    yield _("%(counts)s; channel %(channels)s.") % {"counts": counts, "channels": channels}
    if plan.verdicts.get(Verdict.HELD):
        yield _("What the guard refuses waits under Held texts until an operator decides.")
    if report and report.writes:
        done = ngettext(
            "Imported %(count)d file for %(owner)s; to undo it, roll back import %(run)s under Writers.",
            "Imported %(count)d files for %(owner)s; to undo it, roll back import %(run)s under Writers.",
            report.writes,
        )
        yield done % {"count": report.writes, "owner": owner, "run": report.run}
    elif plan.writes and not report:
        yield _("Nothing was written; run again with --apply.")
    else:
        yield _("Nothing was written: there is nothing to import.")


def import_json(plan: ImportPlan, report: ImportReport | None) -> dict[str, Any]:
    """Return the plan, its hash, and the run when it was applied."""
    return {
        "applied": report is not None,
        "run": report.run if report else None,
        "sha256": plan.sha256,
        "verdicts": {verdict.value: plan.verdicts.get(verdict, 0) for verdict in Verdict},
        "channels": {name: plan.channels.get(channel, 0) for channel, name in CHANNELS.items()},
        "ignored": plan.ignored,
        "files": [
            {
                "path": file.path,
                "channel": CHANNELS[file.channel],
                "verdict": file.verdict.value,
                "reason": file.reason.value,
                "about": file.about,
            }
            for file in plan.files
        ],
    }
