"""The facet of a kind of which keys may propose changes: what stands, and how it is made to read otherwise."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.registry import facets

Label = str | Promise
Columns = Mapping[str, Any]
"""What a row reads, as JSON; empty for nothing."""


class Proposed(ABC):
    """A kind of which keys propose changes.

    `actions` are what they may ask for, in words for pages. `label` names what a proposal is about, by its `key` where
    that is more than one; `page` is the name of its page. `labels` name its columns. `asks_fresh` says that its owner
    proves who they are before they approve.
    """

    name: ClassVar[str]
    actions: ClassVar[Mapping[str, Label]]
    label: ClassVar[Label]
    page: ClassVar[str]
    labels: ClassVar[Mapping[str, Label]] = {}
    asks_fresh: ClassVar[bool] = True

    def title(self, key: str) -> str:
        """Return what a proposal is about."""
        return str(self.label) % {"key": key}

    def url(self, key: str) -> str:
        """Return the page of what it is about."""
        return reverse(self.page)

    @abstractmethod
    def read(self, owner: Any, key: str) -> Columns | None:
        """Return what stands now; None where the row is gone."""

    @abstractmethod
    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Any, now: datetime) -> None:
        """Let the row of a proposal read so, as its owner's act, by the room's own service."""

    def undo(self, proposal: ProposedChange, *, principal: Any, now: datetime) -> None:
        """Let it read as before the approval. Raises Conflict where it cannot."""
        self.apply(proposal, proposal.former, principal=principal, now=now)

    def seen(self, owner: Any, key: str) -> str:
        """Return what stands for the row as it is now; empty where it is gone."""
        columns = self.read(owner, key)
        return "" if columns is None else content_digest(json.dumps(columns, sort_keys=True))

    def text_of(self, columns: Columns) -> str:
        """Return columns as text for pages: each by its label, one alone without."""
        said = {name: self.value_label(name, value) for name, value in columns.items() if value not in ("", [])}
        lines = [f"{self.labels.get(name, name)}: {words}" for name, words in said.items()]
        return "\n".join(lines if len(lines) > 1 else said.values())

    def value_label(self, name: str, value: Any) -> str:
        """Return the value of a column as text for pages."""
        if isinstance(value, bool):
            return _("on") if value else _("off")
        return ", ".join(value) if isinstance(value, list) else str(value)


def proposed_kinds() -> dict[str, Proposed]:
    """Return the facet of each kind that has one, by the kind's name."""
    return {facet.name: facet for facet in facets(Proposed)}  # type: ignore[type-abstract]
