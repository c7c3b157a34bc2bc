"""What came of a decision: from a probe, or marked by hand. Sources: S0 (manual probe), decisions (right decisions).

A key's word is the outcome at once. A person's is kept beside the entry and can be undone for a while: until it takes
effect no reader finds an outcome. A job makes it effective, and so does whoever reads the entry after that time.
"""

import math
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import transaction
from django.db.models import Min
from django.utils.translation import gettext as _

from memory_app.roles.core import Status, Trigger
from memory_app.roles.core.declarations import Manual
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.result import ProbeResult
from memory_app.roles.registry import registry
from memory_app.roles.selectors import get_entry
from memory_app.roles.services.triggers import START, request_due_sweeps
from minara_site.access.access_log import log_opened
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, FieldError, Invalid, invalid_field
from minara_site.kernel.events import role_memory_changed, send_after_commit
from minara_site.kernel.guard import core as guard
from minara_site.kernel.jobs.services import request_run_later
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import clean_text

MAX_NOTE_CHARS = 500
MAX_PCT = 1_000_000
UNDO_FOR = timedelta(seconds=10)
MAX_APPLIED = 500  # of one look
APPLY = f"job:{START}"


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody says came of a decision."""

    outcome: Outcome
    pnl_pct: float | None
    note: str
    actor: str

    @classmethod
    def of(cls, entry: RoleMemory) -> Self:
        """Return the mark that an entry keeps; call it only while it keeps one."""
        kept: dict[str, Any] = entry.mark or {}
        return cls(
            Outcome(kept["outcome"]),
            kept["pnl_pct"],
            kept["note"],
            kept["actor"],
        )


def set_outcome(entry: RoleMemory, result: ProbeResult) -> None:
    """Fill the columns of the outcome in memory; whoever calls stores the row."""
    entry.outcome, entry.outcome_at, entry.outcome_by = result.outcome, result.at, result.by
    entry.pnl_pct = result.pnl_pct
    if result.entry_quote:
        entry.entry_price, entry.entry_price_at = result.entry_quote.price, result.entry_quote.at
    if result.exit_quote:
        entry.exit_price, entry.exit_price_at = result.exit_quote.price, result.exit_quote.at


def mark_outcome(
    *,
    owner: Owner,
    entry_id: int,
    correct: bool,
    pnl_pct: float | None,
    note: str,
    actor: str,
    now: datetime,
    undo_for: timedelta = timedelta(),
) -> RoleMemory:
    """Say what came of a decision of a manual role, at once or, with `undo_for`, once that time is over.

    Raises NotFound, Conflict when its role has another probe or the outcome is known or marked, and Invalid.
    """
    if pnl_pct is not None and not (math.isfinite(pnl_pct) and abs(pnl_pct) <= MAX_PCT):
        raise invalid_field("pnl_pct", _("Give pnl_pct in percent, such as -3.5."))
    mark = Mark(
        Outcome.RIGHT if correct else Outcome.WRONG,
        pnl_pct,
        clean_note(note),
        actor,
    )
    with transaction.atomic():
        entry = get_entry(owner=owner, entry_id=entry_id, lock=True)
        check_markable(entry)
        if undo_for:
            entry.mark, entry.mark_effective_at = asdict(mark), now + undo_for
            entry.save(update_fields=["mark", "mark_effective_at"])
            request_run_later(
                START,
                not_before=now + undo_for,
                now=now,
                requested_by=actor,
            )
        else:
            set_marked_outcome(entry, mark, at=now)
        audit_mark("role_outcome_marked", entry, mark, actor=actor, now=now)
    return entry


def undo_mark(
    *,
    owner: Owner,
    entry_id: int,
    actor: str,
    now: datetime,
) -> RoleMemory:
    """Take a mark back that has not taken effect. Raises NotFound, and Conflict once its time is over."""
    with transaction.atomic():
        entry = get_entry(owner=owner, entry_id=entry_id, lock=True)
        if entry.mark_effective_at is None and entry.outcome is None:
            raise Conflict(_("There is no mark to undo."), code="not_marked")
        if entry.mark_effective_at is None or entry.mark_effective_at <= now:
            raise Conflict(_("The time to undo is over: the outcome is final."), code="outcome_known")
        mark, entry.mark, entry.mark_effective_at = Mark.of(entry), None, None
        entry.save(update_fields=["mark", "mark_effective_at"])
        audit_mark("role_outcome_undone", entry, mark, actor=actor, now=now)
    return entry


def apply_due_marks(*, now: datetime) -> int:
    """Make the marks whose time to undo is over the outcome of their entries; return how many. One query if none is.

    A held entry keeps its mark until it is released.
    """
    due = RoleMemory.objects.pending().filter(mark_effective_at__lte=now).order_by("mark_effective_at", "pk")
    return sum(apply_mark(pk, now=now) for pk in list(due.values_list("pk", flat=True)[:MAX_APPLIED]))


def open_entry(
    principal: Principal,
    owner: Owner,
    entry_id: int,
    *,
    now: datetime,
) -> RoleMemory:
    """Return a decision as it stands now; who opens somebody else's leaves a line. Raises NotFound."""
    apply_due_marks(now=now)
    entry = get_entry(owner=owner, entry_id=entry_id)
    log_opened(
        principal,
        entry.owner_id,
        kind="role_memory",
        object_id=entry.pk,
        now=now,
    )
    return entry


def apply_mark(entry_id: int, *, now: datetime) -> bool:
    """Make the mark of one entry its outcome, unless it was undone or another process was first."""
    with transaction.atomic():
        due = RoleMemory.objects.pending().filter(pk=entry_id, mark_effective_at__lte=now)
        entry = due.select_for_update(of=("self",)).first()
        if entry is None:
            return False
        mark = Mark.of(entry)
        set_marked_outcome(entry, mark, at=entry.mark_effective_at)
        audit_mark("role_outcome_applied", entry, mark, actor=APPLY, now=now)
    return True


def request_next_application(*, now: datetime) -> None:
    """Request a run for the next mark that is to take effect, if there is one."""
    waiting = RoleMemory.objects.pending().filter(mark_effective_at__gt=now)
    next_at = waiting.aggregate(next_at=Min("mark_effective_at"))["next_at"]
    if next_at:
        request_run_later(START, not_before=next_at, now=now, requested_by=APPLY)


def set_marked_outcome(entry: RoleMemory, mark: Mark, *, at: datetime) -> None:
    """Store a mark as the outcome: a right one closes the entry, a wrong one waits for its reflection."""
    set_outcome(
        entry,
        ProbeResult(mark.outcome, at=at, pnl_pct=mark.pnl_pct, by=mark.actor),
    )
    entry.outcome_note, entry.mark, entry.mark_effective_at = mark.note, None, None
    is_right = entry.outcome == Outcome.RIGHT
    if is_right:
        entry.status, entry.reflected_at = Status.REFLECTED, at  # nothing is to be learned from it
    entry.save()
    send_after_commit(
        role_memory_changed,
        owner_id=entry.owner_id,
        entry_ids=(entry.pk,),
    )
    declared = registry().find(entry.role_id)
    if declared and not is_right:
        request_due_sweeps([declared], Trigger.ON_NEW_WRITE)


def audit_mark(
    tool_call: str,
    entry: RoleMemory,
    mark: Mark,
    *,
    actor: str,
    now: datetime,
) -> None:
    """Leave a row of what was done with a mark."""
    record_audit(
        now=now,
        actor=actor,
        tool_call=tool_call,
        owner_id=entry.owner_id,
        reasoning=mark.note,
        details={
            "id": entry.pk,
            "role": entry.role_id,
            "outcome": mark.outcome.value,
        },
    )


def check_markable(entry: RoleMemory) -> None:
    """Raise Conflict unless the decision waits for somebody to mark it."""
    declared = registry().find(entry.role_id)
    if declared is None:
        raise Conflict(_("No skill declares this role any more; its decisions stay as they are."), code="undeclared")
    if not isinstance(declared.policy.outcome_probe, Manual):
        raise Conflict(_("The outcome of this role comes from its probe; no one marks it."), code="not_manual")
    if entry.held_at is not None:
        raise Conflict(_("The guard holds this decision; an operator releases it first."), code="held")
    if entry.outcome is not None or entry.status != Status.PENDING:
        raise Conflict(_("The outcome is known already, and is written once."), code="outcome_known")
    if entry.mark_effective_at is not None:
        raise Conflict(_("A person marked the outcome a moment ago."), code="outcome_known")


def clean_note(note: str) -> str:
    """Return the note. Raises Invalid for one that is too long, or that the guard refuses: it stands in prompts."""
    text = clean_text(note, field="note", max_chars=MAX_NOTE_CHARS, min_chars=0)
    if guard.judge(text).is_held:
        problem = _("The note reads like an instruction, or holds a secret. Say it in other words.")
        raise Invalid(problem, code="held", errors=(FieldError("note", problem),))
    return text
