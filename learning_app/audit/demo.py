"""The demo's audit: a real pass over its rows each day, but for four, and one finding that was acknowledged."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from learning_app.audit.core.records import FindingCode
from learning_app.audit.models import Acknowledgement, AuditReport
from learning_app.audit.selectors import AuditWindow, findings_of
from learning_app.audit.services.acknowledge import build_acknowledgements
from learning_app.audit.services.cron import ACTOR
from learning_app.audit.services.run import Yielding, score_window, store_report
from minara_site.access.models import User
from minara_site.kernel.demo import DemoAct, DemoLoad, DemoPart, DemoRow, RemovedRows

DAYS, MISSED = 29, range(9, 13)
"""The demo's cases begin 30 days before the load; agents were busy on four of them."""
HOUR = 0.5  # before the load, each day
NOTE = "Only crypto is traded here."


class AuditPart(DemoPart[DemoRow]):
    """Reports as the audit's cron leaves them."""

    name = "audit_reports"
    rows: Mapping[str, Sequence[DemoRow]] = {}

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        for days in range(DAYS, -1, -1):
            if days not in MISSED:
                at = load.ago(24 * days + HOUR)
                yield at, partial(self.run, at)
        yield load.ago(HOUR / 2), partial(self.acknowledge, load)

    def run(self, at: datetime) -> None:
        """Run the pass of a day."""
        window = AuditWindow(at, settings.MINARA.methodology_audit_window_days)
        scores = score_window(window, claim=None, yielding=Yielding(left=0))
        store_report(window, scores, hashes=None, requested_by=ACTOR)

    def acknowledge(self, load: DemoLoad) -> None:
        """Acknowledge that some asset groups have no methodology, unless that was found and acknowledged before."""
        report = AuditReport.objects.filter(is_demo=True, requested_by=ACTOR).latest("created_at", "pk")
        code = FindingCode.GROUPS_UNCOVERED
        is_found = code in {finding["code"] for finding in findings_of(report)}
        if not is_found or Acknowledgement.objects.filter(code=code, ended_at=None).exists():
            return
        actor = f"user:{next(iter(load.people.values())).pk}"
        [given] = build_acknowledgements(
            report,
            [code],
            note=NOTE,
            actor=actor,
            now=load.ago(HOUR / 2),
        )
        given.is_demo = True
        given.save(force_insert=True)

    def store(self, load: DemoLoad, owner: User, row: DemoRow) -> None:
        """No row of a file is stored."""

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the reports that read rows of the demo, those of real passes too: their numbers are not real."""
        gone, _by_model = AuditReport.objects.filter(is_demo=True).delete()
        Acknowledgement.objects.filter(is_demo=True).delete()
        return [RemovedRows(_("Audit reports"), gone)]
