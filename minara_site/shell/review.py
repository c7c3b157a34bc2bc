"""Kinds of items that wait for a person: what the review queue asks of a room without knowing its tables (U-19).

A room says in a subclass which rows wait, how they look, and how a verdict on them is done and undone; an app lists its
kinds as `REVIEWS` in `reviews.py`. Items are known by `kind` and `key`, which is what addresses and claims show.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from minara_site.access.access_log import log_access
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel import registry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict
from minara_site.shell.undo import done_label, find_undoable, undo_set
from minara_site.web.filters import Rows, Text


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """An item as the list shows it.

    `word` says what it is ("Methodology"), `note` what to know at a glance ("new, 0 uses"), `title` heads its pane.
    Items of a kind with the same `group` are similar; an empty one is like no other. `view` is for the kind's own pane.
    """

    kind: str
    key: str
    since: datetime
    title: Text
    word: Text
    note: Text
    excerpt: str
    view: Any
    group: str = ""

    @property
    def id(self) -> str:
        """Return its name in forms, claims and on the page."""
        return f"{self.kind}-{self.key}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of the two decisions on an open item: the verb of its button, and `condition` and `consequence` before it.

    `refusal` says why this reader cannot take it now; then its button is off.
    """

    label: Text
    icon: str
    condition: Text
    consequence: Text
    needs_reason: bool = False
    refusal: Text = ""


@dataclass(frozen=True, slots=True)
class ReviewPane:
    """The open item: its evidence, what each verdict means, and the `question` that an acceptance asks once more.

    `template` extends `parts/review_item.html`, fills its blocks `badges` and `evidence`, and reads `evidence`.
    """

    template: str
    evidence: Mapping[str, Any]
    accept: Verdict
    refuse: Verdict
    question: Text = ""

    @property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        return self.accept, self.refuse

    @property
    def needs_reason(self) -> bool:
        return self.accept.needs_reason or self.refuse.needs_reason


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did as a sentence, and the key of the item that waits again."""

    said: Text
    key: str


class ReviewKind(ABC):
    """A kind of items that wait for a person. Kinds with the same `tab` stand under one tab, which `label` names.

    `since` is the column of the rows since when each waits: never null, with an index that ends in the primary key.
    `accept` and `refuse` are the verbs for several items at once; `refuse_needs_reason` says that a refusal does.
    Without `accepts_together` items of the kind are accepted one by one alone. `read_as` is what the access log calls
    one that was opened; without it the rows have no owner, and nothing is logged. Rows of a kind that `is_own` wait for
    their owners, each of whom finds their own.
    """

    name: ClassVar[str]
    tab: ClassVar[str]
    label: ClassVar[Text]
    since: ClassVar[str]
    accept: ClassVar[Text]
    refuse: ClassVar[Text]
    refuse_needs_reason: ClassVar[bool] = False
    accepts_together: ClassVar[bool] = True
    read_as: ClassVar[str] = ""
    is_own: ClassVar[bool] = False

    @abstractmethod
    def waiting(self) -> Rows:
        """Return the rows that wait now, unordered."""

    def waiting_for(self, principal: Principal) -> Rows:
        """Return those that wait for this reader."""
        return self.waiting()

    def find_for(self, keys: Collection[str], principal: Principal) -> Sequence[Any]:
        """Return the rows of these keys for this reader. Raises NotFound unless each is there for them."""
        return self.find(keys)

    @abstractmethod
    def find(self, keys: Collection[str]) -> Sequence[Any]:
        """Return the rows of these keys, whether they wait or not. Raises NotFound unless each has one."""

    @abstractmethod
    def show_rows(
        self,
        rows: Sequence[Any],
        *,
        principal: Principal,
    ) -> list[ReviewItem]:
        """Return the rows as items, in their order, in few queries whatever their number."""

    @abstractmethod
    def show(self, item: ReviewItem, *, principal: Principal) -> ReviewPane:
        """Return the pane of an item that waits."""

    @abstractmethod
    def decided_url(self, row: Any) -> str:
        """Return the page of a row that does not wait any more."""

    @abstractmethod
    def decide(
        self,
        keys: Sequence[str],
        *,
        accepts: bool,
        principal: Principal,
        note: str,
        now: datetime,
    ) -> Text:
        """Carry out a verdict on items, all or nothing, and return what was done as a sentence.

        In the caller's transaction. Raises Refused, NotFound, Invalid, and Conflict that says who was faster.
        """

    @abstractmethod
    def undo(self, key: str, *, principal: Principal, now: datetime) -> Undone:
        """Undo the whole verdict that decided on this item, with all that were decided with it.

        Raises Refused, NotFound and Conflict.
        """

    @abstractmethod
    def find_newest_decision(self) -> tuple[str, datetime] | None:
        """Return who decided last, and when."""

    def find_questions(self, keys: Sequence[str]) -> dict[str, Text]:
        """Return what is asked once more before items are accepted, by key; of several, such items are left out."""
        return {}

    def text_table(self, row: Any) -> str:
        """Return the table that the text of a row is read from besides; empty for a row that has its text."""
        return ""

    def log_reading(
        self,
        rows: Sequence[Any],
        *,
        is_open: bool,
        principal: Principal,
        now: datetime,
    ) -> None:
        """Note in the access log that rows were read: in the list, or one that `is_open`."""
        if self.read_as:
            kind, object_id = (self.read_as, str(rows[0].pk)) if is_open else (f"{self.read_as}s", "")
            owner_ids = {row.owner_id for row in rows} - {None}
            log_access(
                principal=principal,
                owner_ids=owner_ids,
                kind=kind,
                object_id=object_id,
                now=now,
            )


class RecordedReview(ReviewKind):
    """Items that are rows of a `kind` whose changes are recorded; `decisions` are the acts that decide on them."""

    kind: ClassVar[str]
    decisions: ClassVar[Collection[str]]

    def undo(self, key: str, *, principal: Principal, now: datetime) -> Undone:
        [row] = self.find([key])
        decided = find_undoable(self.kind, row, principal, self.decisions)
        if decided is None or decided.actor != principal.actor:
            raise Conflict(_("It changed since. Nothing was undone."), code="changed")
        return Undone(done_label(undo_set(decided.pk, principal=principal, now=now)[1]), key)

    def find_newest_decision(self) -> tuple[str, datetime] | None:
        entries = AuditEntry.objects.order_by("-at").values_list("actor", "at")
        newest = [entry for act in self.decisions if (entry := entries.filter(tool_call=act).first())]
        return max(newest, key=lambda each: each[1], default=None)


def kinds_for(principal: Principal) -> dict[str, ReviewKind]:
    """Return the kinds that this reader reviews: operators all, an owner those of their own."""
    may_review = principal.may(Act.REVIEW)
    return {name: kind for name, kind in review_kinds().items() if may_review or kind.is_own}


def review_kinds() -> dict[str, ReviewKind]:
    """Return every kind by its name, in the order in which the apps list them."""
    return registry.load("reviews")
