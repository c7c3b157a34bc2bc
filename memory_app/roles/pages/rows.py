"""Entries of role memory as pages show them: texts as their reader may see them, outcome and class in words."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from memory_app.roles.core import Classification, Status
from memory_app.roles.core.declarations import MemoryRole
from memory_app.roles.labels import CLASS_MEANINGS, CLASSES, OUTCOME_SHAPES, OUTCOMES, STATUSES, why_no_lesson
from memory_app.roles.models import RoleMemory
from memory_app.roles.registry import registry
from minara_site.access.principal import Principal
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.market.outcome import Direction, Outcome
from minara_site.web.badges import Badge
from minara_site.web.filters import Text
from minara_site.web.labels import declared_label
from minara_site.web.market_labels import DIRECTIONS, pnl_label, tone_of
from minara_site.web.price_chart import price_label

STATUS_SHAPES = {Status.PENDING: "pending", Status.REFLECTED: "active", Status.SKIPPED: "retired"}


@dataclass(frozen=True)
class EntryRow:
    """An entry as a row. `role` is None once undeclared; `why` says why agents read no lesson of it.

    `is_read`: the next session's prompt carries its lesson. `query` is that of the list it stands in.
    """

    entry: RoleMemory
    role: MemoryRole | None
    is_own: bool
    why: str
    is_read: bool = False
    query: str = ""

    @property
    def pk(self) -> int:
        return self.entry.pk

    @property
    def url(self) -> str:
        """Return where it is judged, the filters of the queue kept."""
        return reverse("role_memory:judge", args=[self.pk]) + (f"?{self.query}" if self.query else "")

    @property
    def label(self) -> str:
        """Return what its role is called; the bare id once the role is undeclared."""
        return declared_label(self.role.label) if self.role else self.entry.role_id

    @property
    def direction(self) -> Text:
        """Return what the decision expected of the price."""
        return DIRECTIONS[Direction(self.entry.direction)] if self.entry.direction else ""

    @property
    def state(self) -> tuple[str, Text]:
        """Return the shape of its state badge, and its word."""
        if self.entry.held_at:
            return "held", ""
        status = Status(self.entry.status)
        return STATUS_SHAPES[status], STATUSES[status]

    @property
    def outcome(self) -> tuple[str, Text] | None:
        """Return the shape and the word of what came of it; None while nobody knows."""
        if not self.entry.outcome:
            return None
        outcome = Outcome(self.entry.outcome)
        return OUTCOME_SHAPES[outcome], OUTCOMES[outcome]

    @property
    def pnl(self) -> str:
        """Return the change in percent with its sign, empty when there is no figure."""
        return "" if self.entry.pnl_pct is None else pnl_label(self.entry.pnl_pct)

    @property
    def tone(self) -> str:
        """Return whether that is a gain, a loss, or flat at the precision in which it is shown."""
        return tone_of(self.entry.pnl_pct)

    @property
    def entry_price(self) -> str:
        """Return the price at the decision."""
        return price_label(float(self.entry.entry_price)) if self.entry.entry_price is not None else ""

    @property
    def exit_price(self) -> str:
        """Return the price at the end."""
        return price_label(float(self.entry.exit_price)) if self.entry.exit_price is not None else ""

    @property
    def class_badge(self) -> Badge | None:
        return CLASSES[Classification(self.entry.classification)] if self.entry.classification else None

    @property
    def class_meaning(self) -> Text:
        """Return what its class means, in a line."""
        return CLASS_MEANINGS[Classification(self.entry.classification)] if self.entry.classification else ""


def shape_entries(
    entries: Sequence[RoleMemory],
    *,
    principal: Principal,
    now: datetime,
    read: Collection[int] = (),
    query: str = "",
) -> list[EntryRow]:
    """Return entries as rows; `read` are those whose lessons the prompt carries. No query."""
    return [
        shape_entry(
            each,
            principal=principal,
            now=now,
            is_read=each.pk in read,
            query=query,
        )
        for each in entries
    ]


def shape_entry(
    entry: RoleMemory,
    *,
    principal: Principal,
    now: datetime,
    is_read: bool = False,
    query: str = "",
) -> EntryRow:
    """Return one entry as a row."""
    declared = registry().find(entry.role_id)
    role = declared.role if declared else None
    is_own = entry.owner_id == principal.owner.pk
    shown = masked_for(principal.owner, entry)
    return EntryRow(
        shown,
        role,
        is_own,
        why_no_lesson(entry, role, now),
        is_read,
        query,
    )
