"""What the pages of writers, anomalies and roll-backs show: list, view models and labels, for every kind alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext_lazy

from memory_app.writes.core.anomalies import Anomaly, AnomalyKind
from memory_app.writes.core.entries import IMPORT
from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.plans import RollbackPlan
from memory_app.writes.selectors.writers import Writer
from minara_site.access.actors import actor_label, find_keys, label_keys, name_actors
from minara_site.access.models import ApiKey, User
from minara_site.access.principal import Principal
from minara_site.kernel.guard.kinds import Label
from minara_site.kernel.rollback import UNCHANGED, Effect, PlanRow, list_effects, rollback_kinds
from minara_site.kernel.unchanged import UnchangedReason
from minara_site.shell.undo import label_reasons
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column
from minara_site.web.moments import number_label, span_label

MAX_SHOWN = 50  # rows of a plan or record at a time
MAX_CHANGED = 200  # rows of a kind that the page of a record links
A_MINUTE = 120  # seconds below which a span is called so
EffectCount = tuple[Effect, Label, int]
ANOMALY_LABELS: Mapping[AnomalyKind, Any] = {
    AnomalyKind.SIMILAR: ngettext_lazy(
        "%(number)s memory that says nearly the same as others",
        "%(number)s memories that say nearly the same",
        "count",
    ),
    AnomalyKind.AUTHORITY: ngettext_lazy(
        "%(number)s memory speaks of approving, transferring, withdrawing or moving a limit",
        "%(number)s memories speak of approving, transferring, withdrawing or moving a limit",
        "count",
    ),
    AnomalyKind.DESTINATION: ngettext_lazy(
        "%(number)s memory names a wallet or web address not seen before",
        "%(number)s memories name wallet or web addresses not seen before",
        "count",
    ),
    AnomalyKind.SPIKE: ngettext_lazy(
        "%(number)s write within an hour, far more than usual",
        "%(number)s writes within an hour, far more than usual",
        "count",
    ),
}
OWNER = gettext_lazy("Owner")
ROWS = ListSpec(
    name="written",
    caption=gettext_lazy("Memories of one writer"),
    row="memory_app/writes/_memory_row.html",
    columns=(
        Column(gettext_lazy("Memory")),
        Column(OWNER),
        Column(gettext_lazy("Source")),
        Column(gettext_lazy("State")),
        time_column(gettext_lazy("Changed")),
    ),
    sorts=by_time(
        "updated_at",
        gettext_lazy("newest change first"),
        gettext_lazy("oldest change first"),
    ),
    has_actions=False,
    empty=Empty(
        "memory",
        gettext_lazy("Nothing here"),
        gettext_lazy("No memory is as this writer wrote it. It may be edited, purged, or was never there."),
        action=gettext_lazy("Go to the writers"),
        url="writes:page",
    ),
)
BROUGHT_IN_MEMORIES = replace(
    ROWS,
    name="brought-in",
    caption=gettext_lazy("Memories of one import"),
    row="memory_app/writes/_brought_in_row.html",
    columns=tuple(column for column in ROWS.columns if column.label != OWNER),
    has_actions=True,
    empty=Empty(
        "memory",
        gettext_lazy("Nothing here"),
        gettext_lazy("This import left no memory here."),
    ),
)


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan on a page: the effects that it has, and some rows of the current one, with owner and why each stays.

    `first` and `last` count from 1; `next` is where the next rows begin, None at the end.
    """

    effects: Sequence[EffectCount]
    current: str
    rows: Sequence[tuple[PlanRow, str, str]]
    first: int
    last: int
    total: int
    next: int | None


@dataclass(frozen=True, slots=True)
class AnomalyRow:
    """An anomaly as a sentence, with the addresses of its rows and of what its reader may do, empty for what not."""

    text: str
    who: str
    since: datetime
    rows_url: str
    roll_back_url: str
    revoke_url: str


def list_counts(counts: Mapping[str, int], *, is_undo: bool) -> list[EffectCount]:
    """Return the effects that have rows by the counts of a plan or a record, with what becomes of how many."""
    found = [(effect, counts[effect.name]) for effect in list_effects() if counts.get(effect.name)]
    return [
        (
            effect,
            effect.on_undo if is_undo else effect.on_roll_back,
            count,
        )
        for effect, count in found
    ]


def show_plan(
    plan: RollbackPlan,
    *,
    effect: str,
    start: int,
    reader: User,
    is_undo: bool,
) -> PlanView:
    """Return a plan with some rows of an effect, or of the first that it has. Few queries, whatever its size."""
    effects = list_counts(plan.counts, is_undo=is_undo)
    names = [each.name for each, _result, _count in effects]
    current = effect if effect in names else next(iter(names), "")
    items = plan.items(current)
    start = min(start, len(items))
    chosen, rows = items[start : start + MAX_SHOWN], list[PlanRow]()
    for kind, part in plan.parts.items():
        own = [item for of, item in chosen if of is kind]
        rows += (kind.show_unchanged if current == UNCHANGED else kind.show_steps)(own, part, reader=reader)
    owners = {user.pk: user.get_short_name() for user in User.objects.filter(pk__in={row.owner_id for row in rows})}
    reasons = [""] * len(rows)
    if current == UNCHANGED:
        reasons = label_reasons(
            [(item.reason, item.by) for _kind, item in chosen],
            reader=reader,
        )
    named = [
        (
            row,
            owners.get(row.owner_id, ""),
            reason,
        )
        for row, reason in zip(rows, reasons, strict=True)
    ]
    last = start + len(named)
    return PlanView(
        effects,
        current,
        named,
        start + 1,
        last,
        len(items),
        last if last < len(items) else None,
    )


def show_record(record: WriteRollback, *, reader: User) -> dict[str, Any]:
    """Return what a roll-back did: effects, rows left unchanged as page, title and why, changed rows as id and page."""
    kinds, chosen = rollback_kinds(), record.left[:MAX_SHOWN]
    reasons = label_reasons(
        [(each["why"], each["by"]) for each in chosen],
        reader=reader,
    )
    return {
        "effects": list_counts(record.counts, is_undo=record.undoes_id is not None),
        "unchanged": [
            (
                "" if each["why"] == UnchangedReason.GONE else kind.url(each[kind.record_key]),
                kind.title(each[kind.record_key]),
                reason,
            )
            for each, reason in zip(chosen, reasons, strict=True)
            for kind in kinds
            if each.get(kind.record_key)
        ],
        "changed": [
            (
                kind,
                [(pk, kind.url(pk)) for pk in kind.list_changed(record, limit=MAX_CHANGED)],
            )
            for kind in kinds
        ],
    }


def show_writers(
    writers: Sequence[Writer],
    names: Mapping[str, str],
) -> list[tuple[Writer, str, str, list[Any]]]:
    """Return writers with name, address of the roll-back, and a count in each column of what one of them did."""
    columns = dict[str, list[str]]()
    for effect in list_effects():
        if not effect.follows and any(row.counts[effect.name] for row in writers):
            columns.setdefault(str(effect.column or effect.title), []).append(effect.name)
    return [
        (
            row,
            names[row.name],
            roll_back_url(row.name),
            [(label, sum(row.counts[name] for name in some)) for label, some in columns.items()],
        )
        for row in writers
    ]


def show_anomalies(anomalies: Sequence[Anomaly], *, principal: Principal) -> list[AnomalyRow]:
    """Return anomalies as sentences for this reader. One query, none without a key among the writers."""
    keys = find_keys(each.writer for each in anomalies)
    labels = label_keys(keys)
    return [
        AnomalyRow(
            text=anomaly_label(each, labels),
            who=actor_label(each.writer, labels),
            since=each.since,
            rows_url=rows_url(each.writer, each.kind) if principal.is_operator else reverse("held:list"),
            roll_back_url=roll_back_url(each.writer, each.since) if principal.is_operator else "",
            revoke_url=revoke_url(keys.get(each.writer), principal),
        )
        for each in anomalies
    ]


def anomaly_label(anomaly: Anomaly, labels: Mapping[str, str]) -> str:
    """Return an anomaly as a sentence; `labels` are those of keys by actor."""
    count = number_label(anomaly.count)
    if anomaly.kind is not AnomalyKind.HELD:
        return str(ANOMALY_LABELS[anomaly.kind] % {"count": anomaly.count, "number": count})
    return _("%(count)s of %(of)s writes by %(who)s were held in %(span)s.") % {
        "count": count,
        "of": number_label(anomaly.of),
        "who": labels.get(anomaly.writer) or actor_label(anomaly.writer, {}),
        "span": _("a minute") if anomaly.seconds < A_MINUTE else span_label(timedelta(seconds=anomaly.seconds)),
    }


def rows_url(writer: str, kind: str) -> str:
    """Return the address of what a writer wrote, of which an anomaly is about a part."""
    return f"{reverse('writes:rows')}?{urlencode({'writer': writer, 'light': kind})}"


def revoke_url(key: ApiKey | None, principal: Principal) -> str:
    """Return where this reader revokes a key, empty for a writer that is none and for one that is revoked."""
    if key is None or key.revoked_at:
        return ""
    if principal.is_operator:
        return reverse("users:key_revoke", args=[key.user_id, key.prefix])
    return reverse("access:key_revoke", args=[key.prefix])


def roll_back_url(writer: str, since: datetime | None = None) -> str:
    """Return the address of the preview that undoes what a writer wrote since a moment, all of it without one."""
    query = {"writer": writer} | ({"since": since.isoformat()} if since else {})
    return f"{reverse('writes:preview')}?{urlencode(query)}"


def writer_label(writer: str, reader: User) -> str:
    """Return who a writer is: an actor of the log, or one run of an import."""
    if writer.startswith(IMPORT):
        return _("import %(run)s") % {"run": writer.removeprefix(IMPORT)}
    return name_actors([writer], reader=reader)[writer]
