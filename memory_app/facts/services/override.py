"""Deciding otherwise than a model did, in one step: its decision is taken back and a person's takes its place."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import Decision
from memory_app.facts.models import ConsolidationEvent, FactVerdict
from memory_app.facts.services.decide import apply_decision
from memory_app.facts.services.undo import undo_event
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Conflict, or_not_found
from minara_site.kernel.ownership import Owner


def override_decision(
    *,
    principal: Principal,
    owner: Owner,
    event_id: int,
    kind: str,
    now: datetime,
) -> ConsolidationEvent:
    """Undo what a model decided about a pair and decide so instead; both stand or neither does.

    Raises NotFound for an event of this owner that no model decided, and Conflict when it was taken back already, when
    a fact is gone, or when the rules refuse the new decision.
    """
    verdict = or_not_found(
        FactVerdict.objects.for_owner(owner).filter(event__pk=event_id).select_related("conflict").first(),
        _("There is no such decision of a model."),
    )
    pair = verdict.conflict
    with transaction.atomic():
        undo_event(
            principal=principal,
            owner=owner,
            event_id=event_id,
            now=now,
        )
        event = apply_decision(
            owner=owner,
            conflict_id=pair.pk,
            decision=Decision(kind, pair.older_id, pair.newer_id),
            decider=Decider.PERSON,
            actor=principal.actor,
            now=now,
        )
        if event.kind == EventKind.REFUSED:
            sentence = _("The pair changed meanwhile, or its user typed the fact that would go.")
            raise Conflict(sentence, code=event.reason)
    return event
