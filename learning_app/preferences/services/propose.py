"""Proposing preferences: nearly the same one raises the evidence count instead. Sources: S1, decisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from django.db.models import F
from django.utils.translation import gettext as _

from learning_app.preferences.core import MAX_STATEMENT_CHARS, PREFERENCE_KIND, UNDECIDED, says_the_same
from learning_app.preferences.models import Preference
from learning_app.similarity.core import TfidfIndex, count_terms
from learning_app.vocabulary import PreferenceDimension, PreferenceKind, PreferenceSource, PreferenceState
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.services import name_set, record, watch
from minara_site.kernel.errors import invalid_field
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import clean_text

SAME_STATEMENT = 0.85
"""From this similarity on, two statements of one dimension and kind that claim the same are one preference."""
MAX_COMPARED = 500
"""As many of the newest statements of that dimension and kind are compared."""
MAX_ORIGIN_CHARS = 255
COMPARED = (PreferenceState.PROPOSED, PreferenceState.ACTIVE, PreferenceState.REJECTED)

Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class PreferenceDraft:
    """A preference that is to be proposed; dimension and kind are words of the vocabulary."""

    dimension: str
    kind: str
    statement: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """The row, and whether it is new; else it was there and has one more piece of evidence."""

    row: Preference
    is_new: bool


def propose_preference(
    *,
    owner_id: int,
    draft: PreferenceDraft,
    source: PreferenceSource,
    actor: str,
    now: datetime,
    origin: str = "",
    reasoning: str = "",
    details: Mapping[str, Any] | None = None,
) -> Proposed:
    """Store a proposal, held when the guard refuses it; nearly the same one is counted once more instead.

    Of one that is there nothing else changes, but a rejected one that a person proposes again waits again. `details`
    go into the audit entry of a new one. Raises Invalid.
    """
    row = build_row(
        owner_id,
        draft,
        source=source,
        actor=actor,
        origin=origin,
        now=now,
    )
    is_refused = guard.judge(row.guarded_text).is_held
    with owner_locked(owner_id):
        same = None if is_refused else find_same(row)
        if same is not None:
            repeat(same, row, now=now, reasoning=reasoning)
            return Proposed(same, is_new=False)
        hold = store_judged(PREFERENCE_KIND, row, now=now)
        held = {"held": 1} if hold else {}
        audit(
            row,
            row,
            "preference_proposed",
            {**held, **(details or {})},
            now=now,
            reasoning=reasoning,
        )
    return Proposed(row, is_new=True)


def build_row(
    owner_id: int,
    draft: PreferenceDraft,
    *,
    source: PreferenceSource,
    actor: str,
    origin: str,
    now: datetime,
) -> Preference:
    """Return the unsaved row of a draft. Raises Invalid."""
    return Preference(
        owner_id=owner_id,
        dimension=clean_word(PreferenceDimension, draft.dimension, field="dimension"),
        kind=clean_word(PreferenceKind, draft.kind, field="kind"),
        statement=clean_text(
            draft.statement,
            field="statement",
            max_chars=MAX_STATEMENT_CHARS,
        ),
        source=source,
        actor=actor,
        origin=origin[:MAX_ORIGIN_CHARS],
        created_at=now,
        updated_at=now,
    )


def clean_word(vocabulary: type[Word], word: str, *, field: str) -> Word:
    """Return a word of a closed vocabulary. Raises Invalid."""
    try:
        return vocabulary(word)
    except ValueError:
        problem = _("Choose one of: %(words)s.") % {"words": ", ".join(vocabulary)}
        raise invalid_field(field, problem) from None


def find_same(row: Preference) -> Preference | None:
    """Return the locked preference that a proposal repeats, None without one. Needs the owner's lock."""
    own = Preference.objects.filter(
        owner_id=row.owner_id,
        dimension=row.dimension,
        kind=row.kind,
    )
    compared = own.filter(state__in=COMPARED, held_at__isnull=True)
    texts = dict(compared.order_by("-pk").values_list("pk", "statement")[:MAX_COMPARED])
    index = TfidfIndex({pk: count_terms(text) for pk, text in texts.items()})
    scores = zip(
        index.cosines(count_terms(row.statement)).tolist(),
        index.keys,
        strict=True,
    )
    similar = (pk for score, pk in sorted(scores, reverse=True) if score >= SAME_STATEMENT)
    same = next(
        (pk for pk in similar if says_the_same(row.statement, texts[pk])),
        None,
    )
    return compared.filter(pk=same).select_for_update(of=("self",)).first() if same else None


def repeat(
    same: Preference,
    repeated: Preference,
    *,
    now: datetime,
    reasoning: str,
) -> None:
    """Count that a locked preference was proposed again; a person's word reopens a rejected one."""
    changes: dict[str, Any] = {"evidence_count": F("evidence_count") + 1}
    is_reopened = same.state == PreferenceState.REJECTED and repeated.source == PreferenceSource.USER
    if is_reopened:
        changes |= {
            **UNDECIDED,
            "state": PreferenceState.PROPOSED,
            "version": F("version") + 1,
            "updated_at": now,
        }
    watched = watch(PREFERENCE_KIND, [same])
    Preference.objects.filter(pk=same.pk).update(**changes)
    same.refresh_from_db()
    details = name_set(record("preference_repeated", watched, actor=repeated.actor, at=now))
    details |= {"reopened": 1} if is_reopened else {}
    audit(
        same,
        repeated,
        "preference_repeated",
        details,
        now=now,
        reasoning=reasoning,
    )


def audit(
    row: Preference,
    written: Preference,
    act: str,
    details: Mapping[str, Any],
    *,
    now: datetime,
    reasoning: str,
) -> None:
    """Record who wrote what about a preference."""
    record_audit(
        now=now,
        actor=written.actor,
        tool_call=act,
        owner_id=row.owner_id,
        reasoning=reasoning,
        details={
            "id": row.pk,
            "sha256": content_digest(written.statement),
            **details,
        },
    )
