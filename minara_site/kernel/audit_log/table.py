"""The table of acts: what each app's `acts.py` declares of what it writes into the audit log.

An app's `acts.py` holds `ACTS = (AuditAct(...), ...)` and nothing else. A name stays the same for ever, because stored
entries carry it; an entry whose act no app declares any more is shown by its name.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise

from minara_site.kernel import registry


class Undo(StrEnum):
    """How an act is undone, as the pages offer it today."""

    NONE = ""
    DELETE = "delete"  # what was written goes to the trash
    RESTORE = "restore"  # it comes back from the trash
    REVERT = "revert"  # an older version becomes the newest one
    ROLL_BACK = "roll_back"  # together with what its writer or its run wrote
    OPPOSITE = "opposite"  # by the act that sets the earlier state again, on the same page


@dataclass(frozen=True, slots=True)
class FeedLine:
    """How acts in a row look among what happened lately.

    `text` takes `count` and, as people read it, `number`. `icon` is the class of the dot, `page` the URL name of the
    list of the objects, `item_page` that of the page of one, which takes the `id` of the entry's details.
    """

    text: Any
    icon: str = ""
    page: str = ""
    item_page: str = ""


@dataclass(frozen=True, slots=True)
class AuditAct:
    """An act as the audit log names it. One that `is_write` changed stored data.

    One that `changes_prompt` is counted among what the next session will read and this one does not. Without `feed`
    it is not among what happened lately. What it changed is undone by whom the policy lets do `undone_by`, an act of
    its own; the log calls that `undone_as`.
    """

    name: str
    label: str | Promise
    is_write: bool = True
    undo: Undo = Undo.NONE
    changes_prompt: bool = False
    feed: FeedLine | None = None
    undone_by: str = ""
    undone_as: str = ""


def load_acts() -> dict[str, AuditAct]:
    """Return every act by name, in the apps' order."""
    return registry.load("acts")
