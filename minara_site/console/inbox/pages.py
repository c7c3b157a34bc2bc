"""The list of alerts, and each alert in words: what is the matter, what to do, and where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from learning_app.audit.core.composite import Band
from learning_app.audit.texts import BAND_LABELS
from learning_app.cases.services.cron import CRON
from memory_app.writes.core.anomalies import Anomaly, AnomalyKind
from memory_app.writes.pages import anomaly_label, rows_url
from minara_site.access.actors import find_keys, label_keys
from minara_site.console.models import CLOSED_BY_HAND, Alert, AlertKind
from minara_site.kernel.backup.selectors import MAKE
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.llm.core import Span
from minara_site.kernel.llm.core.windows import EVERY
from minara_site.web.filters import Filter, FilterKind, Rows
from minara_site.web.labels import enumeration
from minara_site.web.lists import Column, Empty, ListSpec, by_time
from minara_site.web.moments import number_label, span_label

MAX_AT_HOME = 5
MAX_CHANGES = 50
OPEN, CLOSED = "open", "closed"


def of_state(rows: Rows, state: str) -> Rows:
    """Keep the open alerts, or the closed ones."""
    return rows.filter(closed_at__isnull=state == OPEN)


ALERTS = ListSpec(
    name="alerts",
    caption=gettext_lazy("Alerts"),
    row="console/inbox/_row.html",
    columns=(
        Column(gettext_lazy("Alert")),
        Column(gettext_lazy("First seen"), sorts=("newest", "oldest"), numeric=True),
        Column(gettext_lazy("Age"), numeric=True),
    ),
    sorts=by_time("opened_at"),
    filters=(
        Filter(
            "state",
            gettext_lazy("State"),
            FilterKind.TABS,
            apply=of_state,
            choices=((OPEN, gettext_lazy("Open")), (CLOSED, gettext_lazy("Closed"))),
            default=OPEN,
        ),
    ),
    empty=Empty(
        "check",
        gettext_lazy("No open alerts"),
        gettext_lazy("An alert opens here within five minutes of its cause, and closes when the cause is gone."),
    ),
)


@dataclass(frozen=True, slots=True)
class AlertView:
    """An alert in words. `age` is how long it is open, or was; `link` says what `url` leads to."""

    alert: Alert
    text: str
    todo: str
    link: str
    url: str
    age: str

    @property
    def pk(self) -> int:
        return int(self.alert.pk)

    @property
    def can_close(self) -> bool:
        """Whether an operator closes it."""
        return self.alert.kind in CLOSED_BY_HAND and self.alert.closed_at is None

    @property
    def can_reopen(self) -> bool:
        """Whether an operator opens it again."""
        return self.alert.kind in CLOSED_BY_HAND and self.alert.closed_at is not None


def show_alerts(alerts: Iterable[Alert], *, now: datetime) -> list[AlertView]:
    """Return alerts in words. One query, none where no alert is about a key."""
    alerts = list(alerts)
    keys = find_keys(alert.facts["writer"] for alert in alerts if alert.kind == AlertKind.WRITES)
    return [
        AlertView(
            alert,
            *describe_alert(alert, label_keys(keys), now=now),
            span_label((alert.closed_at or now) - alert.opened_at),
        )
        for alert in alerts
    ]


def describe_alert(alert: Alert, labels: Mapping[str, str], *, now: datetime) -> tuple[str, str, str, str]:
    """Return what is the matter, what to do, what mends it, and its address; `labels` are those of keys by actor."""
    facts = alert.facts
    match AlertKind(alert.kind):
        case AlertKind.BAND:
            text = _("The learning audit fell from %(before)s to %(band)s.") % {
                name: BAND_LABELS[Band(facts[name])] for name in ("before", "band")
            }
            todo = _("Read its findings. The alert closes when the band is back, or when you close it.")
            return text, todo, _("Open the report"), reverse("audit:report", args=[facts["report"]])
        case AlertKind.HEARTBEAT:
            todo = _("Check that a worker runs, and read the newest runs of the job.")
            return heartbeat_label(facts, now), todo, _("Open its runs"), f"{reverse('jobs:list')}?job={CRON}"
        case AlertKind.BUDGET:
            todo = _("Raise the cap or wait: at the cap no model is called.")
            return budget_label(facts), todo, _("Open the budgets"), reverse("budgets:list")
        case AlertKind.HOLD | AlertKind.PROPOSAL as kind:
            is_hold = kind is AlertKind.HOLD
            todo = _("Release or discard each in the queue.") if is_hold else _("Approve or reject each in the queue.")
            url = f"{reverse('quarantine:list')}?kind={'held' if is_hold else 'proposals'}"
            return waiting_label(facts, now), todo, _("Open the queue"), url
        case AlertKind.JOB:
            text = _("The last three runs of %(job)s failed.") % {"job": facts["job"]}
            todo = _("Read the error of the newest run, mend what it names, and retry it.")
            return text, todo, _("Open the run"), reverse("jobs:run", args=[facts["run"]])
        case AlertKind.BACKUP:
            text = backup_label(facts, now)
            todo = _("Read the error of its newest run, mend what it names, and start the job again.")
            link, url = _("Open its runs"), f"{reverse('jobs:list')}?job={MAKE}"
        case AlertKind.WRITES:
            text = anomaly_label(Anomaly(AnomalyKind.HELD, since=alert.opened_at, **facts), labels)
            todo = _("Roll back what it wrote and revoke its key. The alert closes after 24 hours.")
            link, url = _("Open its writes"), rows_url(facts["writer"], AnomalyKind.HELD)
        case AlertKind.SYMBOLS | AlertKind.JUDGED:
            text, todo, link, url = describe_upgrade(alert)
        case AlertKind.PRICES:
            template = ngettext(
                "%(number)s price is more than 20 times away from the one before: %(symbol)s.",
                "%(number)s prices are more than 20 times away from the one before, the newest: %(symbol)s.",
                facts["count"],
            )
            text = template % {"number": number_label(facts["count"]), "symbol": facts["symbol"]}
            todo = _("Nothing is judged by them. Confirm each that is right; correct the others at their source.")
            link, url = _("Open the prices"), reverse("prices:page")
    return text, todo, link, url


def describe_upgrade(alert: Alert) -> tuple[str, str, str, str]:
    """Return what an upgrade read or judged otherwise, what to do, what shows it, and its address."""
    if alert.kind == AlertKind.SYMBOLS:
        changes = changes_label(alert.facts["changes"])
        text = _("The upgrade read symbols again: %(changes)s.") % {"changes": changes}
        todo = _("Look whether each is what your agents meant, then close the alert.")
        return text, todo, _("Open the trading cases"), reverse("cases:list")
    todo = _("They come back by outcomes that bring them to the bar. Read the list, then close the alert.")
    return judged_label(alert.facts), todo, _("Open the methodologies"), reverse("methodologies:list")


def changes_label(changes: list[dict[str, Any]]) -> str:
    """Return what became of stored symbols: what was stored, what it is, how many rows."""
    one = _(
        "%(was)s is now %(today)s"
        " (cases %(cases)d, decisions %(decisions)d, runs %(runs)d, prices %(prices)d, links %(links)d)"
    )
    said = [one % change for change in changes[:MAX_CHANGES]]
    more = len(changes) - len(said)
    return "; ".join([*said, _("%(more)d more") % {"more": more}] if more else said)


def judged_label(facts: dict[str, Any]) -> str:
    """Return which methodologies left prompts when their cases were judged anew; held ones without their name."""
    names = [name or _("one that is held") for name in facts["names"]]
    if more := facts["count"] - len(names):
        names.append(_("%(more)d more") % {"more": more})
    template = ngettext(
        "%(number)s methodology left prompts when the upgrade judged its cases anew: %(names)s.",
        "%(number)s methodologies left prompts when the upgrade judged their cases anew: %(names)s.",
        facts["count"],
    )
    return template % {"number": number_label(facts["count"]), "names": enumeration(names)}


def backup_label(facts: dict[str, Any], now: datetime) -> str:
    """Return how old the last backup is."""
    if facts["made_at"] is None:
        return _("There is no backup yet, and the last try failed.")
    return _("The last backup is %(span)s old.") % {"span": span_label(now - datetime.fromisoformat(facts["made_at"]))}


def heartbeat_label(facts: dict[str, Any], now: datetime) -> str:
    """Return how long ago the learning cron ended a pass."""
    if facts["ended_at"] is None:
        return _("The learning cron has ended no pass yet, and trading cases are due.")
    span = span_label(now - datetime.fromisoformat(facts["ended_at"]))
    return _("The learning cron has ended no pass for %(span)s.") % {"span": span}


def budget_label(facts: dict[str, Any]) -> str:
    """Return how much of a cap is used."""
    category = _("all categories") if facts["category"] == EVERY else facts["category"]
    template = (
        _("%(percent)s %% of today's cap of %(category)s is spent or reserved.")
        if facts["period"] == Span.DAY
        else _("%(percent)s %% of this month's cap of %(category)s is spent or reserved.")
    )
    return template % {"percent": number_label(facts["percent"]), "category": category}


def waiting_label(facts: dict[str, Any], now: datetime) -> str:
    """Return how many held texts or proposals wait too long, and since when."""
    count, oldest = facts["count"], span_label(now - datetime.fromisoformat(facts["oldest"]))
    said = {"number": number_label(count), "oldest": oldest}
    if "stored_kind" not in facts:
        template = ngettext(
            "%(number)s proposed preference waits for more than two days, the oldest for %(oldest)s.",
            "%(number)s proposed preferences wait for more than two days, the oldest for %(oldest)s.",
            count,
        )
        return template % said
    kind = stored_kinds().get(facts["stored_kind"])
    template = ngettext(
        "%(kind)s: %(number)s held text waits for more than two days, the oldest for %(oldest)s.",
        "%(kind)s: %(number)s held texts wait for more than two days, the oldest for %(oldest)s.",
        count,
    )
    return template % {**said, "kind": kind.label if kind else facts["stored_kind"]}
