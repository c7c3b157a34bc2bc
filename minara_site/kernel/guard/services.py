"""Writes of the guard: place a hold, decide one. Sources: decisions (holds), trust P-01 and P-02.

How a room puts its texts under guard; for the usual table, `held_at` does 1, 2 and 4:

1. Before it stores a text it asks `core.judge(text)`, for a row that exists `selectors.judge_stored(kind, {id: text})`.
   One text a row: everything of it that a prompt or an agent reads.
2. In the transaction of the write it stores the row as held (a column that every read leaves out, never words in the
   text) and calls `place_hold`; an accepted text goes in as usual and calls `lift_holds`. Both set the row's
   `rules_version`.
3. The doors answer 202 with `selectors.hold_record`.
4. Its `StoredKind` (`kinds`) reads the text for the queue, releases and discards, and holds again what was decided.
5. What enters a prompt or an answer of a tool leaves out rows that are held, and rows with an outdated verdict
   (`rules_version`) that `judge_stored` refuses; the job `guard.rescan` holds these.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime

from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.core import Finding, Verdict
from minara_site.kernel.guard.models import Decision, Hold

MAX_NOTE_CHARS = 200
MAX_FINDINGS = 100
KEPT_FIELDS = (
    "owner_id",
    "kind",
    "object_id",
    "reason",
    "rule",
    "findings",
    "rules_version",
    "content_sha256",
    "actor",
    "held_at",
)
"""What a hold and the one that follows its undone decision have in common."""


def place_hold(
    *,
    kind: str,
    object_id: int,
    owner_id: int,
    text: str,
    verdict: Verdict,
    actor: str,
    now: datetime,
) -> Hold:
    """Hold a text that was refused; a hold that waits for the same row is replaced. Needs a transaction."""
    lift_holds(
        kind=kind,
        object_ids=[object_id],
        actor=actor,
        now=now,
    )
    hold = new_hold(
        kind=kind,
        object_id=object_id,
        owner_id=owner_id,
        text=text,
        verdict=verdict,
        actor=actor,
        now=now,
    )
    hold.save(force_insert=True)
    return hold


def place_holds(holds: Sequence[Hold]) -> None:
    """Hold the texts of rows that have no hold waiting, such as new ones. Needs a transaction."""
    Hold.objects.bulk_create(holds)


def new_hold(
    *,
    kind: str,
    object_id: int,
    owner_id: int,
    text: str,
    verdict: Verdict,
    actor: str,
    now: datetime,
) -> Hold:
    """Return the unsaved hold of a text that was refused."""
    first = verdict.findings[0]
    return Hold(
        owner_id=owner_id,
        kind=kind,
        object_id=object_id,
        reason=first.reason,
        rule=first.rule,
        findings=[asdict(finding) for finding in kept_findings(verdict)],
        rules_version=verdict.rules_version,
        content_sha256=content_digest(text),
        actor=actor,
        held_at=now,
    )


def kept_findings(verdict: Verdict) -> list[Finding]:
    """Return the findings that a hold keeps: the first hundred, and of each further rule the first."""
    kept = list(verdict.findings[:MAX_FINDINGS])
    rules = {finding.rule for finding in kept}
    for finding in verdict.findings[MAX_FINDINGS:]:
        if finding.rule not in rules:
            rules.add(finding.rule)
            kept.append(finding)
    return kept


def lift_holds(
    *,
    kind: str,
    object_ids: Collection[int],
    actor: str,
    now: datetime,
    decision: Decision = Decision.REPLACED,
) -> int:
    """Close what waits for these rows because a later act overtook it; return how many holds that were."""
    waiting = Hold.objects.open().filter(kind=kind, object_id__in=object_ids)
    return int(waiting.update(decision=decision, decided_at=now, decided_by=actor))


def settle_holds(
    holds: Sequence[Hold],
    *,
    decision: Decision,
    actor: str,
    now: datetime,
    note: str = "",
) -> None:
    """Record what a person decided, all or nothing. Needs a transaction.

    Raises Conflict when one was decided before: of two at once, one wins. Lock the rows that the holds are about
    first, because writers lock in this order.
    """
    decided = {
        "decision": decision,
        "decided_at": now,
        "decided_by": actor,
        "note": note[:MAX_NOTE_CHARS],
    }
    if Hold.objects.open().filter(pk__in=[hold.pk for hold in holds]).update(**decided) != len(holds):
        raise Conflict(_("This was decided meanwhile; look at the queue again."), code="decided")
    for hold in holds:
        for field, value in decided.items():
            setattr(hold, field, value)


def reopen_holds(holds: Sequence[Hold], *, actor: str, now: datetime) -> list[Hold]:
    """Take back what persons decided, all or nothing; return the holds that wait anew for the same reasons.

    They are as old as those before, which stay on record. Needs a transaction and the locked rows. Raises Conflict.
    """
    decided = Hold.objects.filter(pk__in=[hold.pk for hold in holds], undone_at__isnull=True)
    undone = decided.filter(decision__in=(Decision.RELEASED, Decision.DISCARDED))
    if undone.update(undone_at=now, undone_by=actor) != len(holds):
        raise Conflict(_("This waits for a decision again already, or was replaced. Nothing was changed."))
    again = [Hold(**{field: getattr(hold, field) for field in KEPT_FIELDS}) for hold in holds]
    place_holds(again)
    return again


def delete_holds(*, kind: str, object_ids: Collection[int]) -> None:
    """Delete the holds of rows that are gone for good (decisions: delete)."""
    Hold.objects.filter(kind=kind, object_id__in=object_ids).delete()
