"""Emptying a text that the prompt introduces as its owner's own: a key may only propose that."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.proposals.kinds import Columns, Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from profile_app.documents.core import CUSTOM_PROMPT, WORKSPACE_FILE, Origin
from profile_app.documents.selectors import find_document
from profile_app.documents.services import check_version, save_document

EMPTY = "empty"


class TextProposed(Proposed):
    """A text that is removed; its versions stay."""

    actions = {EMPTY: gettext_lazy("Remove a text")}

    def read(self, owner: User, key: str) -> dict[str, str] | None:
        document = find_document(owner=owner, kind=self.name, name=key)
        return {"content": document.content} if document else None

    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Principal, now: datetime) -> None:
        about: dict[str, Any] = {"owner": principal.owner, "actor": principal.actor, "now": now, "is_confirmed": True}
        text = columns.get("content", "")
        save_document(kind=self.name, name=proposal.key, content=text, origin=Origin.PAGE, **about)


class FileProposed(TextProposed):
    """An agent file."""

    name, label, page = WORKSPACE_FILE, "%(key)s", "workspace:one"

    def url(self, key: str) -> str:
        return reverse(self.page, args=[key])


class PromptProposed(TextProposed):
    """The custom prompt."""

    name, label, page = CUSTOM_PROMPT, gettext_lazy("Custom prompt"), "profile:page"


def propose_empty(
    *,
    principal: Principal,
    kind: str,
    name: str,
    expected_version: int | None = None,
    now: datetime,
) -> ProposedChange | None:
    """Propose that a text is removed; None where the caller may remove it, or there is none. Raises Conflict."""
    document = find_document(owner=principal.owner, kind=kind, name=name)
    if not is_named_key(principal.actor) or document is None or not document.content:
        return None
    check_version(document, expected_version)
    return propose(principal=principal, kind=kind, key=name, action=EMPTY, after={}, now=now)
