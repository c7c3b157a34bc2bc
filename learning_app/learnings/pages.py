"""How learnings look: the list, one with what it did, and what a message would be offered."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.translation import gettext, gettext_lazy as _, pgettext_lazy

from learning_app.learnings.block import render_block
from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.models import Learning, LearningQuerySet, TurnLearning, TurnReview
from learning_app.learnings.selectors import find_similar, is_learning_on, retention
from learning_app.learnings.suggest import Offered, find_offers
from learning_app.vocabulary import LearningUse
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.redact import REDACTED
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.guard.selectors import find_last_hold, find_refused
from minara_site.shell.lists import OwnedList
from minara_site.shell.pages import PageRequest
from minara_site.shell.turns import turn_url
from minara_site.shell.undo import undo_url
from minara_site.web.filters import Filter, FilterKind, Rows, Text, search_in
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Column, Empty, ListSpec, Sort, by_time, time_column

LIVE, HELD, DELETED = "live", "held", "deleted"
MAX_TURNS, MAX_SIMILAR, MAX_TRIED, TOOLS_IN_ROW, MAX_ARGS_LINE = 50, 5, 10, 3, 100
USES: dict[LearningUse, Text] = {
    LearningUse.STORED: _("stored it"),
    LearningUse.MERGED: _("repeated it"),
    LearningUse.SUCCEEDED: _("used it and succeeded"),
    LearningUse.FAILED: _("used it and failed"),
    LearningUse.IGNORED: _("ignored it"),
}

TAUGHT = (LearningUse.STORED, LearningUse.MERGED)


def in_state(rows: Any, state: str) -> Rows:
    """Keep what may be suggested, what the guard holds, or what can be restored."""
    keep: Mapping[str, Callable[[LearningQuerySet], Rows]] = {
        LIVE: LearningQuerySet.live,
        HELD: lambda rows: rows.filter(deleted_at__isnull=True, held_at__isnull=False),
        DELETED: lambda rows: rows.kept(timezone.now() - retention()).filter(deleted_at__isnull=False),
    }
    return keep[state](rows)


def how_they_come() -> str:
    """Return what the list says while it is empty."""
    config = settings.MINARA
    text = gettext(
        "A turn with at least %(calls)s tool calls whose review scores %(score)s of 10 or more becomes one. Agents "
        "also store their own, by the tool memory_learn."
    )
    return text % {"calls": config.minara_learning_min_calls, "score": config.minara_learning_score_threshold}


@dataclass(frozen=True, slots=True)
class LearningRow:
    """A learning as lists and pages show it; `is_refused`: today's guard rules refuse a text that is not held."""

    row: Learning
    is_own: bool
    is_refused: bool = False

    @property
    def pk(self) -> int:
        return self.row.pk

    @property
    def url(self) -> str:
        return reverse("learnings:one", args=[self.row.uid])

    @property
    def tools(self) -> str:
        """Return its first tools in a line."""
        names = " → ".join(self.row.tools[:TOOLS_IN_ROW])
        return names + (" → …" if len(self.row.tools) > TOOLS_IN_ROW else "")

    @property
    def percent_of_decay(self) -> float:
        """What being ignored left of its rank, in percent."""
        return 100 * self.row.counters.decay

    @property
    def percent_of_success(self) -> float:
        """Its share of successes as ranks count it, in percent."""
        return 100 * self.row.counters.success_factor

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Return its steps as tool and arguments, as they are stored; long arguments over several lines."""
        return [(step["tool_name"], written(step["args"])) for step in self.row.tool_sequence]

    @property
    def redactions(self) -> int:
        """Return how many secrets were taken out of its arguments before they were stored."""
        return json.dumps(self.row.tool_sequence).count(REDACTED)


def written(args: Any) -> str:
    """Return arguments as JSON, empty without any."""
    line = json.dumps(args, ensure_ascii=False, sort_keys=True) if args else ""
    return line if len(line) <= MAX_ARGS_LINE else json.dumps(args, ensure_ascii=False, sort_keys=True, indent=2)


def shape_rows(rows: Sequence[Learning], principal: Principal) -> list[LearningRow]:
    """Return rows as this reader sees them: another's without secrets."""
    refused = find_refused(LEARNING_KIND, rows)
    shown = [
        LearningRow(
            row,
            row.owner_id == principal.owner.pk,
            row.pk in refused,
        )
        for row in rows
    ]
    for each in shown:
        if not each.is_own:
            each.row.mask()
    return shown


LEARNINGS = OwnedList(
    spec=ListSpec(
        name="learnings",
        caption=_("Learnings"),
        row="learning_app/learnings/_row.html",
        columns=(
            Column(pgettext_lazy("learning", "Learning")),
            Column(_("Worked"), sorts=("worked",), numeric=True),
            Column(_("Failed"), sorts=("failed",), numeric=True),
            Column(_("Decay factor"), sorts=("ignored",), numeric=True),
            Column(_("Last used"), numeric=True),
            time_column(_("Stored")),
        ),
        sorts=(
            *by_time("created_at"),
            Sort("worked", _("most successes first"), Order("success_count")),
            Sort("failed", _("most failures first"), Order("failure_count")),
            Sort("ignored", _("most ignored first"), Order("ignored_count")),
        ),
        filters=(
            search_in(
                _("Search name, trigger and guidance"),
                "name",
                "trigger",
                "guidance",
            ),
            Filter(
                "state",
                _("State"),
                FilterKind.TABS,
                choices=(
                    (LIVE, _("Active")),
                    (HELD, _("Held")),
                    (DELETED, _("Deleted")),
                ),
                default=LIVE,
                apply=in_state,
            ),
        ),
        bulk=(BulkAction("delete", _("Delete"), "trash"),),
        bulk_url="learnings:bulk",
        empty=Empty("reflect", _("No learnings yet"), lazy(how_they_come, str)()),
    ),
    act=Act.LEARNINGS_READ,
    kind="learnings",
    rows=Learning.objects.for_owner,
    own=_("Learnings"),
    of=_("Learnings of %(owner)s"),
    shape=lambda rows, request: shape_rows(rows, request.principal),
    tabs=lambda owner: {state: in_state(Learning.objects.for_owner(owner), state) for state in (LIVE, HELD, DELETED)},
    owner_column=Column(_("Owner")),
    template="learning_app/learnings/list.html",
)


@dataclass(frozen=True, slots=True)
class TurnUse:
    """What a turn did with a learning: in words, in which session and when; `review` is what stored or repeated it."""

    label: Text
    session: str
    session_id: str
    sequence: int
    at: datetime
    review: TurnReview | None

    @property
    def url(self) -> str:
        return turn_url(self.session_id, self.sequence)


def list_turns(row: Learning) -> list[TurnUse]:
    """Return what the newest turns did with a learning. Two queries."""
    newest = TurnLearning.objects.filter(learning=row).select_related("turn__session").order_by("-pk")
    uses = list(newest.defer("turn__user_message", "turn__assistant_message", "turn__tool_calls")[:MAX_TURNS])
    taught = [use.turn_id for use in uses if use.use in TAUGHT]
    reviews = TurnReview.objects.in_bulk(taught)
    return [
        TurnUse(
            USES[LearningUse(use.use)],
            use.turn.session.title,
            use.turn.session_id,
            use.turn.sequence,
            use.at,
            reviews.get(use.turn_id) if use.use in TAUGHT else None,
        )
        for use in uses
    ]


def page_context(row: Learning, request: PageRequest) -> dict[str, Any]:
    """Return what the page of one learning shows."""
    principal = request.principal
    similar = find_similar(row, limit=MAX_SIMILAR) if row.held_at is None else []
    [shown] = shape_rows([row], principal)
    reads = render_block([(row, [False] * len(row.tool_sequence))])
    names = name_actors(
        [row.actor, *filter(None, [row.edited_by])],
        reader=principal.owner,
    )
    return {
        "undo_url": undo_url(LEARNING_KIND, row, principal, ["learning_edited"]),
        "title": row.name,
        "shown": shown,
        "row": row,
        "reads": reads,
        "tokens": estimate_tokens(reads),
        "similar": [(each, 100 * cosine) for (each, cosine) in zip_shown(similar, principal)],
        "turns": list_turns(row),
        "hold": find_last_hold(LEARNING_KIND, row.pk),
        "author": names[row.actor],
        "editor": names.get(row.edited_by, ""),
        "is_on": is_learning_on(),
    }


def zip_shown(similar: Sequence[tuple[Learning, float]], principal: Principal) -> list[tuple[LearningRow, float]]:
    """Return similar learnings as this reader sees them, with their cosine."""
    shown = shape_rows([row for row, _cosine in similar], principal)
    return list(zip(shown, (cosine for _row, cosine in similar), strict=True))


@dataclass(frozen=True, slots=True)
class TriedRow:
    """A learning that a message finds: why it ranks where it does, and whether it would be offered."""

    shown: LearningRow
    offer: Offered
    is_offered: bool

    @property
    def steps(self) -> list[tuple[str, bool]]:
        """Return its tools, each with whether it needs permission."""
        return list(zip(self.offer.row.tools, self.offer.marks, strict=True))


def try_message(
    *,
    owner_id: int,
    message: str,
    max_tier: int,
    principal: Principal,
) -> list[TriedRow]:
    """Return what a new session would be offered for a message, and what comes right behind it."""
    top = settings.MINARA.minara_learning_top_k
    offers = find_offers(
        owner_id=owner_id,
        message=message,
        max_tier=max_tier,
        limit=max(MAX_TRIED, top),
    )
    rows = shape_rows([offer.row for offer in offers], principal)
    return [
        TriedRow(shown, offer, number < top) for number, (shown, offer) in enumerate(zip(rows, offers, strict=True))
    ]
