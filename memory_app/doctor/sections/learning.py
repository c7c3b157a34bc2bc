"""Learning: how far methodologies got, which trading cases wait, and whether the cron runs. Source: S1 (doctor)."""

from django.utils.translation import gettext as _

from learning_app.cases.models import CronRun, TradingCase
from learning_app.cases.selectors import newest_run
from learning_app.cases.services.cron import EVERY
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.demote import list_below
from minara_site.kernel.doctor.core import HealthState, Line, Section
from minara_site.kernel.doctor.scope import ReportScope, line_of
from minara_site.kernel.market.selectors import format_age

LATE = 2 * EVERY


def learning_section(scope: ReportScope) -> Section:
    """Return how the learning loop is. Two statements."""
    rows, pending = Methodology.objects, TradingCase.objects.pending()
    graduated, quarantined, held, fallen, waiting, overdue = scope.count(
        rows.graduated(),
        rows.filter(quarantine=1, held_at__isnull=True),
        rows.filter(held_at__isnull=False),
        list_below(),
        pending,
        pending.filter(window_ends_at__lt=scope.now - LATE),
    )
    repair = _("Run: minara doctor --fix --apply --only methodology_demotion")
    no_price = _("No price judges them, or the learning cron does not run. Look at the prices and at the line below.")
    lines = (
        line_of("methodologies_graduated", _("Methodologies that are graduated"), graduated),
        line_of("methodologies_quarantined", _("Methodologies in quarantine"), quarantined),
        line_of("methodologies_held", _("Methodologies that the guard holds"), held),
        line_of("methodologies_fallen", _("Graduated, and wrong too often"), fallen, watched=True, hint=repair),
        line_of("cases_pending", _("Trading cases that wait for their outcome"), waiting),
        line_of("cases_overdue", _("Of these, overdue for 12 hours"), overdue, watched=True, hint=no_price),
        cron_line(scope, newest_run(), has_cases=waiting.number > 0),
    )
    return Section("learning", _("Learning"), lines)


def cron_line(scope: ReportScope, run: CronRun | None, *, has_cases: bool) -> Line:
    """Return the last heartbeat of the cron; without one nothing is late before a case waits."""
    is_late = has_cases if run is None else scope.now - run.ended_at > LATE
    words = _("never") if run is None else _("%(age)s ago") % {"age": format_age(scope.now - run.ended_at)}
    if run and not run.is_ok:
        words = _("%(when)s, failed") % {"when": words}
    is_well = not is_late and (run is None or run.is_ok)
    return Line(
        "learning_cron",
        _("Last run of the learning cron"),
        words=words,
        state=HealthState.OK if is_well else HealthState.WATCH,
        hint="" if is_well else _("Look at the runs of learning.cron under Jobs, or run: minara learning cron"),
    )
