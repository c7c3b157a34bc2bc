"""What came of a decision: from a probe, or marked by hand. Sources: S0 (manual probe), decisions (right decisions)."""

import math
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.roles.core import Status, Trigger
from memory_app.roles.core.declarations import DeclaredRole, Manual
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.result import ProbeResult
from memory_app.roles.registry import registry
from memory_app.roles.selectors import get_entry
from memory_app.roles.services.triggers import request_due_sweeps
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, FieldError, Invalid
from minara_site.kernel.events import role_memory_changed, send_after_commit
from minara_site.kernel.guard import core as guard
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import clean_text

MAX_NOTE_CHARS = 500
MAX_PCT = 1_000_000


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
) -> RoleMemory:
    """Say what came of a decision of a manual role: a right one closes at once, a wrong one waits for its reflection.

    Raises NotFound, Conflict when its role has another probe or the outcome is known, and Invalid.
    """
    note, pnl_pct = clean_note(note), clean_pct(pnl_pct)
    outcome = Outcome.RIGHT if correct else Outcome.WRONG
    with transaction.atomic():
        entry = get_entry(owner=owner, entry_id=entry_id, lock=True)
        declared = check_markable(entry)
        set_outcome(entry, ProbeResult(outcome, at=now, pnl_pct=pnl_pct, by=actor))
        entry.outcome_note = note
        if correct:
            entry.status, entry.reflected_at = Status.REFLECTED, now  # nothing is to be learned from it
        entry.save()
        record_audit(
            now=now,
            actor=actor,
            tool_call="role_outcome_marked",
            owner_id=entry.owner_id,
            reasoning=note,
            details={"id": entry.pk, "role": entry.role_id, "outcome": outcome.value},
        )
        send_after_commit(role_memory_changed, owner_id=entry.owner_id, entry_ids=(entry.pk,))
        if not correct:
            request_due_sweeps([declared], Trigger.ON_NEW_WRITE)
    return entry


def check_markable(entry: RoleMemory) -> DeclaredRole:
    """Return the role of a decision that waits for somebody to mark it. Raises Conflict for any other."""
    declared = registry().find(entry.role_id)
    if declared is None:
        raise Conflict(_("No skill declares this role any more; its decisions stay as they are."), code="undeclared")
    if not isinstance(declared.policy.outcome_probe, Manual):
        raise Conflict(_("The outcome of this role comes from its probe; no one marks it."), code="not_manual")
    if entry.held_at is not None:
        raise Conflict(_("The guard holds this decision; an operator releases it first."), code="held")
    if entry.outcome is not None or entry.status != Status.PENDING:
        raise Conflict(_("The outcome is known already, and is written once."), code="outcome_known")
    return declared


def clean_note(note: str) -> str:
    """Return the note. Raises Invalid for one that is too long, or that the guard refuses: it stands in prompts."""
    text = clean_text(note, field="note", max_chars=MAX_NOTE_CHARS, min_chars=0)
    if guard.judge(text).is_held:
        problem = _("The note reads like an instruction, or holds a secret. Say it in other words.")
        raise Invalid(problem, code="held", errors=(FieldError("note", problem),))
    return text


def clean_pct(pnl_pct: float | None) -> float | None:
    """Return the change in percent. Raises Invalid for what is no figure of one."""
    if pnl_pct is not None and not (math.isfinite(pnl_pct) and abs(pnl_pct) <= MAX_PCT):
        problem = _("Give pnl_pct in percent, such as -3.5.")
        raise Invalid(problem, errors=(FieldError("pnl_pct", problem),))
    return pnl_pct
