"""Proposals as a kind of the review queue: soft ones are approved one by one, hard ones only rejected (U-19, U-20)."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.lists import PreferenceRow, shape_rows
from learning_app.preferences.pages.one import review_context
from learning_app.preferences.selectors import preference_missing
from learning_app.preferences.services.decide import approve, reject_all
from learning_app.preferences.services.propose import SAME_STATEMENT
from learning_app.similarity.core import find_most_similar_tfidf
from learning_app.vocabulary import PreferenceState
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Conflict
from minara_site.kernel.ownership import EVERYONE
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.review import RecordedReview, ReviewItem, ReviewPane, Verdict
from minara_site.web.filters import Rows, Text
from minara_site.web.moments import number_label

EXCERPT_CHARS = 160
FIGURES = re.compile(r"\d[\d.,]*")


class ProposalReview(RecordedReview):
    """Preferences that wait for a decision. Nearly equal ones of one owner are similar; only rejecting is for many."""

    name, tab, label = "preference", "proposals", gettext_lazy("Proposals")
    since = "created_at"
    accept, refuse = gettext_lazy("Approve"), gettext_lazy("Reject")
    read_as = kind = PREFERENCE_KIND
    decisions = ("preference_approved", "preference_rejected")
    accepts_together = False

    def waiting(self) -> Rows:
        return Preference.objects.proposed().select_related("owner")

    def find(self, keys: Collection[str]) -> Sequence[Preference]:
        found = list(Preference.objects.filter(pk__in=ids_of(keys)).select_related("owner").order_by("pk"))
        if len(found) != len(set(keys)):
            raise preference_missing()
        return found

    def show_rows(
        self,
        rows: Sequence[Any],
        *,
        principal: Principal,
    ) -> list[ReviewItem]:
        shown, groups = shape_rows(rows, principal.owner), group_similar(rows)
        return [item_of(view, row, groups[row.pk]) for view, row in zip(shown, rows, strict=True)]

    def show(self, item: ReviewItem, *, principal: Principal) -> ReviewPane:
        shown, row = item.view
        evidence = review_context(shown, row, principal.owner)
        return ReviewPane(
            "learning_app/preferences/_review.html",
            evidence,
            *verdicts_on(shown),
        )

    def decided_url(self, row: Any) -> str:
        return reverse("preferences:one", args=[row.pk])

    def decide(
        self,
        keys: Sequence[str],
        *,
        accepts: bool,
        principal: Principal,
        note: str,
        now: datetime,
    ) -> Text:
        principal.require(Act.PREFERENCE_DECIDE)
        ids, actor = ids_of(keys), principal.actor
        try:
            if accepts:
                [preference_id] = ids
                approve(
                    preference_id=preference_id,
                    owner=EVERYONE,
                    actor=actor,
                    now=now,
                )
                return _("Approved 1 preference. Agents of its owner read it from the next session on.")
            count = len(
                reject_all(
                    ids=ids,
                    owner=EVERYONE,
                    reason=note,
                    actor=actor,
                    now=now,
                )
            )
        except Conflict as conflict:
            raise Conflict(
                decided_label(ids, principal) or conflict.detail,
                code=conflict.problem_code,
            ) from None
        text = ngettext("Rejected %(count)s proposal.", "Rejected %(count)s proposals.", count)
        return text % {"count": number_label(count)}


def ids_of(keys: Collection[str]) -> list[int]:
    """Return the ids of preferences that these keys are. Raises NotFound for what can be none."""
    ids = [parse_number(key) for key in keys]
    if None in ids:
        raise preference_missing()
    return [each for each in ids if each is not None]


def group_similar(rows: Sequence[Preference]) -> dict[int, str]:
    """Return by id the first row of the same owner that says nearly the same but for figures, to name its group."""
    groups: dict[int, str] = {}
    heads: dict[int, dict[int, str]] = {}
    for row in rows:
        own, words = heads.setdefault(row.owner_id, {}), FIGURES.sub(" ", row.statement)
        match = find_most_similar_tfidf(words, own) if own else None
        head = match.key if match and match.score >= SAME_STATEMENT else row.pk
        own.setdefault(head, words)
        groups[row.pk] = str(head)
    return groups


def item_of(shown: PreferenceRow, row: Preference, group: str) -> ReviewItem:
    """Return a proposal as the queue lists it; its view is what its reader sees of it, and the row."""
    owner = row.owner.get_short_name()
    return ReviewItem(
        kind=ProposalReview.name,
        key=str(row.pk),
        since=row.created_at,
        title=_("Preference %(id)d") % {"id": row.pk},
        word=_("Preference, %(owner)s") % {"owner": owner},
        note=_("hard constraint") if row.is_hard else shown.dimension,
        excerpt=shown.row.statement[:EXCERPT_CHARS],
        view=(shown, row),
        group=group,
    )


def verdicts_on(shown: PreferenceRow) -> tuple[Verdict, Verdict]:
    """Return what approving and rejecting mean for a proposal, and why it cannot be approved here."""
    refusal = ""
    if shown.row.is_hard:
        refusal = _("Only its owner activates a hard constraint, on its page after a fresh sign-in.")
    elif shown.is_refused:
        refusal = _("Today's guard rules refuse its text.")
    return (
        Verdict(
            _("Approve preference"),
            "check",
            _("If it is approved"),
            _("Agents of its owner read it from the next session on, and weigh it."),
            refusal=refusal,
        ),
        Verdict(
            _("Reject preference"),
            "x",
            _("If it is rejected"),
            _("No agent reads it, and none can propose it again. Its owner can."),
        ),
    )


def decided_label(ids: Sequence[int], principal: Principal) -> str:
    """Return who was faster with the first of these that does not wait any more; empty when all wait."""
    row = Preference.objects.filter(pk__in=ids).exclude(state=PreferenceState.PROPOSED).order_by("pk").first()
    if row is None or not row.decided_by:
        return ""
    names = {
        "id": row.pk,
        "who": name_actors([row.decided_by], reader=principal.owner)[row.decided_by],
    }
    return _("Preference %(id)d was decided by %(who)s. Nothing was changed.") % names
