"""Storing learnings, never twice: what repeats a trigger counts on the one that has it. Source: S2 (skill-manager)."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import F
from django.utils.translation import gettext as _

from learning_app.learnings.core import LEARNING_KIND, MAX_GUIDANCE_CHARS, MAX_NAME_CHARS, MAX_TRIGGER_CHARS
from learning_app.learnings.core.ranking import SAME_TRIGGER, is_opposite
from learning_app.learnings.core.steps import MAX_SEQUENCE_CHARS, MAX_STEPS, MAX_TOOL_NAME_CHARS
from learning_app.learnings.index import load_index
from learning_app.learnings.models import Learning
from learning_app.learnings.selectors import require_learning_on
from learning_app.similarity.core import count_terms, find_most_similar_tfidf
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.core.redact import redact
from minara_site.kernel.errors import invalid_field, refuse_problems
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import clean_text, storable_problem

MAX_COMPARED = 500


@dataclass(frozen=True, slots=True)
class LearningDraft:
    """A learning that is to be stored. `tool_sequence` is `[{tool_name, args}]`."""

    name: str
    trigger: str
    tool_sequence: Sequence[dict[str, Any]] = ()
    guidance: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """The row, and whether it is new; else one with the same trigger was there and counts once more."""

    row: Learning
    is_new: bool


def store_learning(
    *,
    owner_id: int,
    draft: LearningDraft,
    actor: str,
    now: datetime,
    origin: str = "",
    reasoning: str = "",
    counted: Collection[int] = (),
) -> Stored:
    """Store a learning, or raise `success_count` of the one whose trigger it repeats; what the guard refuses is held.

    Those `counted`, by number, have had this success already. Raises Invalid, and Conflict while learning is switched
    off.
    """
    require_learning_on()
    row = build_row(
        owner_id=owner_id,
        draft=draft,
        actor=actor,
        origin=origin,
        now=now,
    )
    with owner_locked(owner_id):
        same = find_same(row)
        if same is not None:
            Learning.objects.filter(pk=same.pk).exclude(pk__in=counted).update(success_count=F("success_count") + 1)
            same.refresh_from_db()
        else:
            store_judged(LEARNING_KIND, row, now=now)
        stored = same or row
        record_audit(
            now=now,
            actor=actor,
            tool_call="learning_repeated" if same else "learning_stored",
            owner_id=owner_id,
            reasoning=reasoning,
            details={"id": stored.uid, "sha256": content_digest(row.guarded_text)}
            | ({"held": 1} if stored.held_at else {}),
        )
    return Stored(stored, is_new=same is None)


def build_row(
    *,
    owner_id: int,
    draft: LearningDraft,
    actor: str,
    origin: str,
    now: datetime,
) -> Learning:
    """Return the unsaved row of a draft, cleaned and its arguments redacted. Raises Invalid."""
    steps = clean_steps(draft.tool_sequence)
    guidance = clean_text(
        draft.guidance,
        field="guidance",
        max_chars=MAX_GUIDANCE_CHARS,
        min_chars=0,
    )
    if not steps and not guidance:
        problem = _("Give a tool sequence, guidance, or both.")
        refuse_problems({"tool_sequence": problem, "guidance": problem})
    return Learning(
        owner_id=owner_id,
        name=clean_text(draft.name, field="name", max_chars=MAX_NAME_CHARS),
        trigger=clean_text(draft.trigger, field="trigger", max_chars=MAX_TRIGGER_CHARS),
        tool_sequence=steps,
        guidance=guidance,
        actor=actor,
        origin=origin[:255],
        created_at=now,
        updated_at=now,
    )


def clean_steps(steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return steps as they are stored: named, redacted. Raises Invalid for too many or what cannot be stored."""
    if len(steps) > MAX_STEPS:
        raise invalid_field("tool_sequence", _("Give at most %(max)d steps.") % {"max": MAX_STEPS})
    cleaned = [
        {
            "tool_name": clean_text(
                step["tool_name"],
                field="tool_sequence",
                max_chars=MAX_TOOL_NAME_CHARS,
            ),
            "args": redact(step.get("args")),
        }
        for step in steps
    ]
    written = json.dumps(cleaned, ensure_ascii=False)
    if problem := storable_problem(written.replace("\\u0000", "\0")):
        raise invalid_field("tool_sequence", problem)
    if len(written) > MAX_SEQUENCE_CHARS:
        raise invalid_field(
            "tool_sequence",
            _("Shorten the arguments: the steps have more than %(max)d characters.") % {"max": MAX_SEQUENCE_CHARS},
        )
    return cleaned


def find_same(row: Learning) -> Learning | None:
    """Return the live learning of the owner with nearly the same trigger, locked. Needs the lock of the owner.

    Triggers that ask for opposite actions are never the same, however many words they share. Those without a word that
    counts are the same where their characters are.
    """
    own, query = Learning.objects.filter(owner_id=row.owner_id).live(), count_terms(row.trigger)
    if query:
        index = load_index(row.owner_id)
        cosines = index.cosines(query)
        near = {index.keys[place]: -cosines[place] for place in np.flatnonzero(cosines >= SAME_TRIGGER)}
        triggers = dict(own.filter(pk__in=list(near)).values_list("number", "trigger"))
        same = [pk for pk, trigger in triggers.items() if not is_opposite(trigger, row.trigger)]
        best = min(same, key=lambda pk: (near[pk], pk), default=None)
    else:
        newest = own.order_by("-number").values_list("number", "trigger")[:MAX_COMPARED]
        match = find_most_similar_tfidf(
            row.trigger,
            {pk: text for pk, text in newest if not count_terms(text)},
        )
        best = match.key if match and match.score >= SAME_TRIGGER else None
    return own.select_for_update(of=("self",)).filter(pk=best).first() if best else None
