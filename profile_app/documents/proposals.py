"""Emptying a text that the prompt introduces as its owner's own: a key may only propose that."""

from datetime import datetime
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.proposals.kinds import Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from profile_app.documents.core import CUSTOM_PROMPT, WORKSPACE_FILE, Origin
from profile_app.documents.selectors import find_document
from profile_app.documents.services import save_document

EMPTY = "empty"


class TextProposed(Proposed):
    """A text that is removed; its versions stay."""

    actions: ClassVar = {EMPTY: gettext_lazy("Remove a text")}

    def __init__(self, kind: str) -> None:
        self.name = kind  # type: ignore[misc]  # one facet for two kinds

    def title(self, proposal: ProposedChange) -> str:
        return proposal.key if self.name == WORKSPACE_FILE else _("Custom prompt")

    def url(self, proposal: ProposedChange) -> str:
        is_file = self.name == WORKSPACE_FILE
        return reverse("workspace:one", args=[proposal.key]) if is_file else reverse("profile:page")

    def before(self, proposal: ProposedChange) -> str | None:
        document = find_document(owner=proposal.owner, kind=self.name, name=proposal.key)
        return document.content if document else None

    def after(self, proposal: ProposedChange) -> str:
        return ""

    def seen(self, owner: User, key: str) -> str:
        document = find_document(owner=owner, kind=self.name, name=key)
        return str(document.version) if document else ""

    def apply(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        about: dict[str, Any] = {"owner": principal.owner, "actor": principal.actor, "now": now}
        save_document(kind=self.name, name=proposal.key, content="", origin=Origin.PAGE, **about)


def propose_empty(*, principal: Principal, kind: str, name: str, now: datetime) -> ProposedChange | None:
    """Propose that a text is removed; None where the caller may remove it, or there is none."""
    document = find_document(owner=principal.owner, kind=kind, name=name)
    if not is_named_key(principal.actor) or document is None or not document.content:
        return None
    about: dict[str, Any] = {"owner": principal.owner, "actor": principal.actor, "now": now}
    return propose(kind=kind, key=name, action=EMPTY, after={}, **about)


TEXTS = (TextProposed(WORKSPACE_FILE), TextProposed(CUSTOM_PROMPT))
