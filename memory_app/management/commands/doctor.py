"""`minara doctor`: how this instance and its memory are; with --fix what a repair would do, with --apply the repair."""

import json
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.doctor.report import load_report
from memory_app.doctor.selectors import fixes
from memory_app.doctor.services import apply_fix, choose_fixes, dry_run_fixes
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.doctor.core import HealthState, anonymous_record, bucket, report_lines, report_record
from minara_site.kernel.doctor.fixes import is_left
from minara_site.kernel.errors import Invalid, MinaraError

ACTOR = "command:doctor"
SOMETHING_BAD, WRONG_CALL = 1, 2


class Command(MinaraCommand):
    """Print the report, or look at the fixes, or carry them out."""

    help = (
        "Report how the instance and its memory are. --fix says what a repair would do and changes nothing; "
        "--fix --apply does it. Exit status: 0 nothing is bad, or the fixes were looked at or applied; "
        "1 something is bad, or a fix failed; 2 the command was called wrongly."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare --anonymous, --fix, --apply, --only and --json."""
        names = ", ".join(fixes())
        parser.add_argument(
            "--anonymous",
            action="store_true",
            help="buckets for counts, no names: safe to share",
        )
        parser.add_argument(
            "--fix",
            action="store_true",
            help="say what a repair would do",
        )
        parser.add_argument("--apply", action="store_true", help="with --fix: do it")
        parser.add_argument(
            "--only",
            default="",
            metavar="A,B",
            help=f"with --fix: only these of {names}",
        )
        parser.add_argument("--json", action="store_true", help="answer as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked for. Raises CommandError with exit status 2 for a wrong call."""
        if (options["apply"] or options["only"]) and not options["fix"]:
            raise CommandError(_("--apply and --only need --fix."), returncode=WRONG_CALL)
        if options["fix"]:
            self.fix(**options)
        else:
            self.report(**options)

    def report(self, *, anonymous: bool, json: bool, **options: Any) -> None:
        """Print the report; exit status 1 says that something is bad."""
        found = load_report(now=timezone.now())
        record = anonymous_record(found) if anonymous else report_record(found)
        together = _("Together: %(state)s") % {"state": found.state}
        self.print(record, [*report_lines(record), together], as_json=json)
        if found.state is HealthState.BAD:
            sys.exit(SOMETHING_BAD)

    def fix(
        self,
        *,
        anonymous: bool,
        json: bool,
        apply: bool,
        only: str,
        **options: Any,
    ) -> None:
        """Print what each fix would do or did; exit status 1 says that one failed."""
        try:
            names = choose_fixes(only.split(","))
        except Invalid as error:
            raise CommandError(error.detail, returncode=WRONG_CALL) from None
        records = [applied(name) for name in names] if apply else dry_run_lines(names)
        if anonymous:
            records = [without_details(record) for record in records]
        lines = [fix_line(record, apply=apply) for record in records]
        if not apply:
            lines.append(_("Nothing was changed; run again with --apply."))
        self.print({"applied": apply, "fixes": records}, lines, as_json=json)
        if any("error" in record for record in records):
            sys.exit(SOMETHING_BAD)

    def print(
        self,
        record: dict[str, Any],
        lines: list[str],
        *,
        as_json: bool,
    ) -> None:
        """Print a record as JSON or its lines."""
        self.stdout.write(json.dumps(record, indent=2, default=str) if as_json else "\n".join(lines))


def dry_run_lines(names: list[str]) -> list[dict[str, Any]]:
    """Return what each fix would do."""
    found = dry_run_fixes(names).items()
    return [
        {"name": name, "counts": each.counts, "ids": list(each.sample)}
        | ({"cost_usd": each.cost_usd} if each.cost_usd else {})
        for name, each in found
    ]


def applied(name: str) -> dict[str, Any]:
    """Carry one fix out and return what it did, or why it failed."""
    try:
        return {
            "name": name,
            "counts": apply_fix(name, actor=ACTOR, now=timezone.now()),
        }
    except MinaraError as error:
        return {
            "name": name,
            "counts": {},
            "error": {"code": error.problem_code, "detail": error.detail},
        }


def without_details(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a fix would do or did in buckets, without ids; of an error its code."""
    told = {
        "name": record["name"],
        "counts": {what: bucket(count) for what, count in record["counts"].items()},
    }
    return told | ({"error": {"code": record["error"]["code"]}} if "error" in record else {})


def fix_line(record: dict[str, Any], *, apply: bool) -> str:
    """Return one line about a fix."""
    if error := record.get("error"):
        return f"failed   {record['name']}: {error.get('detail', error['code'])}"
    if apply and is_left(record["counts"]):
        return f"not done {record['name']}: {_('Another run is at work; nothing was done.')}"
    counts = ", ".join(f"{what} {count}" for what, count in record["counts"].items())
    ids = ", ".join(map(str, record.get("ids", ())))
    about = _(" (for example %(ids)s)") % {"ids": ids} if ids else ""
    cost = _("; asking the model: USD %(cost)s") % {"cost": record["cost_usd"]} if record.get("cost_usd") else ""
    return f"{'applied' if apply else 'would  '}  {record['name']}: {counts}{about}{cost}"
