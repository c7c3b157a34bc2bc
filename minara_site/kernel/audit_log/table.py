"""The table of acts: what each app's `acts.py` declares of what it writes into the audit log.

An app's `acts.py` holds `ACTS = (AuditAct(...), ...)` and nothing else. A name stays the same for ever, because stored
entries carry it; an entry whose act no app declares any more is shown by its name.
"""

from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from minara_site.kernel import registry


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
    """An act as the audit log names it.

    One that `changes_prompt` is counted among what the next session will read and this one does not. Without `feed`
    it is not among what happened lately. What it changed is undone by whom the policy lets do `undone_by`, an act of
    its own; the log calls that `undone_as`.
    """

    name: str
    label: str | Promise
    changes_prompt: bool = False
    feed: FeedLine | None = None
    undone_by: str = ""
    undone_as: str = ""


def load_acts() -> dict[str, AuditAct]:
    """Return every act by name, in the apps' order."""
    return registry.load("acts")
