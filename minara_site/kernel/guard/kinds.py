"""Kinds of stored text: what the guard's queue, re-scan and purge ask of a room, without knowing its tables.

A room says how its texts are locked, released, discarded and judged again in a subclass; `<app>/kinds.py` lists them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NoReturn

from django.conf import settings
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.changes.services import delete_texts
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.registry import facets

Label = str | Promise
KEEPS_FORMER = gettext_lazy("What was there before stays.")
"""What a discard does to a text that would have replaced another."""
GOES = gettext_lazy("It is kept under Discarded for %(days)s days and can be held again; then it is removed for good.")
DELETED = gettext_lazy("%(title)s was deleted meanwhile. Nothing was changed.")
CHANGED = gettext_lazy("%(title)s was changed meanwhile. Nothing was changed now.")
REPLACED = gettext_lazy("Another took the place of %(title)s meanwhile. Nothing was changed.")
WAITS = gettext_lazy("%(title)s waits for a decision again already. Nothing was changed.")
Listener = Callable[..., None]


@dataclass(frozen=True)
class HeldText:
    """A text that is held, as the guard judged it: spans count in it.

    `replaces` is what it would replace, or had replaced until it was held; None for something new. Of the text the
    `length` characters behind `prefix` would replace it. `url` is the page of its row, `edit_url` where its owner can
    change it, `origin` what it was written out of, `facts` further lines about it. Behind its first `lead` characters
    the text only repeats `behind`, which is shown as lines unless something was found there.
    """

    text: str
    title: str
    on_discard: Label
    replaces: str | None = None
    prefix: str = ""
    length: int | None = None
    url: str = ""
    edit_url: str = ""
    category: str = ""
    source: str = ""
    origin: str = ""
    facts: tuple[tuple[Label, str], ...] = ()
    lead: int | None = None
    behind: tuple[tuple[Label, str], ...] = ()
    is_by_person: bool = False


class StoredKind(ABC):
    """A kind of text under guard. What its listeners do happens in the same transaction.

    `on_accepted(rows, now=now)` is called with rows that agents may read from now on, new or released,
    `on_stated(rows, now=now)` with these, and where the room says so with those that were changed or restored,
    `on_held_again(holds, actor=actor, now=now)` with decided holds that are undone, by their rows, and
    `on_deleted(ids)` with the ids of rows that are gone for good. `on_release` says what becomes of released texts
    where the next session does not read them.
    """

    name: ClassVar[str]
    label: ClassVar[Label]
    model: ClassVar[Any]
    release_act: ClassVar[str] = "hold_release"
    discard_act: ClassVar[str] = "hold_discard"
    on_release: ClassVar[Label] = ""

    def __init__(
        self,
        *,
        on_accepted: Sequence[Listener] = (),
        on_stated: Sequence[Listener] = (),
        on_held_again: Sequence[Listener] = (),
        on_deleted: Sequence[Listener] = (),
    ) -> None:
        self.on_accepted, self.on_stated = tuple(on_accepted), tuple(on_stated)
        self.on_held_again, self.on_deleted = tuple(on_held_again), tuple(on_deleted)

    def title(self, object_id: int) -> str:
        """Return what a text is called once it is not there to name itself."""
        return f"{self.label} {object_id}"

    def url(self, object_id: int) -> str:
        """Return the page of a row whose text was decided on, empty without one."""
        return ""

    def title_of(self, row: Any) -> str:
        """Return what a text that is there is called."""
        return self.title(row.pk)

    def url_of(self, row: Any) -> str:
        """Return the page of a row that is there."""
        return self.url(row.pk)

    @abstractmethod
    def load_texts(self, holds: Mapping[int, Hold]) -> dict[int, HeldText]:
        """Return the texts that are held, by the id of their row; `holds` by it too."""

    @abstractmethod
    def lock(self, ids: Collection[int]) -> dict[int, Any]:
        """Lock the rows in the order in which every writer locks, and return them by id."""

    @abstractmethod
    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        """Let the texts be read, as their writer wrote them. The rows are locked, their holds decided."""

    def discard(  # noqa: B027 - most kinds leave them held
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        reason: str,
        now: datetime,
    ) -> None:
        """Refuse the texts, or leave them held, for nobody to read. The rows are locked, their holds decided."""

    def publish_changes(  # noqa: B027 - a kind may have no listener
        self,
        owner_id: int,
        ids: Sequence[int],
    ) -> None:
        """Tell who listens, after commit, that rows of an owner changed."""

    @abstractmethod
    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        """Undo a release or a discard, as `holds` say which: the texts are held as they were, and no agent reads them.

        The rows are locked. Raises Conflict (`refuse_again`) when one is not what was decided on any more.
        """

    def check_unchanged(self, hold: Hold, text: str | None) -> None:
        """Raise Conflict unless this is the text that was decided on; None is one that is gone."""
        if text is None:
            self.refuse_again(hold, DELETED)
        elif content_digest(text) != hold.content_sha256:
            self.refuse_again(hold, CHANGED)

    def refuse_again(self, hold: Hold, why: Label) -> NoReturn:
        """Raise the Conflict that says why a text is not held again."""
        raise Conflict(
            str(why) % {"title": self.title(hold.object_id)},
            code="changed",
        )

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Remove what was kept of texts that were discarded by then; return how many. Needs a transaction."""
        return 0

    @abstractmethod
    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        """Judge these rows by today's rules and hold what they refuse; return how many were judged and held.

        In the caller's transaction, with the entries of the audit log. Of the kinds of one table one is asked, for all.
        """

    def accept(self, rows: Sequence[Any], *, now: datetime) -> None:
        """Do what else happens when rows become readable."""
        for listener in (*self.on_accepted, *self.on_stated):
            listener(rows, now=now)

    def state(self, rows: Sequence[Any], *, now: datetime) -> None:
        """Do what else happens when agents may read these texts, which they may have read before."""
        for listener in self.on_stated:
            listener(rows, now=now)

    def delete_derived(self, ids: Sequence[int]) -> None:
        """Delete what was derived from rows that are gone for good, and their earlier words."""
        delete_texts(self.name, ids)
        for listener in self.on_deleted:
            listener(ids)


def purge_discarded(*, cutoff: datetime) -> int:
    """Remove what was kept of texts of all kinds that were discarded by then; return how many."""
    with transaction.atomic():
        return sum(kind.purge_discarded(cutoff=cutoff) for kind in stored_kinds().values())


def kept_label() -> str:
    """Return what becomes of a discarded text that is kept for a while."""
    return str(GOES) % {"days": settings.MINARA.fin_profile_memory_soft_delete_retention_days}


def ids_by_held_at(holds: Mapping[int, Hold]) -> dict[datetime, list[int]]:
    """Return the rows of these holds by the moment since when they were held."""
    ids: dict[datetime, list[int]] = {}
    for object_id, hold in holds.items():
        ids.setdefault(hold.held_at, []).append(object_id)
    return ids


def stored_kinds() -> dict[str, StoredKind]:
    """Return every kind by its name, in the order in which the apps list them."""
    return {kind.name: kind for kind in facets(StoredKind)}  # type: ignore[type-abstract]


def guarded_tables() -> list[StoredKind]:
    """Return one kind for each table that has texts under guard."""
    return list({kind.model: kind for kind in reversed(stored_kinds().values())}.values())[::-1]
