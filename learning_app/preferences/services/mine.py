"""A model reads what users wrote and proposes preferences; nothing it finds is in force. Sources: S1, decisions, R-11.

An owner's turns are read in the order of their ids, behind a cursor that moves in the transaction of the proposals and
never for a question that failed. Of turns whose answer is invalid the next run asks about fewer; the third invalid
answer in a row is about one turn alone, which is then passed over and counted, so that it blocks the others no longer.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from learning_app.capabilities import PREFERENCE_MINING
from learning_app.preferences.core.mining import (
    MAX_TOKENS,
    SYSTEM,
    TURN_ORIGIN,
    TURNS_ASKED,
    MinedPreference,
    MinedPreferences,
    clean_message,
    count_fitting,
    find_cited,
    render_turns,
)
from learning_app.preferences.models import PreferenceCursor
from learning_app.preferences.services.propose import PreferenceDraft, propose_preference
from learning_app.vocabulary import PreferenceSource
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.errors import Refused, Throttled, Unavailable
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.guard import core as guard
from minara_site.kernel.jobs.leases import KeptLease, kept_lease
from minara_site.kernel.jobs.services import DROPPED, Claim, report_progress
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import Answer, AnswerInvalid, Question, ask, what_is_missing
from minara_site.kernel.ownership import lock_owner

MINE = "preferences.mine"
EVERY = timedelta(hours=6)
ACTOR = f"job:{MINE}"
LEASE_SECONDS = 60
MAX_QUESTIONS, MAX_OF_OWNER = 100, 5  # in a run
SUBJECT = "mined_turns"
PROPOSED, REPEATED, HELD = "proposed", "repeated", "held"
READ, IN_SHADOW, CHANGED = "read", "in_shadow", "changed_meanwhile"
INVALID, PASSED_OVER = "invalid_answers", "passed_over"
WITHHELD = "(withheld)"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """The next turns of an owner. `words` are those a model may read, by the turn's number in the question."""

    owner_id: int
    after: int
    turns: list[Turn]
    words: dict[int, str]

    @property
    def last(self) -> int:
        """The id of the last turn."""
        return int(self.turns[-1].pk)


def mine_preferences(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Ask about the turns that were not read yet, owner by owner; return how many of what, and why it stopped.

    A second run beside this one ends at once.
    """
    if reason := why_not():
        return {"stopped": reason}
    with kept_lease(MINE, seconds=LEASE_SECONDS, now=now) as lease:
        if lease is None:
            return {"result": DROPPED}
        return Miner(
            mode_of(PREFERENCE_MINING),
            now,
            Counter({PROPOSED: 0}),
            lease,
        ).mine_all(claim)


def why_not() -> str:
    """Return why no turn is read now, empty when they are."""
    if not settings.MINARA.minara_learning_enabled:
        return _("MINARA_LEARNING_ENABLED is false: no preferences are mined.")
    if mode_of(PREFERENCE_MINING) is Mode.OFF:
        return _("The mining of preferences is switched off under System, Automation.")
    return what_is_missing()


@dataclass(frozen=True, slots=True)
class Miner:
    """One run, in the mode in which it began."""

    mode: Mode
    now: datetime
    counts: Counter[str]
    lease: KeptLease

    @property
    def is_shadow(self) -> bool:
        """Whether it only says what it would propose."""
        return self.mode is Mode.SHADOW

    def mine_all(self, claim: Claim | None) -> dict[str, Any]:
        """Read the next batches of each owner until all are read, no model can be asked, or it was switched."""
        owners = list_unread(is_shadow=self.is_shadow)
        questions = 0
        for done, owner_id in enumerate(owners, 1):
            for _number in range(MAX_OF_OWNER):
                if questions == MAX_QUESTIONS:
                    return dict(self.counts)
                batch = load_batch(owner_id, is_shadow=self.is_shadow)
                if batch is None:
                    break
                if self.lease.lost.is_set() or mode_of(PREFERENCE_MINING) is not self.mode:
                    return {**self.counts, "stopped": _("It was switched meanwhile, or another run took over.")}
                questions += bool(batch.words)
                try:
                    outcome = self.mine(batch)
                except (Unavailable, Throttled, Refused) as stop:
                    log.warning("mining_stopped", reason=stop.problem_code)
                    return {**self.counts, "stopped": stop.detail}
                self.counts[outcome] += 1
                if outcome not in (READ, IN_SHADOW):
                    break
            report_progress(claim, done, len(owners))
        return dict(self.counts)

    def mine(self, batch: Batch) -> str:
        """Ask about one batch and store what comes of it; return what that was. Raises what `ask` raises."""
        answer: Answer[MinedPreferences] | None = None
        try:
            answer = ask(question_about(batch)) if batch.words else None
        except AnswerInvalid:
            return self.count_invalid(batch)
        with transaction.atomic():
            if not self.lock_cursor(batch):
                return CHANGED
            found = find_cited(answer.value, list(batch.words)) if answer else []
            if answer and found and self.is_shadow:
                self.store_shadow_result(batch, found, answer)
            elif not self.is_shadow:
                for each in found:
                    self.propose(batch, each)
            self.move_cursor(batch, last_turn_id=batch.last, invalid_answers=0)
        return IN_SHADOW if self.is_shadow else READ

    def count_invalid(self, batch: Batch) -> str:
        """Count an invalid answer; after the third in a row, which is about one turn, that turn is passed over."""
        with transaction.atomic():
            if not self.lock_cursor(batch):
                return CHANGED
            rows = PreferenceCursor.objects.filter(owner=batch.owner_id, is_shadow=self.is_shadow)
            invalid = 1 + (rows.values_list("invalid_answers", flat=True).first() or 0)
            if invalid < len(TURNS_ASKED):
                self.move_cursor(
                    batch,
                    last_turn_id=batch.after,
                    invalid_answers=invalid,
                )
                return INVALID
            self.move_cursor(batch, last_turn_id=batch.last, invalid_answers=0)
        log.warning("turn_passed_over", turn_id=batch.last)
        return PASSED_OVER

    def lock_cursor(self, batch: Batch) -> bool:
        """Lock the owner; say whether the cursor is still where the batch begins and the capability as it was."""
        lock_owner(batch.owner_id)
        is_mode = mode_of(PREFERENCE_MINING) is self.mode
        return is_mode and last_read(batch.owner_id, is_shadow=self.is_shadow) == batch.after

    def move_cursor(self, batch: Batch, **fields: int) -> None:
        """Note how far the owner's turns were read."""
        PreferenceCursor.objects.update_or_create(
            owner_id=batch.owner_id,
            is_shadow=self.is_shadow,
            defaults={**fields, "moved_at": self.now},
        )

    def propose(self, batch: Batch, found: MinedPreference) -> None:
        """Hand a preference in like anybody: under the guard, nearly the same one counted once more."""
        turn = batch.turns[found.turn - 1]
        proposed = propose_preference(
            owner_id=batch.owner_id,
            draft=PreferenceDraft(found.dimension, found.kind, found.statement),
            source=PreferenceSource.MINED,
            actor=turn.actor or ACTOR,  # rolled back with whoever recorded the turn
            origin=f"{TURN_ORIGIN}{turn.session_id}:{turn.sequence}",
            now=self.now,
        )
        self.counts[HELD if proposed.row.held_at else PROPOSED if proposed.is_new else REPEATED] += 1

    def store_shadow_result(
        self,
        batch: Batch,
        found: list[MinedPreference],
        answer: Answer[MinedPreferences],
    ) -> None:
        """Keep what would have been proposed, without words that the guard refuses."""
        said = [
            {
                "dimension": each.dimension,
                "kind": each.kind,
                "statement": WITHHELD if guard.judge(each.statement).is_held else each.statement,
            }
            for each in found
        ]
        record_shadow(
            capability=PREFERENCE_MINING,
            subject=subject_of(batch),
            owner_id=batch.owner_id,
            decision={"preferences": said},
            model=answer.model,
            cost_usd=answer.cost_usd,
            now=self.now,
        )


def list_unread(*, is_shadow: bool) -> list[int]:
    """Return the owners with turns behind their cursors, those first whose cursor rested longest. Two queries."""
    cursors = PreferenceCursor.objects.filter(is_shadow=is_shadow).order_by("moved_at", "pk")
    read = dict(cursors.values_list("owner_id", "last_turn_id"))
    turns = Turn.objects.values_list("session__owner_id").annotate(newest=Max("pk"))
    newest = dict(turns.order_by("session__owner_id"))
    never_read = [owner_id for owner_id in newest if owner_id not in read]
    return [
        *never_read,
        *(owner_id for owner_id, last in read.items() if newest.get(owner_id, 0) > last),
    ]


def last_read(owner_id: int, *, is_shadow: bool) -> int:
    """Return the id of the last turn of an owner that mining has read, 0 before the first."""
    found = PreferenceCursor.objects.filter(owner=owner_id, is_shadow=is_shadow)
    return found.values_list("last_turn_id", flat=True).first() or 0


def load_batch(owner_id: int, *, is_shadow: bool) -> Batch | None:
    """Return the next turns of an owner, None without any. What the guard refuses is there without its words."""
    cursor = PreferenceCursor.objects.filter(owner=owner_id, is_shadow=is_shadow).first()
    after, limit = (cursor.last_turn_id, TURNS_ASKED[cursor.invalid_answers]) if cursor else (0, TURNS_ASKED[0])
    unread = Turn.objects.filter(session__owner=owner_id, pk__gt=after).order_by("pk")
    turns = list(unread.only("session_id", "sequence", "user_message", "actor")[:limit])
    words = [clean_message(turn.user_message) for turn in turns]
    fitting = count_fitting(words)
    asked = {number: text for number, text in enumerate(words[:fitting], 1) if text and not guard.judge(text).is_held}
    return Batch(owner_id, after, turns[:fitting], asked) if turns else None


def question_about(batch: Batch) -> Question[MinedPreferences]:
    """Return what the model is asked about a batch."""
    return Question(
        category=Category.LEARNING,
        task=MINE,
        tier=Tier.FAST,
        system=SYSTEM,
        content=render_turns(batch.words),
        answer=MinedPreferences,
        max_tokens=MAX_TOKENS,
        subject=subject_of(batch),
        owner_id=batch.owner_id,
    )


def subject_of(batch: Batch) -> str:
    """Return how a batch is named in `llm_usage` and among the shadow decisions: by its last turn."""
    return f"{SUBJECT}:{batch.last}"
