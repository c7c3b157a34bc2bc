"""Operators acknowledge findings, and undo it. The findings themselves, and all of learning, stay as they are."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from learning_app.audit.core.records import FindingCode
from learning_app.audit.models import MAX_NOTE_CHARS, Acknowledgement, AuditReport
from learning_app.audit.selectors import findings_of, usual_reports
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, NotFound, or_not_found
from minara_site.kernel.plain_text import clean_text


def acknowledge(
    *,
    codes: Collection[str],
    note: str,
    actor: str,
    now: datetime,
) -> list[Acknowledgement]:
    """Acknowledge findings of the newest report at their present severity. Raises NotFound for another, Invalid.

    What was acknowledged before is so anew, with this note.
    """
    note = clean_text(note, field="note", max_chars=MAX_NOTE_CHARS, min_chars=0)
    with transaction.atomic():
        made = build_acknowledgements(
            lock_usual(),
            codes,
            note=note,
            actor=actor,
            now=now,
        )
        Acknowledgement.objects.filter(code__in=codes, ended_at=None).update(ended_at=now)
        Acknowledgement.objects.bulk_create(made)
        details = {"codes": [each.code for each in made], "ids": [each.pk for each in made]}
        record_audit(
            now=now,
            actor=actor,
            tool_call="finding_acknowledged",
            reasoning=note,
            details=details,
        )
    return made


def lock_usual() -> AuditReport | None:
    """Lock and return the newest report that the pages show: of two who decide on its findings one waits."""
    newest = usual_reports().first()
    return AuditReport.objects.select_for_update().get(pk=newest.pk) if newest else None


def build_acknowledgements(
    report: AuditReport | None,
    codes: Collection[str],
    *,
    note: str,
    actor: str,
    now: datetime,
) -> list[Acknowledgement]:
    """Return unsaved acknowledgements of findings of a report. Raises NotFound unless it has them all."""
    findings = findings_of(report) if report else []
    found = {each["code"]: each for each in findings if each["code"] in set(FindingCode)}
    if report is None or not codes or not set(codes) <= found.keys():
        raise NotFound(_("The newest report has no such finding. Reload the page."))
    return [
        Acknowledgement(
            code=code,
            dimension=found[code]["dimension"],
            severity=found[code]["severity"],
            note=note,
            actor=actor,
            at=now,
        )
        for code in sorted(set(codes))
    ]


def undo_acknowledgement(
    *,
    acknowledgement_id: int,
    actor: str,
    now: datetime,
) -> list[Acknowledgement]:
    """End an acknowledgement and those of the same act; the findings are open again. Raises NotFound, Conflict."""
    with transaction.atomic():
        given = get_acknowledgement(acknowledgement_id)
        together = Acknowledgement.objects.filter(
            at=given.at,
            actor=given.actor,
            ended_at=None,
        )
        return set_ended(
            together,
            ended_at=now,
            act="finding_reopened",
            actor=actor,
            now=now,
        )


def restore_acknowledgement(
    *,
    acknowledgement_id: int,
    actor: str,
    now: datetime,
) -> list[Acknowledgement]:
    """Undo that acknowledgements were ended in one act, but for findings that were acknowledged again since.

    Raises NotFound, and Conflict when that leaves none.
    """
    with transaction.atomic():
        lock_usual()
        given = get_acknowledgement(acknowledgement_id)
        given_since = Acknowledgement.objects.filter(ended_at=None).values("code")
        acts = AuditEntry.objects.filter(tool_call="finding_reopened", at=given.ended_at or now)
        reopened = (entry.details["ids"] for entry in acts)  # another act may have the same moment
        ids = next((each for each in reopened if given.pk in each), [given.pk])
        together = Acknowledgement.objects.filter(pk__in=ids, ended_at=given.ended_at).exclude(ended_at=None)
        left = together.exclude(code__in=given_since)
        if together.exists() and not left.exists():
            raise Conflict(_("It was acknowledged again since. Nothing was changed."), code="acknowledged")
        return set_ended(
            left,
            ended_at=None,
            act="finding_acknowledged",
            actor=actor,
            now=now,
        )


def get_acknowledgement(acknowledgement_id: int) -> Acknowledgement:
    """Return an acknowledgement. Raises NotFound."""
    return or_not_found(
        Acknowledgement.objects.filter(pk=acknowledgement_id).first(), _("There is no such acknowledgement.")
    )


def set_ended(
    rows: "QuerySet[Acknowledgement]",
    *,
    ended_at: datetime | None,
    act: str,
    actor: str,
    now: datetime,
) -> list[Acknowledgement]:
    """End acknowledgements, or let them hold again. Raises Conflict when there are none."""
    found = list(rows.order_by("pk").select_for_update())
    if not found:
        raise Conflict(_("This was undone already."), code="undone")
    Acknowledgement.objects.filter(pk__in=[each.pk for each in found]).update(ended_at=ended_at)
    details = {"codes": [each.code for each in found], "ids": [each.pk for each in found]}
    record_audit(
        now=now,
        actor=actor,
        tool_call=act,
        details=details,
    )
    return found
