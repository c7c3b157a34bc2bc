"""What people can do on pages, and how they undo it (screens U-03, U-20).

An app's `page_acts.py` holds `PAGE_ACTS = (PageAct(...), ...)`, one for each form that its pages send. What stands here
a page says before the click, and a form asks for the word; a contract test does each act and undoes it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel import registry


class UndoWhile(StrEnum):
    """How long an act can be undone."""

    ALWAYS = "always"
    SHORT = "short"  # as long as its toast, ten seconds
    TRASH = "trash"  # until the purge
    RUNNING = "running"  # while its run waits or works; a run undoes nothing that it has done


NOTES: dict[UndoWhile, Any] = {
    UndoWhile.ALWAYS: gettext_lazy("You can undo this."),
    UndoWhile.SHORT: gettext_lazy("You can undo this for 10 seconds. After that it is final."),
    UndoWhile.TRASH: gettext_lazy("It stays in the trash for %(days)d days and can be restored."),
    UndoWhile.RUNNING: gettext_lazy("You can cancel it until it ends."),
}


@dataclass(frozen=True, slots=True)
class PageAct:
    """A form of a page, by the name of its address. ValueError unless it is undone, asks for a word or changes nothing.

    `undo` names the address whose form undoes it, which may be its own, with the earlier value; `lasts` says how long.
    `word` is what must be typed before an act that nothing undoes. `note` says how it is undone where the usual words
    do not.
    """

    name: str
    undo: str = ""
    lasts: UndoWhile = UndoWhile.ALWAYS
    word: str = ""
    changes_nothing: bool = False
    note: str | Promise = ""

    def __post_init__(self) -> None:
        if [bool(self.undo), bool(self.word), self.changes_nothing].count(True) != 1:
            raise ValueError(f"{self.name} needs a way to undo it, a word to type, or changes nothing.")

    @property
    def text(self) -> str:
        """Return what a page says before the click."""
        if self.word:
            return _("Nothing can undo this: it asks you to type “%(word)s”.") % {"word": self.word}
        days = settings.MINARA.fin_profile_memory_soft_delete_retention_days
        return "" if self.changes_nothing else str(self.note or NOTES[self.lasts] % {"days": days})


def load_page_acts() -> dict[str, PageAct]:
    """Return every act by the name of its address."""
    return registry.load("page_acts")
