"""How reading own accounts and rebuilding go, of all owners at once: for the metrics and the doctor's report."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from minara_site.kernel.counts import MAX_COUNTED, RowCount
from minara_site.kernel.doctor.core import Line, Section, Text
from minara_site.kernel.doctor.scope import ReportScope, line_of
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.models import CapabilitySwitch
from minara_site.kernel.jobs.models import OwnerSchedule
from minara_site.kernel.llm.endpoint import missing_key
from minara_site.kernel.market.selectors import format_age
from profile_app.activity.core.accounts import AccountSource, SyncSource
from profile_app.activity.models import Account, FillDay, SyncState
from profile_app.activity.selectors import has_exchange, is_gateway_set, list_read
from profile_app.capabilities import REBUILDS
from profile_app.rebuild.core import Flow, RunOutcome
from profile_app.rebuild.models import RebuildRun


class Ages(NamedTuple):
    """In seconds. `sync_lag` is None where nothing is read; `written` has flows that wrote, `due` has every flow."""

    sync_lag: float | None
    written: Mapping[Flow, float]
    due: Mapping[Flow, float]


def load_ages(*, now: datetime) -> Ages:
    """Return how far behind accounts and rebuilds are. At most four queries."""
    synced_at = find_oldest_sync()
    runs = ReportScope(now, MAX_COUNTED).newest(RebuildRun.objects.all()).filter(outcome=RunOutcome.WRITTEN)
    written = dict(runs.values_list("flow").annotate(Max("ended_at")))
    due = dict(OwnerSchedule.objects.filter(due_at__lte=now).values_list("job").annotate(Min("due_at")))
    return Ages(
        (now - synced_at).total_seconds() if synced_at else None,
        {flow: (now - written[flow]).total_seconds() for flow in Flow if flow in written},
        {flow: (now - due.get(flow.job, now)).total_seconds() for flow in Flow},
    )


def find_oldest_sync() -> datetime | None:
    """Return when the account was read that was not for longest, since it was added where it never was."""
    state = SyncState.objects.filter(
        owner=OuterRef("owner"), source=SyncSource.PERPS_FILLS, sub_account_id=OuterRef("wallet")
    )
    read_at = Coalesce(Subquery(state.values("last_success_at")), "created_at")
    accounts = list_read().filter(is_gateways=False, source=AccountSource.PERPS)
    moments = [accounts.aggregate(at=Min(read_at))["at"]]
    if is_gateway_set():
        gateways = SyncState.objects.filter(owner__is_default=True, sub_account_id="")
        moments.append(gateways.aggregate(at=Min("last_success_at"))["at"])
    return min(filter(None, moments), default=None)


def activity_section(scope: ReportScope) -> Section:
    """Return which sources are read and how that goes, and whether rebuilds ask a model.

    One statement, and one more where accounts fail.
    """
    account = list_read().filter(owner=OuterRef("owner"), wallet=OuterRef("sub_account_id"))
    is_read = Q(Exists(account)) | (Q(sub_account_id="", owner__is_default=True) if is_gateway_set() else Q(pk__in=[]))
    failing = SyncState.objects.filter(is_read, consecutive_failures__gte=settings.MINARA.history_sync_max_failures)
    days = scope.newest(FillDay.objects.all()).filter(gaps__gt=0)
    states = SyncState.objects.filter(
        owner=OuterRef("owner"), sub_account_id=OuterRef("wallet"), gap_at_ms__isnull=False
    )
    own = Account.objects.live().filter(is_demo=False)
    failed = scope.newest(RebuildRun.objects.all()).filter(outcome__in=[RunOutcome.FAILED, RunOutcome.LOST])
    newer = RebuildRun.objects.filter(owner=OuterRef("owner"), flow=OuterRef("flow"), pk__gt=OuterRef("pk"))
    switches = CapabilitySwitch.objects.filter(capability=REBUILDS.name)
    stuck, gaps, unread, broken, off, shadow = scope.count(
        failing,
        own.filter(Q(pk__in=days.values("account")) | Exists(states)),
        own.exclude(pk__in=list_read().values("pk")),
        failed.filter(~Exists(newer)),
        switches.filter(mode=Mode.OFF),
        switches.filter(mode=Mode.SHADOW),
    )
    missing = _("The source no longer gives them. Their figures are of what is left; the page Activity says so.")
    kept = _("Spot needs MINARA_BASE_URL and MINARA_API_KEY, a wallet of another chain has no source. They can stay.")
    repair = _("Each is asked again after its cooldown. To ask now: minara profile refresh --user NAME")
    exchange_off = _("HYPERLIQUID_INFO_URL is disabled. Remove it to read wallets that users add.")
    gateway_off = _("To read the trades of the user default there, set MINARA_BASE_URL and MINARA_API_KEY.")
    with_gaps = line_of("accounts_with_gaps", _("Accounts in which fills are missing"), gaps)
    without_source = line_of("accounts_unread", _("Accounts that no source reads"), unread)
    return Section(
        "activity",
        _("Activity"),
        (
            source_line("source_hyperliquid", _("Fills from Hyperliquid"), "" if has_exchange() else exchange_off),
            source_line("source_gateway", _("Trades from the Minara gateway"), "" if is_gateway_set() else gateway_off),
            failing_line(failing, stuck, now=scope.now),
            replace(with_gaps, hint=missing if gaps.number else ""),
            replace(without_source, hint=kept if unread.number else ""),
            rebuilds_line(_("off") if off.number else _("shadow mode") if shadow.number else ""),
            line_of("rebuilds_failed", _("Rebuilds whose last run failed"), broken, watched=True, hint=repair),
        ),
    )


def source_line(name: str, label: Text, hint: Text) -> Line:
    """Return whether a source is read; the hint says which setting keeps it off."""
    return Line(name, label, words=_("off") if hint else _("on"), hint=hint)


def failing_line(failing: "QuerySet[SyncState]", count: RowCount, *, now: datetime) -> Line:
    """Return what failed so often that it is read no more until its next try, by why."""
    line = line_of("accounts_failing", _("Accounts that failed too often"), count, watched=True)
    if not count.number:
        return line
    errors = failing.values("last_error").order_by("last_error")
    found = list(errors.annotate(number=Count("pk"), tried_at=Min("last_synced_at")))
    cooldown = timedelta(milliseconds=settings.MINARA.history_sync_failure_cooldown_ms)
    wait = min((row["tried_at"] for row in found), default=now) + cooldown - now
    when = _("The next try is in %(time)s.") % {"time": format_age(wait)} if wait > timedelta() else _("A try is due.")
    hint = _("Their owners see why on the page Activity; Sync now there tries at once.")
    names = tuple((row["last_error"] or "", row["number"]) for row in found)
    return replace(line, hint=f"{when} {hint}", names=names)


def rebuilds_line(switched: Text) -> Line:
    """Return whether rebuilds ask a model, and what keeps them from it; `switched` says so where they are not on."""
    words, hint = _("on"), missing_key()
    if settings.MINARA.minara_personalization_rebuild == "disabled":
        words, hint = _("off"), _("MINARA_PERSONALIZATION_REBUILD is disabled. Set it to enabled to rebuild profiles.")
    elif switched:
        words, hint = str(switched), _("Switch them on under System, Automation.")
    elif hint:
        words = _("no model")
    return Line("rebuilds", _("Rebuilds of profiles"), words=words, hint=hint)
