"""Exports and imports as pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.bundle.core.plan import WRITTEN, Reason
from memory_app.bundle.core.preview import Row, keep_rows, masked_text
from memory_app.bundle.labels import REASONS
from memory_app.bundle.models import BundleTransfer, Direction, TransferState
from minara_site.access.models import User
from minara_site.kernel.core.diff import Segment, word_diff
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.ownership import Owner
from minara_site.web.lists import Column, Empty, ListSpec, newest_first
from minara_site.web.moments import number_label

PART = 50  # rows of a preview at a time
UNDER_WAY = frozenset({TransferState.WAITING, TransferState.APPLYING})
BADGES: Mapping[str, tuple[str, str | Promise]] = {
    TransferState.WAITING: ("running", gettext_lazy("Running")),
    TransferState.SHOWN: ("proposed", gettext_lazy("To look at")),
    TransferState.REFUSED: ("failed", gettext_lazy("Refused")),
    TransferState.APPLYING: ("running", gettext_lazy("Running")),
    TransferState.DONE: ("active", gettext_lazy("Done")),
    TransferState.FAILED: ("failed", gettext_lazy("Failed")),
    TransferState.EXPIRED: ("expired", gettext_lazy("Expired")),
}
VERDICTS: Mapping[str, tuple[str, str | Promise, str | Promise]] = {
    "rejected": ("failed", gettext_lazy("Rejected"), gettext_lazy("cannot be imported; each says why")),
    "held": ("held", gettext_lazy("Held"), gettext_lazy("stored, and read by no one before an operator releases it")),
    "new": ("active", gettext_lazy("New"), gettext_lazy("stored as it is shown here")),
    "updated": ("active", gettext_lazy("Updated"), gettext_lazy("adds to what is stored, or replaces it")),
    "known": ("pending", gettext_lazy("Already here"), gettext_lazy("here already; stays as it is")),
    "skipped": ("retired", gettext_lazy("Left out"), gettext_lazy("no longer read where it comes from")),
}
CHANNELS: Mapping[str, str | Promise] = {
    "signed": gettext_lazy("A: signed by this instance and unchanged"),
    "unsigned": gettext_lazy("B: not signed here"),
}
CONSTRAINT_WORDS = gettext_lazy("a hard constraint; it is imported only at your word")


@dataclass(frozen=True, slots=True)
class TransferRow:
    """A transfer with its badge and how far its job is; 0 percent where nobody knows how much there is.

    `stuck` says that the job failed or was stopped.
    """

    transfer: BundleTransfer
    badge: str
    word: str | Promise
    progress: str = ""
    percent: int = 0
    stuck: str = ""

    @property
    def pk(self) -> int:
        """Return the id, for lists."""
        return int(self.transfer.pk)

    @property
    def is_under_way(self) -> bool:
        """Whether a worker still has to do something."""
        return self.transfer.state in UNDER_WAY and not self.stuck

    @property
    def is_open(self) -> bool:
        """Whether its file can be taken away."""
        return self.transfer.state == TransferState.DONE and bool(self.transfer.file_name)

    @property
    def counts(self) -> list[tuple[str | Promise, int]]:
        """Return what an import did, in words."""
        verdicts = (self.transfer.result or {}).get("verdicts", {})
        return [(VERDICTS[name][1], verdicts[name]) for name in VERDICTS if verdicts.get(name)]


@dataclass(frozen=True, slots=True)
class Tab:
    """A verdict of a preview with how many have it."""

    verdict: str
    title: str | Promise
    effect: str | Promise
    count: int
    is_current: bool


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A row of a preview in words. `changes` is what is stored against what would be written."""

    place: str
    badge: str
    word: str | Promise
    channel: str | Promise
    kind: str
    why: str
    text: str
    stored: str = ""
    changes: Sequence[Segment] = ()


@dataclass(frozen=True, slots=True)
class PreviewView:
    """A part of a preview as a page shows it."""

    tabs: Sequence[Tab]
    rows: Sequence[PreviewRow]
    first: int
    last: int
    total: int
    writes: int
    ignored: int
    constraints: int
    channels: Sequence[tuple[str | Promise, int]]
    everything: int
    unlisted: int
    current: str

    @property
    def next(self) -> int | None:
        """Return where the next part begins, None at the end."""
        return self.last if self.last < self.total else None


def spec_for(direction: Direction, *, is_shared: bool) -> ListSpec:
    """Return the list of exports or of imports."""
    owner = (Column(gettext_lazy("Owner")),) if is_shared else ()
    name = "exports" if direction is Direction.EXPORT else "imports"
    return ListSpec(
        name=name,
        caption=gettext_lazy("Exports") if direction is Direction.EXPORT else gettext_lazy("Imports"),
        row=f"memory_app/bundle/_{name}_row.html",
        columns=(
            Column(gettext_lazy("Export") if direction is Direction.EXPORT else gettext_lazy("File")),
            *owner,
            Column(gettext_lazy("State")),
            Column(gettext_lazy("Size"), numeric=True),
            Column(gettext_lazy("Requested"), numeric=True),
        ),
        sorts=(newest_first("created_at"),),
        has_actions=False,
        page_size=20,
        empty=Empty(
            "io",
            gettext_lazy("No export yet") if direction is Direction.EXPORT else gettext_lazy("No import yet"),
            gettext_lazy("An export is a zip of readable files; it can be downloaded for a day.")
            if direction is Direction.EXPORT
            else gettext_lazy("Choose a file above. You see what each entry would become before anything is stored."),
        ),
    )


def list_transfers(owner: Owner, direction: Direction) -> "QuerySet[BundleTransfer]":
    """Return transfers without their previews; the list gives the order."""
    found: QuerySet[BundleTransfer] = BundleTransfer.objects.for_owner(owner).filter(direction=direction)
    return found.defer("plan").select_related("owner")


def shape(transfers: Sequence[BundleTransfer]) -> list[TransferRow]:
    """Return transfers as pages show them. One query."""
    waiting = [each.run_id for each in transfers if each.state in UNDER_WAY and each.run_id]
    runs = JobRun.objects.in_bulk(waiting) if waiting else {}
    return [shape_one(each, runs.get(each.run_id or 0)) for each in transfers]


def shape_one(transfer: BundleTransfer, run: JobRun | None) -> TransferRow:
    """Return a transfer with how far its job is."""
    badge, word = BADGES[TransferState(transfer.state)]
    if transfer.state not in UNDER_WAY or run is None:
        return TransferRow(transfer, badge, word)
    if run.state == RunState.QUEUED:
        return TransferRow(transfer, "queued", gettext_lazy("Waiting"))
    if run.state in {RunState.FAILED, RunState.CANCELLED}:
        return TransferRow(
            transfer,
            "failed",
            gettext_lazy("Failed"),
            stuck=run.error or _("It was stopped."),
        )
    if run.done is None or not run.total:
        return TransferRow(transfer, badge, word)
    if transfer.direction == Direction.EXPORT:  # how many there will be shows at the end
        return TransferRow(transfer, badge, word, number_label(run.done))
    done = _("%(done)s of %(total)s") % {"done": number_label(run.done), "total": number_label(run.total)}
    return TransferRow(
        transfer,
        badge,
        word,
        done,
        min(100, 100 * run.done // run.total),
    )


def show_preview(
    transfer: BundleTransfer,
    *,
    verdict: str,
    start: int,
    reader: User,
) -> PreviewView:
    """Return a part of what an import would do."""
    plan: dict[str, Any] = transfer.plan or {}
    counts = plan["verdicts"]
    current = verdict if counts.get(verdict) else ""
    kept = keep_rows(plan["rows"], current)
    start = min(start, max(len(kept) - 1, 0))
    is_own = transfer.owner_id == reader.pk
    rows = [show_row(row, is_own=is_own) for row in kept[start : start + PART]]
    tabs = [
        Tab(name, title, effect, counts[name], name == current)
        for name, (_badge, title, effect) in VERDICTS.items()
        if counts.get(name)
    ]
    return PreviewView(
        tabs=tabs,
        rows=rows,
        first=start + 1 if rows else 0,
        last=start + len(rows),
        total=len(kept),
        writes=sum(counts.get(name, 0) for name in WRITTEN),
        ignored=plan["ignored"],
        constraints=plan["constraints"],
        channels=[
            (
                words,
                plan["channels"][name],
            )
            for name, words in CHANNELS.items()
            if plan["channels"].get(name)
        ],
        everything=sum(counts.values()),
        unlisted=sum(counts.values()) - len(plan["rows"]),
        current=current,
    )


def show_row(row: Row, *, is_own: bool) -> PreviewRow:
    """Return a row in words; another owner's secrets are masked."""
    badge, word, _effect = VERDICTS[row.verdict]
    text, stored = (row.text, row.stored) if is_own else (masked_text(row), mask(row.stored))
    return PreviewRow(
        place=row.place,
        badge=badge,
        word=word,
        channel={"signed": "A", "unsigned": "B"}.get(row.channel, ""),
        kind=row.kind,
        why=reason_label(row) if is_own else mask(reason_label(row)),
        text=text,
        stored="" if text else stored,
        changes=word_diff(stored, text) if stored and text and stored != text else (),
    )


def reason_label(row: Row) -> str:
    """Return why a row has its verdict."""
    if row.reason == Reason.HARD_CONSTRAINT:
        return str(CONSTRAINT_WORDS)
    if not row.reason:
        return row.why
    return str(REASONS[Reason(row.reason)]) % {"about": row.about}
