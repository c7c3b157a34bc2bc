"""`minara learning cron`, `seed`, `verify` and `audit run / show / trend / findings`. Shapes: the contract, S2."""

import json
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.audit.core.records import Severity
from learning_app.audit.models import AuditReport
from learning_app.audit.pages.plain import describe_findings, describe_report, describe_trend
from learning_app.audit.selectors import (
    MAX_TREND,
    MAX_TREND_DAYS,
    findings_of,
    get_report,
    load_trend,
    newest_report,
    report_record,
    trend_record,
)
from learning_app.audit.services.run import run_pass
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.verify import verify
from learning_app.methodologies.seeding import store_seeds
from minara_site.kernel.command import MinaraCommand, number_to

ACTOR = "command:learning"
TREND_DAYS, MAX_LINES = 90, 200


class Command(MinaraCommand):
    """Run one pass of the learning cron or of the audit, read audits, or store well-known methods."""

    help = (
        "cron: judge the trading cases whose window is over. seed: store well-known analysis methods, quarantined. "
        "verify: recompute counters, tallies, events, cases and candles. "
        "audit: score the health of the learning loop, and read reports."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the acts."""
        acts = parser.add_subparsers(dest="act", required=True)
        for name, text in (("cron", "run one pass now"), ("seed", "store well-known methods")):
            acts.add_parser(name, help=text).add_argument("--json", action="store_true", help="answer with JSON")
        check = acts.add_parser("verify", help="recompute what cases made of methodologies, and name each difference")
        check.add_argument("--apply", action="store_true", help="mend what differs")
        check.add_argument("--json", action="store_true", help="answer with JSON")
        audits = acts.add_parser("audit", help="the learning audit").add_subparsers(dest="audit_act", required=True)
        run = audits.add_parser("run", help="run one pass now")
        run.add_argument("--window-days", type=int, help="how far back the pass looks")
        run.add_argument(
            "--hashes",
            action="store_true",
            help="hash the learning tables before and after",
        )
        show = audits.add_parser("show", help="show a report")
        which = show.add_mutually_exclusive_group()
        which.add_argument(
            "--latest",
            action="store_true",
            help="the newest one, as without a flag",
        )
        which.add_argument(
            "--pass",
            dest="pass_id",
            type=int,
            metavar="ID",
            help="the report of this pass",
        )
        trend = audits.add_parser("trend", help="show the composite of the last days")
        trend.add_argument(
            "--days",
            type=number_to(MAX_TREND_DAYS),
            default=TREND_DAYS,
            metavar=f"1-{MAX_TREND_DAYS}",
        )
        findings = audits.add_parser("findings", help="list what the newest report found")
        findings.add_argument("--severity", choices=[each.value for each in Severity])
        for each in (run, show, trend, findings):
            each.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Raises AlreadyRunning beside another pass, Invalid, NotFound."""
        act = options.get("audit_act") or options["act"]
        record, text = getattr(self, f"handle_{act}")(options)
        self.stdout.write(json.dumps(record, cls=DjangoJSONEncoder) if options["json"] else text)

    def handle_cron(self, options: dict[str, Any]) -> tuple[Any, str]:
        counts = run_cron(now=timezone.now(), requested_by=ACTOR)
        line = _(
            "Cases resolved: %(resolved)d. Judged again: %(rejudged)d. Outcomes counted: %(credited)d. "
            "Methodologies demoted: %(demoted)d."
        )
        return counts, line % {"resolved": 0, "rejudged": 0, "credited": 0, "demoted": 0, **counts}

    def handle_seed(self, options: dict[str, Any]) -> tuple[Any, str]:
        new, known = store_seeds(actor=ACTOR, now=timezone.now())
        counts = {"new": new, "known": known}
        return counts, _("Methodologies stored in quarantine: %(new)d. There before: %(known)d.") % counts

    def handle_verify(self, options: dict[str, Any]) -> tuple[Any, str]:
        found = list(verify(apply=options["apply"], now=timezone.now()))
        lines = [f"{each.of}: {each.name}: {each.stored} -> {each.computed}" for each in found[:MAX_LINES]]
        if len(found) > MAX_LINES:
            lines.append(_("%(more)d more") % {"more": len(found) - MAX_LINES})
        if not found:
            return {"differences": []}, _("Everything adds up: counters, tallies, events, cases and candles.")
        lines.append(_("Mended.") if options["apply"] else _("Differences found. --apply mends them."))
        return {"differences": [asdict(each) for each in found]}, "\n".join(lines)

    def handle_run(self, options: dict[str, Any]) -> tuple[Any, str]:
        days, with_hashes = options["window_days"], options["hashes"]
        report = run_pass(
            now=timezone.now(),
            requested_by=ACTOR,
            window_days=days,
            with_hashes=with_hashes,
        )
        return self.answer(report)

    def handle_show(self, options: dict[str, Any]) -> tuple[Any, str]:
        return self.answer(get_report(options["pass_id"]))

    def handle_trend(self, options: dict[str, Any]) -> tuple[Any, str]:
        now, days = timezone.now(), options["days"]
        points = load_trend(
            since=now - timedelta(days=days),
            until=now,
            limit=MAX_TREND,
        )
        return trend_record(points, days=days), describe_trend(points, days=days)

    def handle_findings(self, options: dict[str, Any]) -> tuple[Any, str]:
        report = newest_report()
        found = findings_of(report, severity=options["severity"]) if report else []
        return {"items": found}, describe_findings(found, report)

    def answer(self, report: AuditReport) -> tuple[Any, str]:
        """Return a report as JSON and as text."""
        return report_record(report), describe_report(report)
